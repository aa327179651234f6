-- Four SQLite files, and the same with one DuckDB file among them.
CREATE CATALOG lite DIALECT duckdb;
CREATE SOURCE s{n} FOR n IN 0-3 URL 'sqlite:////srv/s{n}.db';
CREATE SOURCE d URL 'duckdb:////srv/d.duckdb';
CREATE SHARDING by_user USING MOD 4 ON s{slot};
CREATE SHARDING by_team USING MOD 3 (s0 = 0, s1 = 1, d = 2);
CREATE TABLE users (id BIGINT PRIMARY KEY, name VARCHAR, born DATE, active BOOLEAN, score DOUBLE)
  SHARD BY by_user (id);
CREATE TABLE orders (id BIGINT, user_id BIGINT, total DECIMAL(12,2), status VARCHAR, placed TIMESTAMP, qty INTEGER)
  SHARD BY by_user (user_id);
CREATE TABLE clicks (user_id BIGINT, "at" TIMESTAMP, page VARCHAR, tags VARCHAR[])
  SHARD BY by_user (user_id) NAMED 'clicks_{slot}';
CREATE TABLE teams (id BIGINT, name VARCHAR) SHARD BY by_team (id);
CREATE TABLE members (team_id BIGINT, user_id BIGINT) SHARD BY by_team (team_id);
CREATE TABLE countries (code VARCHAR, name VARCHAR) REFERENCE ON by_user;
CREATE TABLE zones (code VARCHAR, name VARCHAR) REFERENCE ON by_team;
