-- Users and their orders over two MariaDB databases and one of PostgreSQL, for the duckdb dialect.
CREATE CATALOG served DIALECT duckdb;
CREATE SOURCE s{n} FOR n IN 0-1 URL 'mysql://app@db{n}/shop';
CREATE SOURCE s2 URL 'postgresql://app@pg/shop';
CREATE SHARDING by_user USING MOD 3 ON s{slot};
CREATE TABLE users (id BIGINT PRIMARY KEY, name VARCHAR, born DATE, score DOUBLE) SHARD BY by_user (id);
CREATE TABLE orders (id BIGINT, user_id BIGINT, total DECIMAL(12,2), tax DECIMAL(4,3), placed TIMESTAMP, note VARCHAR)
  SHARD BY by_user (user_id);
