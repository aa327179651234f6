-- world: shop
-- CTEs, set operations, VALUES, views, limits.

WITH x AS (SELECT uid, sum(amt) AS s FROM orders GROUP BY uid) SELECT * FROM x WHERE s > 50;

WITH x AS (SELECT uid, sum(amt) AS s FROM orders GROUP BY uid) SELECT a.uid, b.uid FROM x a JOIN x b ON a.s < b.s AND a.uid < b.uid;

WITH x AS MATERIALIZED (SELECT id, name FROM users WHERE grp = 10) SELECT count(*), count(name) FROM x;

WITH x AS NOT MATERIALIZED (SELECT id FROM users), y AS (SELECT x.id FROM x JOIN orders ON uid = id) SELECT id, count(*) FROM y GROUP BY id;

WITH x(a, b) AS (SELECT id, grp FROM users) SELECT b, max(a) FROM x GROUP BY b;

WITH users AS (SELECT 1 AS id) SELECT id FROM users;

WITH x AS (SELECT * FROM users), x2 AS (SELECT * FROM x WHERE id > 10) SELECT (SELECT count(*) FROM x) AS a, (SELECT count(*) FROM x2) AS b;

WITH t AS (SELECT max(amt) AS m FROM orders) SELECT oid FROM orders, t WHERE amt = m;

SELECT * FROM (WITH z AS (SELECT grp FROM users) SELECT grp, count(*) AS n FROM z GROUP BY grp) q WHERE n > 2;

SELECT id FROM users WHERE id IN (WITH z AS (SELECT uid FROM orders WHERE amt > 30) SELECT uid FROM z);

WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 8) SELECT i, count(u.id) AS c FROM n LEFT JOIN users u ON u.id % 8 = i GROUP BY i;

WITH RECURSIVE w AS (SELECT id, grp, 1 AS depth FROM users WHERE id = 1 UNION SELECT u.id, u.grp, depth + 1 FROM users u JOIN w ON u.id = w.id + w.grp / 10 WHERE depth < 9) SELECT * FROM w;

WITH RECURSIVE w(n) AS (SELECT min(uid) FROM orders UNION ALL SELECT (SELECT min(uid) FROM orders WHERE uid > n) FROM w WHERE n IS NOT NULL) SELECT n FROM w;

SELECT id FROM users UNION SELECT uid FROM orders;

SELECT id FROM users UNION ALL SELECT uid FROM orders;

SELECT id FROM users INTERSECT SELECT uid FROM orders;

SELECT id FROM users EXCEPT SELECT uid FROM orders;

SELECT uid FROM orders INTERSECT ALL SELECT uid FROM events;

SELECT uid FROM orders EXCEPT ALL SELECT uid FROM events;

SELECT name FROM users UNION SELECT name FROM countries;

SELECT country FROM cities EXCEPT SELECT code FROM countries;

SELECT code FROM countries EXCEPT SELECT country FROM cities;

SELECT id, name FROM users UNION ALL BY NAME SELECT name, code FROM countries;

SELECT id, name FROM users UNION BY NAME SELECT kind AS name, uid AS id, val FROM events;

(SELECT id FROM users EXCEPT SELECT uid FROM orders) UNION ALL (SELECT uid FROM events INTERSECT SELECT id FROM users);

SELECT id FROM users WHERE id < 5 UNION ALL SELECT 99 UNION ALL SELECT count(*) FROM orders;

-- @ordered
SELECT id AS x FROM users WHERE id IS NOT NULL UNION SELECT n FROM temps WHERE n IS NOT NULL ORDER BY x DESC LIMIT 7;

-- @ordered
(SELECT id FROM users ORDER BY id NULLS LAST LIMIT 3) UNION ALL (SELECT uid FROM orders ORDER BY uid DESC NULLS LAST LIMIT 2) ORDER BY 1;

SELECT id FROM users INTERSECT SELECT n FROM temps;

SELECT grp FROM users EXCEPT SELECT n FROM temps;

SELECT 1 AS a, 'x' AS b UNION ALL SELECT id, name FROM users WHERE id = 7;

SELECT id::INTEGER AS v FROM users UNION SELECT score FROM users;

SELECT NULL AS x UNION ALL SELECT id FROM users;

SELECT id FROM hollow UNION ALL SELECT id FROM few;

SELECT id FROM hollow EXCEPT SELECT id FROM few;

SELECT id FROM few EXCEPT SELECT id FROM hollow;

VALUES (1, 'a'), (2, 'b');

SELECT * FROM (VALUES (1, 'a'), (2, NULL), (40, 'z')) v(id, x) LEFT JOIN users USING (id);

SELECT u.id, v.x FROM users u JOIN (VALUES (1, 'a'), (2, 'b')) v(id, x) ON v.id = u.id;

SELECT x + 1 FROM (VALUES (1), (2)) v(x);

SELECT 42 AS answer;

SELECT 1 WHERE FALSE;

SELECT count(*);

SELECT * FROM paid WHERE uid = 4;

SELECT uid, total FROM totals WHERE uid = 5;

SELECT count(*), sum(total) FROM totals;

SELECT p.oid, t.n FROM paid p JOIN totals t ON t.uid = p.uid WHERE t.n > 1;

SELECT name, count(*) FROM people GROUP BY name;

SELECT id, count(*) FROM people GROUP BY id;

SELECT name FROM people WHERE id = 3;

SELECT p.id, o.oid FROM people p JOIN orders o ON o.uid = p.id;

SELECT code, count(*) FROM places GROUP BY code;

SELECT * FROM places WHERE code = 'fr';

-- a view beside what it reads
SELECT (SELECT count(*) FROM people) AS p, (SELECT count(*) FROM users) AS u, (SELECT count(*) FROM events) AS e, (SELECT count(*) FROM rich) AS r, (SELECT count(*) FROM totals) AS t, (SELECT count(*) FROM orders) AS o, (SELECT count(*) FROM paid) AS d;

SELECT * FROM rich;

SELECT name, sum(total) FROM rich GROUP BY name;

SELECT count(*) FROM (SELECT * FROM rich UNION SELECT * FROM rich) q;

-- @ordered
SELECT id FROM users ORDER BY id NULLS LAST LIMIT 5;

-- @ordered
SELECT id FROM users ORDER BY id DESC NULLS LAST LIMIT 5 OFFSET 3;

-- @ordered
SELECT id, name FROM users ORDER BY name NULLS FIRST, id NULLS FIRST;

-- @sorted 1
SELECT grp FROM users ORDER BY grp DESC NULLS FIRST LIMIT 12;

-- @ordered
SELECT id FROM users ORDER BY score * -1 NULLS LAST, id NULLS LAST LIMIT 6;

-- @ordered
SELECT oid, amt FROM orders ORDER BY ALL NULLS LAST LIMIT 9;

-- @ordered
SELECT id FROM users WHERE id IS NOT NULL ORDER BY id LIMIT 20 PERCENT;

-- @ordered
SELECT id FROM users WHERE id IS NOT NULL ORDER BY id LIMIT (SELECT count(*) FROM colors);

-- @ordered
SELECT id FROM users WHERE id IS NOT NULL ORDER BY id OFFSET 24;

-- @any
SELECT id FROM users LIMIT 7;

-- @any
SELECT id FROM users LIMIT 7 OFFSET 26;

-- @any
SELECT DISTINCT grp FROM users LIMIT 3;

SELECT count(*) FROM (SELECT id FROM users LIMIT 7) q;

-- @ordered
SELECT uid, count(*) AS n FROM orders GROUP BY uid ORDER BY n DESC, uid NULLS LAST LIMIT 4;

-- @ordered
SELECT uid, sum(amt) AS s FROM orders GROUP BY uid HAVING count(*) > 1 ORDER BY s DESC NULLS LAST, uid LIMIT 3 OFFSET 1;

-- @ordered
SELECT DISTINCT name FROM users ORDER BY name NULLS LAST LIMIT 4;

SELECT DISTINCT grp, active FROM users;

SELECT DISTINCT ON (grp) grp, id FROM users ORDER BY grp, id NULLS LAST;

SELECT DISTINCT ON (uid) uid, oid FROM orders ORDER BY uid, placed DESC, oid;

SELECT DISTINCT ON (name) name, id FROM (SELECT id, name FROM users WHERE id IS NOT NULL) q ORDER BY name, id DESC;

-- @ordered
SELECT name FROM users WHERE id IN (4, 9) ORDER BY id;

-- @ordered
SELECT q.id FROM (SELECT id FROM users ORDER BY id DESC NULLS LAST LIMIT 10) q ORDER BY q.id LIMIT 3;

-- @any
SELECT id FROM users USING SAMPLE 4 ROWS;

SELECT id FROM users WHERE id BETWEEN 5 AND 8;

SELECT id FROM users WHERE id = 5 AND id = 6;

SELECT count(*), sum(grp) FROM users WHERE id = 5 AND id = 6;

SELECT count(*), max(name) FROM users WHERE id = 5;

SELECT grp, count(*) FROM users WHERE id IN (1, 4, 7) GROUP BY grp;

SELECT id FROM users WHERE id = -1;

SELECT id FROM users WHERE id IS NULL;

SELECT id FROM users WHERE id IS NULL OR id = 3;

SELECT n FROM temps WHERE n < 0;

SELECT n FROM temps WHERE n >= 10 AND n < 20;

SELECT n FROM temps WHERE n BETWEEN 8 AND 12 OR n IS NULL;

SELECT region, sum(amount) FROM sales WHERE region IN ('eu', 'jp') GROUP BY region;

SELECT sum(amount) FROM sales WHERE region = 'kr' OR region IS NULL;

SELECT sum(v) FROM cells WHERE i = 2;

SELECT sum(v) FROM cells WHERE i = 2 AND j = 3;

SELECT sum(v) FROM cells WHERE i = 2 OR j = 3;

SELECT code FROM cities WHERE code = 'par';

SELECT code FROM cities WHERE code IN ('par', 'PAR', '', NULL);

SELECT code FROM cities WHERE code LIKE 'p%';

SELECT oid FROM orders WHERE oid = 149;

SELECT line FROM items WHERE oid = 149;

SELECT status FROM orders WHERE oid IN (149, 267, 6178) AND uid > 3;

SELECT lvl, count(*) FROM logs WHERE id = 5 GROUP BY lvl;
