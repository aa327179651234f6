-- world: shop
-- Joins of every kind.

SELECT u.id, u.name, o.oid, o.amt FROM users u JOIN orders o ON o.uid = u.id;

SELECT u.id, o.oid FROM users u LEFT JOIN orders o ON o.uid = u.id AND o.status = 'paid';

SELECT u.id, o.oid FROM users u RIGHT JOIN orders o ON o.uid = u.id AND u.grp = 10;

SELECT u.id, o.oid, o.uid FROM users u FULL JOIN orders o ON o.uid = u.id AND o.amt > 50;

SELECT u.id, e.uid, o.uid FROM users u FULL JOIN orders o ON u.id = o.uid FULL JOIN events e ON e.uid = o.uid;

SELECT id, name FROM users SEMI JOIN orders ON orders.uid = users.id;

SELECT id, name FROM users ANTI JOIN orders ON orders.uid = users.id;

SELECT id, name FROM users ANTI JOIN orders ON orders.uid = users.id AND orders.status = 'void';

SELECT code FROM cities SEMI JOIN countries ON countries.code = cities.country;

SELECT name FROM countries SEMI JOIN cities ON countries.code = cities.country;

SELECT name FROM countries ANTI JOIN cities ON countries.code = cities.country;

SELECT u.id, c.name FROM users u CROSS JOIN colors c;

SELECT c.name, k.k FROM colors c CROSS JOIN settings k;

SELECT count(*) FROM users, orders, colors;

SELECT u.name, i.sku FROM users u, orders o, items i WHERE u.id = o.uid AND i.oid = o.oid AND i.qty > 3;

SELECT o.oid, i.line, i.price FROM orders o JOIN items i ON i.oid = o.oid;

SELECT o.oid, i.line FROM orders o LEFT JOIN items i ON i.oid = o.oid;

SELECT o.oid, i.oid, i.line FROM orders o FULL JOIN items i ON i.oid = o.oid;

SELECT oid, sum(qty) FROM orders JOIN items USING (oid) GROUP BY oid;

SELECT * FROM paid JOIN totals USING (uid);

SELECT * FROM (SELECT id AS uid, name FROM users) NATURAL JOIN (SELECT uid, oid FROM orders);

SELECT a.id, b.id FROM users a JOIN users b ON a.name = b.name AND a.id < b.id;

SELECT a.id, b.id FROM users a JOIN users b ON a.id = b.id;

SELECT a.id, b.id FROM users a LEFT JOIN users b ON a.id = b.grp;

SELECT a.oid, b.oid FROM orders a JOIN orders b ON a.uid = b.uid AND a.placed < b.placed;

SELECT u.id, c.code FROM users u JOIN cities c ON c.pop > u.score * 100000;

SELECT u.id, t.n FROM users u JOIN temps t ON t.n = u.id;

SELECT u.id, t.n, t.v FROM users u LEFT JOIN temps t ON t.n BETWEEN u.id AND u.id + 1;

SELECT s.region, c.name FROM sales s LEFT JOIN countries c ON c.code = s.region;

SELECT c.name, s.amount FROM countries c LEFT JOIN sales s ON c.code = s.region;

SELECT c.name, s.amount FROM countries c FULL JOIN sales s ON c.code = s.region AND s.amount > 25;

SELECT k.v, u.id FROM settings k LEFT JOIN users u ON u.id::VARCHAR = k.v;

SELECT k.v, u.id FROM settings k RIGHT JOIN users u ON u.id::VARCHAR = k.v;

SELECT c.i, c.j, u.id FROM cells c JOIN users u ON u.id = c.i;

SELECT a.v, b.v FROM cells a JOIN cells b ON a.i = b.i AND a.j = b.j AND a.v < b.v;

SELECT a.v, b.v FROM cells a JOIN cells b ON a.i = b.j AND a.j = b.i;

SELECT l.id, u.name FROM logs l JOIN users u ON l.id = u.id;

SELECT l.lvl, count(u.id) FROM logs l LEFT JOIN users u ON l.id = u.id GROUP BY l.lvl;

SELECT f.id, u.id FROM few f FULL JOIN users u ON u.id = f.id;

SELECT h.id, u.id FROM hollow h RIGHT JOIN users u ON u.id = h.id;

SELECT h.id, u.id FROM hollow h JOIN users u ON u.id = h.id;

SELECT u.id, h.v FROM users u LEFT JOIN hollow h ON u.id = h.id WHERE h.id IS NULL;

SELECT u.id, o.oid, i.line FROM users u LEFT JOIN (orders o JOIN items i ON i.oid = o.oid) ON o.uid = u.id;

SELECT u.id, o.oid, c.name FROM users u LEFT JOIN orders o ON o.uid = u.id JOIN colors c ON c.id = u.id % 4;

SELECT u.id, o.oid FROM users u LEFT JOIN orders o ON u.id = o.uid WHERE o.amt > 30;

SELECT u.id, o.oid FROM users u LEFT JOIN orders o ON u.id = o.uid WHERE o.amt IS NULL;

SELECT u.id, o.oid FROM users u LEFT JOIN orders o ON u.id = o.uid WHERE COALESCE(o.amt, 0) < 20;

SELECT u.id, o.oid FROM users u LEFT JOIN orders o ON u.id IS NOT DISTINCT FROM o.uid;

SELECT u.id, o.oid FROM users u JOIN orders o ON u.id = o.uid OR u.grp = o.uid;

SELECT u.id, o.oid FROM users u LEFT JOIN orders o ON FALSE;

SELECT count(*) FROM users u LEFT JOIN orders o ON TRUE;

SELECT o.oid, e.kind FROM orders o ASOF JOIN events e ON o.uid = e.uid AND o.placed >= e.seen;

SELECT o.oid, e.kind, e.seen FROM orders o ASOF LEFT JOIN events e ON o.uid = e.uid AND o.placed >= e.seen;

SELECT u.id, t.n FROM users u ASOF JOIN (SELECT DISTINCT n FROM temps) t ON u.id >= t.n;

-- @refused POSITIONAL JOIN
SELECT c.name, q.i FROM colors c POSITIONAL JOIN (SELECT range AS i FROM range(2)) q;

SELECT u.id, q.oid FROM users u, LATERAL (SELECT oid FROM orders o WHERE o.uid = u.id ORDER BY oid DESC LIMIT 1) q;

SELECT u.id, q.n FROM users u LEFT JOIN LATERAL (SELECT count(*) AS n FROM orders o WHERE o.uid = u.id HAVING count(*) > 1) q ON TRUE;

SELECT c.name, q.total FROM countries c, LATERAL (SELECT sum(pop) AS total FROM cities WHERE country = c.code) q;

SELECT u.id, q.x FROM users u, LATERAL (SELECT u.id * 2 AS x) q;

SELECT u.id, q.s FROM users u, LATERAL (SELECT sum(v) AS s FROM temps t WHERE t.n < u.id) q;

SELECT u.id, t.tag FROM users u JOIN (SELECT uid, unnest(tags) AS tag FROM events) t ON t.uid = u.id;

SELECT o.uid, count(*) FROM orders o JOIN events e USING (uid) GROUP BY o.uid HAVING count(*) > 2;

SELECT uid, name FROM orders LEFT JOIN users ON id = uid WHERE uid = 5;

SELECT o.oid, u.name FROM orders o JOIN users u ON u.id = o.uid WHERE u.id IN (3, 8, 21, 99) AND o.amt > 10;

SELECT o.oid FROM orders o JOIN users u ON u.id = o.uid JOIN countries c ON c.people > o.amt WHERE c.code = 'fr';

SELECT x.id, y.id FROM (SELECT id FROM users WHERE grp = 10) x FULL JOIN (SELECT id FROM users WHERE score > 2) y ON x.id = y.id;

SELECT d.id, u.name FROM docs d JOIN users u ON u.id = d.body.a;

SELECT x.u, count(*) FROM docs x JOIN docs y ON x.u = y.u GROUP BY x.u;

SELECT x.id, y.id FROM docs x JOIN docs y ON x.b = y.b AND x.e = y.e;
