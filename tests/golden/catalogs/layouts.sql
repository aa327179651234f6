-- One table for each way to lay tables out.
CREATE CATALOG layouts DIALECT duckdb;
CREATE SOURCE s{n} FOR n IN 0-2 URL 'duckdb:///layouts/s{n}.duckdb';
CREATE SHARDING by_year USING RANGE (s0 = LESS THAN '2024-01-01', s1 = LESS THAN '2025-01-01', s2 = LESS THAN MAXVALUE);
CREATE SHARDING by_region USING LIST (s0 = IN ('eu', 'uk'), s1 = IN ('us'), s2 = DEFAULT);
CREATE SHARDING by_user USING MOD 12 AS n ON s{n // 4};
CREATE SHARDING by_code USING HASH(crc32) SLOTS 6 ON s{slot // 2};
CREATE SHARDING by_pair USING MOD 4, MOD 3 AS m ON s{m};
CREATE TABLE events (day DATE, kind VARCHAR, n INTEGER) SHARD BY by_year (day);
CREATE TABLE sales (region VARCHAR, amount DECIMAL(12,2)) SHARD BY by_region (region);
CREATE TABLE codes (code VARCHAR, n INTEGER) SHARD BY by_code (code);
CREATE TABLE words (word VARCHAR COLLATE NOCASE, n INTEGER) SHARD BY by_code (word);
CREATE TABLE pairs (p BIGINT, q BIGINT, v INTEGER) SHARD BY by_pair (p, q);
CREATE TABLE pairs2 (p BIGINT, q BIGINT, w INTEGER) SHARD BY by_pair (p, q);
-- A physical table for each slot: photos_00 … photos_11.
CREATE TABLE users (id BIGINT PRIMARY KEY, name VARCHAR) SHARD BY by_user (id) NAMED 'users_{n:02}';
CREATE TABLE carts (user_id BIGINT, amount DECIMAL(12,2)) SHARD BY by_user (user_id) NAMED 'carts_{n:02}';
CREATE TABLE photos (photo_id BIGINT, title VARCHAR) SHARD BY by_user ((photo_id >> 8)) NAMED 'photos_{n:02}';
CREATE TABLE bills (id BIGINT, user_id BIGINT, bill_no VARCHAR) SHARD BY by_user (user_id)
    ALSO BY SLOT (CAST(RIGHT(bill_no, 2) AS BIGINT)) UNIQUE ACROSS SHARDS (id);
CREATE TABLE bill_lines (bill_id BIGINT, amount DECIMAL(12,2)) SHARD WITH bills ON bill_id = bills.id;
CREATE TABLE audit (at TIMESTAMP, what VARCHAR) SCATTERED ON by_user;
CREATE TABLE colours (id INTEGER PRIMARY KEY, name VARCHAR) REFERENCE ON s0, s1;
CREATE TABLE flags (name VARCHAR, value VARCHAR) ON s2;
