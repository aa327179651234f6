-- One SQLite file per tenant: tenants/acme.db, tenants/globex.db, … A new file is a new tenant.
CREATE CATALOG invoicing DIALECT duckdb;

CREATE SOURCE file_{tenant} FOR EACH tenant URL 'sqlite:///tenants/{tenant}.db';
CREATE SHARDING by_file USING DIRECTORY AS tenant ON file_{tenant};

-- No file has a column `tenant`: which file a row is in says whose it is.
ATTACH TABLE customers (
  id BIGINT PRIMARY KEY, name VARCHAR NOT NULL, city VARCHAR
) SHARD BY by_file (tenant VARCHAR VIRTUAL);
ATTACH TABLE invoices (
  id BIGINT PRIMARY KEY, customer_id BIGINT NOT NULL, issued DATE NOT NULL, total DECIMAL(12,2) NOT NULL, paid BOOLEAN NOT NULL
) SHARD BY by_file (tenant VARCHAR VIRTUAL);
