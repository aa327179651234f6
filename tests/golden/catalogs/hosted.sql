-- Tenants named by text over three MariaDB databases, as most are: the columns ignore letter case.
CREATE CATALOG hosted DIALECT mysql;
CREATE SOURCE s{n} FOR n IN 0-2 URL 'mysql://report@db{n}.example/hosted' PASSWORD ENV 'HOSTED_PW' READ ONLY;
CREATE SHARDING by_tenant USING HASH(crc32) SLOTS 3 (s0 = 0, s1 = 1, s2 = 2);
ATTACH TABLE accounts (tenant VARCHAR(40) COLLATE utf8mb4_general_ci, name VARCHAR(40) COLLATE utf8mb4_general_ci, seats INT)
  SHARD BY by_tenant (tenant) EXACT LOWER (tenant);
ATTACH TABLE invoices (id CHAR(36) COLLATE utf8mb4_general_ci, tenant VARCHAR(40) COLLATE utf8mb4_general_ci, total DECIMAL(10,2),
  PRIMARY KEY (id)) SHARD BY by_tenant (tenant) UNIQUE ACROSS SHARDS (id) EXACT LOWER (tenant, id);
ATTACH TABLE lines (invoice CHAR(36) COLLATE utf8mb4_general_ci, price DECIMAL(10,2))
  SHARD WITH invoices ON invoice = invoices.id EXACT LOWER (invoice);
ATTACH TABLE plans (tenant VARCHAR(40) COLLATE utf8mb4_general_ci, plan INT) SHARD BY by_tenant (tenant) EXACT (tenant);
ATTACH TABLE hosts (tenant VARCHAR(40) COLLATE utf8mb4_unicode_ci, host INT) SHARD BY by_tenant (tenant) EXACT LOWER (tenant);
ATTACH TABLE places (tenant VARCHAR(40) COLLATE utf8mb4_lithuanian_ci, n INT) SHARD BY by_tenant (tenant) EXACT LOWER (tenant);
ATTACH TABLE codes (tenant VARCHAR(40) COLLATE utf8mb4_bin, code INT) SHARD BY by_tenant (tenant) EXACT (tenant);
ATTACH TABLE logins (tenant VARCHAR(40) COLLATE utf8mb4_general_ci, at DATETIME) SHARD BY by_tenant (tenant);
ATTACH TABLE guests (tenant VARCHAR(40), n INT) SHARD BY by_tenant (tenant) EXACT (tenant);
ATTACH TABLE parcels (no VARCHAR(20) COLLATE utf8mb4_general_ci, weight INT)
  SHARD BY by_tenant (LEFT(no, 4)) EXACT UPPER (no);
