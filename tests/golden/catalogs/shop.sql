-- Customers, their orders and the orders' lines share shards; products have their own; nations are everywhere.
CREATE CATALOG shop DIALECT duckdb;
CREATE SOURCE s{n} FOR n IN 0-3 URL 'duckdb:///shop/s{n}.duckdb';
CREATE SHARDING by_customer USING MOD 4 ON s{slot};
CREATE SHARDING by_product USING HASH(xxhash64) SLOTS 8 ON s{slot // 2};
CREATE TABLE customers (id BIGINT PRIMARY KEY, name VARCHAR NOT NULL, city VARCHAR, nation_id INTEGER,
    referrer BIGINT) SHARD BY by_customer (id);
CREATE TABLE orders (id BIGINT, customer_id BIGINT NOT NULL, placed DATE, status VARCHAR, total DECIMAL(12,2),
    PRIMARY KEY (customer_id, id)) SHARD BY by_customer (customer_id);
CREATE TABLE items (order_id BIGINT, customer_id BIGINT NOT NULL, product_id BIGINT, quantity INTEGER,
    price DECIMAL(12,2)) SHARD BY by_customer (customer_id);
-- Visitors who are nobody's customer have no customer_id.
CREATE TABLE visits (customer_id BIGINT, at TIMESTAMP, page VARCHAR, ms DOUBLE) SHARD BY by_customer (customer_id);
CREATE TABLE products (id BIGINT PRIMARY KEY, name VARCHAR, category VARCHAR, price DECIMAL(12,2))
    SHARD BY by_product (id);
CREATE TABLE nations (id INTEGER PRIMARY KEY, name VARCHAR) REFERENCE ON by_customer;
CREATE TABLE settings (name VARCHAR PRIMARY KEY, value VARCHAR) ON s0;
CREATE VIEW paid AS SELECT * FROM orders WHERE status = 'paid';
CREATE VIEW people AS SELECT id, name FROM customers UNION ALL SELECT id, name FROM products;
