-- Users and their posts over three MariaDB databases; names ignore case, slugs are compared by bytes.
CREATE CATALOG social DIALECT mysql;
CREATE SOURCE s{n} FOR n IN 0-2 URL 'mysql://report@db{n}.example/social' PASSWORD ENV 'SOCIAL_PW' READ ONLY;
CREATE SHARDING by_user USING MOD 3 AS n ON s{n};
CREATE SHARDING by_slug USING HASH(crc32) SLOTS 3 (s0 = 0, s1 = 1, s2 = 2);
ATTACH TABLE users (id BIGINT UNSIGNED PRIMARY KEY, name VARCHAR(40) COLLATE utf8mb4_general_ci, born DATE, score DECIMAL(8,2))
  SHARD BY by_user (id);
ATTACH TABLE posts (id BIGINT UNSIGNED, user_id BIGINT UNSIGNED, title VARCHAR(80) COLLATE utf8mb4_general_ci, likes INT, at DATETIME)
  SHARD BY by_user (user_id);
ATTACH TABLE pages (slug VARCHAR(40) COLLATE utf8mb4_nopad_bin, views INT) SHARD BY by_slug (slug);
ATTACH TABLE tags (tag VARCHAR(40) COLLATE utf8mb4_general_ci, uses INT) SHARD BY by_slug (tag);
ATTACH TABLE countries (code CHAR(2), name VARCHAR(40)) REFERENCE ON by_user;
-- A database by the visitor, in it a table by the month.
CREATE SHARDING by_visitor USING HASH(crc32) SLOTS 3 AS d, INTERVAL MONTH FROM '2025-01-01' TO '2025-12-01' AS m ON s{d};
ATTACH TABLE visits (visitor VARCHAR(40) COLLATE utf8mb4_general_ci, day DATE, page INT) SHARD BY by_visitor (visitor, day) NAMED 'visits_{m:%Y%m}';
