-- world: shop
-- Subqueries of every kind, in every clause.

SELECT id, (SELECT max(amt) FROM orders) AS m FROM users;

SELECT id, (SELECT max(amt) FROM orders o WHERE o.uid = u.id) AS m FROM users u;

SELECT id, (SELECT count(*) FROM orders o WHERE o.uid = u.id) AS n FROM users u;

SELECT id, (SELECT count(*) FROM events e WHERE e.val > u.score) AS n FROM users u;

SELECT name, (SELECT count(*) FROM cities c WHERE c.country = k.code) AS n FROM countries k;

SELECT code, (SELECT name FROM countries k WHERE k.code = c.country) AS n FROM cities c;

SELECT id, (SELECT name FROM colors WHERE colors.id = users.id) AS color FROM users;

SELECT id, (SELECT oid FROM orders o WHERE o.uid = u.id ORDER BY placed DESC, oid LIMIT 1) AS latest FROM users u;

SELECT id FROM users WHERE id IN (SELECT uid FROM orders);

SELECT id FROM users WHERE id IN (SELECT uid FROM orders WHERE amt > 60);

SELECT id FROM users WHERE id NOT IN (SELECT uid FROM orders WHERE uid IS NOT NULL);

SELECT id FROM users WHERE id NOT IN (SELECT uid FROM orders);

SELECT id FROM users WHERE grp IN (SELECT n FROM temps);

SELECT id FROM users WHERE grp NOT IN (SELECT n FROM temps WHERE n IS NOT NULL);

SELECT id FROM users WHERE (id, name) IN (SELECT uid, kind FROM events) OR (id, grp) IN (SELECT 5, 30 UNION ALL SELECT 6, 10 UNION ALL SELECT 2, 10);

SELECT oid FROM orders WHERE (uid, status) IN (SELECT uid, status FROM orders GROUP BY ALL HAVING count(*) > 1);

SELECT code FROM countries WHERE code IN (SELECT country FROM cities);

SELECT code FROM countries WHERE code NOT IN (SELECT country FROM cities WHERE country IS NOT NULL);

SELECT id FROM users u WHERE EXISTS (SELECT 1 FROM orders o WHERE o.uid = u.id AND o.amt > u.score);

SELECT id FROM users u WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.uid = u.id);

SELECT id FROM users u WHERE EXISTS (SELECT 1 FROM events e WHERE e.val = u.score);

SELECT id FROM users u WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.kind = u.name);

SELECT id FROM users WHERE EXISTS (SELECT 1 FROM hollow);

SELECT id FROM users WHERE NOT EXISTS (SELECT 1 FROM hollow) AND id < 5;

SELECT id, EXISTS (SELECT 1 FROM orders o WHERE o.uid = u.id) AS buys FROM users u;

SELECT id, id IN (SELECT uid FROM orders) AS buys FROM users;

SELECT id, grp = ANY (SELECT n FROM temps) AS b FROM users;

SELECT id FROM users WHERE score > ALL (SELECT val FROM events WHERE val < 5);

SELECT id FROM users u WHERE score >= ALL (SELECT val FROM events e WHERE e.uid = u.id AND val IS NOT NULL);

SELECT id FROM users u WHERE score < ANY (SELECT amt FROM orders o WHERE o.uid = u.id);

SELECT id FROM users WHERE score > ALL (SELECT v FROM hollow);

SELECT id FROM users WHERE score > ANY (SELECT v FROM hollow);

SELECT grp, count(*) FROM users GROUP BY grp HAVING count(*) > (SELECT count(*) / 10 FROM orders);

SELECT uid, sum(amt) AS s FROM orders GROUP BY uid HAVING sum(amt) >= ALL (SELECT sum(amt) FROM orders WHERE amt IS NOT NULL AND uid IS NOT NULL GROUP BY uid);

-- @sorted 2
SELECT id, (SELECT count(*) FROM orders o WHERE o.uid = u.id) AS n FROM users u ORDER BY (SELECT count(*) FROM orders o WHERE o.uid = u.id) DESC, id;

-- @ordered
SELECT id FROM users u ORDER BY (SELECT sum(amt) FROM orders o WHERE o.uid = u.id) DESC NULLS LAST, id NULLS LAST LIMIT 5;

SELECT u.id, o.oid FROM users u JOIN orders o ON o.uid = u.id AND o.amt > (SELECT avg(amt) FROM orders);

SELECT u.id, o.oid FROM users u LEFT JOIN orders o ON o.uid = u.id AND o.oid IN (SELECT oid FROM items WHERE qty > 5);

SELECT u.id, e.kind FROM users u LEFT JOIN events e ON e.uid = u.id AND EXISTS (SELECT 1 FROM colors WHERE colors.name = e.tags[1]);

SELECT count(*) FROM users WHERE score > (SELECT avg(score) FROM users) AND grp = (SELECT min(grp) FROM users);

SELECT avg(n) FROM (SELECT uid, count(*) AS n FROM orders GROUP BY uid) q;

SELECT grp, max(n) FROM (SELECT u.grp, u.id, count(*) AS n FROM users u JOIN orders o ON o.uid = u.id GROUP BY u.grp, u.id) q GROUP BY grp;

SELECT sum(x) FROM (SELECT id AS x FROM users UNION SELECT uid FROM orders) q;

SELECT q.s, count(*) FROM (SELECT status AS s FROM orders WHERE amt > 20) q GROUP BY q.s;

SELECT * FROM (SELECT * FROM (SELECT id, name FROM users WHERE id > 3) a WHERE id < 20) b WHERE name IS NOT NULL;

SELECT id FROM users WHERE id = (SELECT max(uid) FROM orders WHERE uid < 20);

SELECT id FROM users WHERE id > (SELECT min(id) FROM few) AND id < (SELECT v::INTEGER FROM settings WHERE k = 'limit');

SELECT id, name FROM users WHERE id IN (SELECT max(uid) FROM orders GROUP BY status);

SELECT oid FROM items WHERE price = (SELECT max(price) FROM items i2 WHERE i2.sku = items.sku);

SELECT sku, (SELECT count(*) FROM items i2 WHERE i2.price > avg(i.price)) AS above FROM items i GROUP BY sku;

SELECT id, ARRAY(SELECT oid FROM orders o WHERE o.uid = u.id ORDER BY oid) AS oids FROM users u;

SELECT (SELECT sum(amt) FROM orders), (SELECT count(*) FROM users), (SELECT max(name) FROM countries);

SELECT (SELECT count(*) FROM hollow) + (SELECT count(*) FROM few) AS n;

SELECT id FROM users u WHERE (SELECT count(*) FROM orders o WHERE o.uid = u.id) = (SELECT count(*) FROM events e WHERE e.uid = u.id);

SELECT id FROM users u WHERE id IN (SELECT uid FROM orders o WHERE o.oid IN (SELECT oid FROM items i WHERE i.qty > 6));

SELECT id FROM users u WHERE EXISTS (SELECT 1 FROM orders o WHERE o.uid = u.id AND NOT EXISTS (SELECT 1 FROM items i WHERE i.oid = o.oid));

SELECT CASE WHEN EXISTS (SELECT 1 FROM orders WHERE status = 'void') THEN 'some' ELSE 'none' END AS v;

SELECT id, CASE WHEN score > (SELECT avg(score) FROM users) THEN 'high' ELSE 'low' END AS c FROM users;

SELECT i.oid, i.line FROM items i WHERE i.qty * i.price > (SELECT 0.5 * sum(j.qty * j.price) FROM items j WHERE j.oid = i.oid);

SELECT sum(amt) FROM orders WHERE uid IN (SELECT id FROM users WHERE grp = (SELECT max(grp) FROM users));

SELECT u.grp, (SELECT sum(o.amt) FROM orders o JOIN users v ON v.id = o.uid WHERE v.grp = u.grp) AS s FROM users u GROUP BY u.grp;

SELECT n FROM temps WHERE n = 5 OR n = (SELECT max(n) FROM temps);

-- MariaDB finds no aggregate of the block's own in a list
SELECT uid FROM orders WHERE status = 'paid' GROUP BY uid HAVING count(*) IN (SELECT id FROM colors) AND max(amt) > 10;

SELECT uid FROM (SELECT uid, count(*) AS n FROM orders GROUP BY uid) d WHERE n NOT IN (SELECT id FROM colors);

SELECT uid, n IN (SELECT id FROM colors) AS i FROM (SELECT uid, count(*) AS n FROM orders GROUP BY uid) d;

SELECT uid FROM orders GROUP BY uid HAVING count(*) = ANY (SELECT id FROM colors);
