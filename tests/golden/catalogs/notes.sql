-- SQLite files in SQLite's own dialect.
CREATE CATALOG notes DIALECT sqlite;
CREATE SOURCE s{n} FOR n IN 0-3 URL 'sqlite:////srv/s{n}.db';
CREATE SHARDING by_user USING MOD 4 ON s{slot};
CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, email TEXT COLLATE NOCASE) SHARD BY by_user (id);
CREATE TABLE notes (id INTEGER, user_id INTEGER, title TEXT, body, made DATE) SHARD BY by_user (user_id);
CREATE TABLE kinds (code TEXT, label TEXT) REFERENCE ON by_user;
