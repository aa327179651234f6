-- Clicks and invoices share their customers' shards; pages have their own. Indexes over them, built and not.
CREATE CATALOG indexed DIALECT duckdb;
CREATE SOURCE s{n} FOR n IN 0-3 URL 'duckdb:///indexed/s{n}.duckdb';
CREATE SHARDING by_customer USING MOD 4 ON s{slot};
CREATE SHARDING by_page USING HASH(xxhash64) SLOTS 8 ON s{slot // 2};
CREATE SHARDING by_place USING MOD 8 AS n, HASH(crc32) SLOTS 2 AS m ON s{n // 2};
CREATE TABLE customers (id BIGINT PRIMARY KEY, name VARCHAR, city VARCHAR) SHARD BY by_customer (id);
CREATE TABLE invoices (id BIGINT, customer_id BIGINT, no VARCHAR, label VARCHAR COLLATE NOCASE, day DATE,
    total DECIMAL(12,2)) SHARD BY by_customer (customer_id);
CREATE TABLE clicks (customer_id BIGINT, page VARCHAR, at TIMESTAMP, ms INTEGER) SHARD BY by_customer (customer_id);
CREATE TABLE pages (id BIGINT PRIMARY KEY, url VARCHAR NOT NULL, title VARCHAR, topic VARCHAR) SHARD BY by_page (id);
CREATE TABLE seats (hall INTEGER, line VARCHAR, guest BIGINT, note VARCHAR) SHARD BY by_place (hall, line);
CREATE TABLE topics (name VARCHAR, weight INTEGER) REFERENCE ON by_customer;
CREATE TABLE no_map (no VARCHAR, customer_id BIGINT) ON s0;
CREATE TABLE loose_map (label VARCHAR, customer_id BIGINT) ON s0;
CREATE UNIQUE LOOKUP INDEX invoices_id ON invoices (id);
CREATE LOOKUP INDEX invoices_day ON invoices (day, total);
CREATE LOOKUP INDEX invoices_label ON invoices (label);
CREATE LOOKUP INDEX seats_guest ON seats (guest);
CREATE LOOKUP INDEX customers_name ON customers (name);
CREATE LOOKUP INDEX customers_city ON customers (city);
CREATE LOOKUP INDEX pages_url ON pages (url);
ATTACH LOOKUP INDEX invoices_no ON invoices (no) USING TABLE no_map (no, customer_id);
ATTACH LOOKUP INDEX invoices_loose ON invoices (label) USING TABLE loose_map (label, customer_id);
CREATE JOIN INDEX reading ON clicks.page = pages.url INCLUDE (clicks.at, pages.id, pages.topic)
    SHARD BY by_customer (clicks.customer_id);
CREATE JOIN INDEX reading_wide ON clicks.page = pages.url INCLUDE (clicks.at, clicks.ms, pages.id, pages.title, pages.topic)
    SHARD BY by_customer (clicks.customer_id);
LOCK INDEX customers_city BUILDING;
LOCK INDEX pages_url VALID BUILT AT '2026-12-01T00:00:00Z' ROWS 9 FINGERPRINT 'of another time';
LOCK INDEX invoices_id VALID BUILT AT '2026-12-01T00:00:00Z' ROWS 100000 FINGERPRINT '57a18086cb19d70c';
LOCK INDEX invoices_day VALID BUILT AT '2026-12-01T00:00:00Z' ROWS 100000 FINGERPRINT 'b9b14438ae6b215f';
LOCK INDEX invoices_label VALID BUILT AT '2026-12-01T00:00:00Z' ROWS 100000 FINGERPRINT '7975d407dd4f49dd';
LOCK INDEX seats_guest VALID BUILT AT '2026-12-01T00:00:00Z' ROWS 100000 FINGERPRINT 'fd3965ea3e499a82';
LOCK INDEX reading VALID BUILT AT '2026-12-01T00:00:00Z' ROWS 40000 FINGERPRINT '3bdf96e0c1da4cdd';
LOCK INDEX reading_wide VALID BUILT AT '2026-12-01T00:00:00Z' ROWS 40000 FINGERPRINT '114a9c19f601d089';
