-- world: scars
-- What attacks on the planner found. Each group is a kind of mistake, named in the first line of its cases.

-- told: a predicate was copied across `=` to a column of another width, where its constant means another value
SELECT fx.k, gx.k FROM fx JOIN gx ON fx.f = gx.g WHERE gx.g > 0.1;

-- told: to the null side
SELECT gx.k, fx.k FROM gx LEFT JOIN fx ON fx.f = gx.g WHERE gx.g > 0.1;

-- told: TIMESTAMP_S has no fractions
SELECT fx.k FROM fx JOIN gx ON fx.ss = gx.ts WHERE gx.ts > '2025-01-01 00:00:00.6';

-- told: '0.25' is 0.3 to a DECIMAL(4,1)
SELECT fx.k FROM fx JOIN gx ON fx.d = gx.d WHERE gx.d > '0.25';

-- told: no INTEGER is that large
SELECT fx.k FROM fx JOIN gx ON fx.k = gx.w WHERE gx.w = '3000000001';

-- unique across shards: NULLs are not unique, and are on every shard
SELECT pid, count(*) FROM pn GROUP BY pid;

-- unique across shards
SELECT DISTINCT pid FROM pn;

-- unique across shards
SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY q) FROM pn;

-- unique across shards
SELECT pid FROM pn EXCEPT SELECT pid FROM pn WHERE q = 1;

-- unique across shards
SELECT x.q, y.q FROM pn x JOIN pn y ON x.pid IS NOT DISTINCT FROM y.pid;

-- ALSO BY: the second key is NULL, and so says nothing of the place
SELECT uid FROM o WHERE id IS NULL;

-- ALSO BY
SELECT id, count(*) FROM o GROUP BY id;

-- ALSO BY
SELECT uid FROM o WHERE id IS NULL OR id = 127;

-- ALSO BY SLOT
SELECT no, count(*) FROM o2 GROUP BY no;

-- ALSO BY SLOT
SELECT x.uid, y.uid FROM o2 x JOIN o2 y ON x.no IS NOT DISTINCT FROM y.no;

-- grouping sets: each holds an equal of the key, but the column is NULL in the other set
SELECT ak, count(*), sum(n) FROM (
  SELECT a.k AS ak, b.k AS bk, count(*) AS n FROM a JOIN b ON a.k = b.k GROUP BY GROUPING SETS ((a.k), (b.k))) q
GROUP BY ak;

-- grouping sets
SELECT DISTINCT ak FROM (
  SELECT a.k AS ak, b.k AS bk FROM a JOIN b ON a.k = b.k GROUP BY GROUPING SETS ((a.k), (b.k))) q;

-- coalesce after a full join: one side's key was loose before it
SELECT k, count(*) FROM (
  SELECT coalesce(c.k, b.k) AS k FROM (a LEFT JOIN c ON a.k = c.k) FULL JOIN b ON c.k = b.k) q
GROUP BY k;

-- coalesce after a full join
SELECT DISTINCT k FROM (
  SELECT coalesce(c.k, b.k) AS k FROM (a LEFT JOIN c ON a.k = c.k) FULL JOIN b ON c.k = b.k) q;

-- parameter names: the planner's own took the user's
-- @params {"subquery_1": 2}
SELECT k FROM a WHERE k = $subquery_1 AND v > (SELECT min(y) FROM c);

-- parameter names
-- @params {"subquery_1": 77}
SELECT k, $subquery_1 AS p FROM a WHERE v > (SELECT min(y) FROM c);

-- parameter names
-- @params {"x_0": 1, "x_1": 2, "x": 1}
SELECT k FROM a WHERE k IN ($x_0, $x_1) AND k <> $x;

-- typed literals: TIMESTAMP '…'::DATE was read as TIMESTAMP ('…'::DATE)
SELECT TIMESTAMP '2025-01-31 10:00:00'::DATE::VARCHAR AS z FROM a;

-- typed literals
SELECT DATE '2025-01-31'::TIMESTAMP::VARCHAR AS z FROM a;

-- typed literals
SELECT z::VARCHAR FROM (SELECT TIMESTAMP '2025-01-31 10:00:00'::DATE AS z FROM a) q;

-- typed literals
SELECT TIMESTAMP '2025-01-31 10:00:00'::DATE + 1 AS z FROM a;

-- typed literals
SELECT TIMESTAMP '2025-01-31 10:00:00'::TIME AS z FROM a;

-- WITH: an item named as the table it reads, in a statement that is kept whole
WITH a AS (SELECT k, v FROM a WHERE k > 2) SELECT COLUMNS('k|v') FROM a;

-- unions in parentheses: the inner one has a type of its own
SELECT 'x' AS z UNION ALL (SELECT 1 UNION ALL SELECT 1.5);

-- unions in parentheses
SELECT t FROM a UNION ALL (SELECT k FROM b UNION ALL SELECT d FROM gx);

-- unions in parentheses
(SELECT k FROM b UNION ALL SELECT d FROM gx) UNION ALL SELECT t FROM a;

-- unions in parentheses
(SELECT k FROM b UNION SELECT d FROM gx) UNION SELECT t FROM a;

-- unions in parentheses
WITH z AS (SELECT k FROM b UNION ALL SELECT d FROM gx) SELECT * FROM z UNION ALL SELECT t FROM a;

-- intervals: one that ran first came back in days, its months lost
SELECT k, DATE '2025-01-31' + (SELECT max(i) FROM iv) AS z FROM a;

-- intervals
SELECT k, (SELECT i FROM iv WHERE k = 1)::VARCHAR AS z FROM a;

-- intervals
SELECT k, (SELECT [i] FROM iv WHERE k = 1)::VARCHAR AS z FROM a;

-- collations: what a fragment computed, or a subquery gave that ran first, lost its collation
SELECT count(*) FROM (SELECT DISTINCT z FROM (SELECT k, max(s) AS z FROM n GROUP BY k) q);

-- collations
SELECT x.k, y.k
FROM (SELECT k, max(s) AS z FROM n GROUP BY k) x JOIN (SELECT k, max(s) AS z FROM n GROUP BY k) y ON x.z = y.z;

-- collations
SELECT k, rank() OVER (ORDER BY z) FROM (SELECT k, first_value(s) OVER (PARTITION BY k) AS z FROM n) q;

-- collations
SELECT k FROM g WHERE s = (SELECT max(s) FROM n WHERE k < 3);

-- collations
SELECT k FROM g WHERE s IN (SELECT s FROM n);

-- collations
SELECT count(*) FROM (SELECT s AS z FROM n UNION ALL SELECT s FROM g) WHERE z = 'ANN';

-- GROUP BY ALL: of constants it groups nothing
SELECT 1 FROM a GROUP BY ALL;

-- GROUP BY ALL
SELECT 1 FROM hollow GROUP BY ALL;

-- GROUP BY ALL
SELECT (SELECT max(k) FROM a) FROM b GROUP BY ALL;

-- outer columns: an expression over them was pushed into a fragment that does not see them
SELECT a.k, (SELECT sum(b.v * a.x) FROM b) FROM a;

-- outer columns
SELECT a.k, (SELECT sum(b.v) FILTER (WHERE b.x = a.x) FROM b) FROM a;

-- outer columns
SELECT a.k, (SELECT count(DISTINCT b.v + a.x) FROM b) FROM a;

-- outer columns
SELECT a.k, q.* FROM a, LATERAL (SELECT b.x + a.x AS z, sum(b.v) FROM b GROUP BY 1) q;

-- outer columns
SELECT a.k, (SELECT b.v FROM b ORDER BY a.x, b.v, b.k LIMIT 1) FROM a;

-- hidden columns: the planner's _o0 met the user's
-- @ordered
SELECT k AS _o0 FROM a ORDER BY -k;

-- hidden columns
-- @sorted 2 1
SELECT v AS _o0, k FROM a ORDER BY k + 0, v;

-- a condition that is nothing but a subquery
SELECT k FROM a WHERE (SELECT true);

-- a dot on a MAP, a JSON or a UNION
SELECT m.m.x FROM m;

-- a dot
SELECT j.k FROM m;

-- a dot
SELECT q.u.n FROM (SELECT union_value(n := k) AS u FROM m) q;

-- a percentage that is a parameter
-- @ordered
-- @params [50]
SELECT k FROM a ORDER BY k LIMIT ?%;

-- two signs were written as a comment
SELECT k, - ~x AS z FROM a;

-- constants: one that is a column keeps its type, and TINYINT + INTEGER does not overflow
SELECT k, i1 + c AS s FROM (SELECT k, i1, 100 AS c FROM i) q;

-- constants
SELECT k FROM (SELECT k, i1, 100 AS c FROM i) q WHERE i1 + c > 150;

-- ARRAY (…) has many rows, it is no scalar
SELECT k, ARRAY(SELECT v FROM b WHERE k = 4 ORDER BY v) AS z FROM a;

-- refused, and need not have been: a later ON sees what stands left of the comma
SELECT a.v FROM a, b LEFT JOIN c ON c.k = a.k WHERE a.k = b.k;

-- refused: a list of ENUM
-- @ordered
SELECT k, list_sort(list(e)) AS l FROM e GROUP BY k ORDER BY l, k;

-- refused: the schema's name
SELECT main.a.k FROM main.a;

-- the catalog's name, on every shard
-- @any
SELECT k, current_database() FROM a;

-- one name, not one for each shard
-- @any
SELECT z, count(*) FROM (SELECT current_database() AS z, k FROM a) q GROUP BY z;

-- what tells of the text of a fragment
-- @refused alias
SELECT k, alias(x) FROM a;

-- the comma binds looser than a RIGHT join, LATERAL or not
SELECT count(*) FROM a, LATERAL (SELECT a.v AS z) q RIGHT JOIN c ON q.z = c.y;

-- the comma binds looser than a FULL join
SELECT count(*) FROM a, LATERAL (SELECT a.v AS z) q LEFT JOIN c ON q.z = c.y FULL JOIN b ON b.k = q.z;

-- the comma becomes a JOIN where sqlglot writes unnest
-- @refused unnest
SELECT count(*) FROM a, unnest([a.v]) q(z) RIGHT JOIN c ON q.z = c.y;

-- sqlglot takes ALL ((…)) for a function
SELECT k FROM a WHERE v > ALL ((SELECT y FROM c WHERE y < 3));

-- sqlglot takes ALL ((…)) for a function
SELECT k FROM a WHERE v > ALL ((SELECT y FROM c WHERE y < 3) UNION (SELECT 1));

-- what runs first is a Python value on its way: nanoseconds are cut
SELECT k FROM a WHERE TIMESTAMP_NS '2025-01-01 00:00:00.123456789' > (SELECT max(TIMESTAMP_NS '2025-01-01 00:00:00.123456788') FROM b);

-- what runs first is a Python value on its way: an infinite date is 9999-12-31
SELECT k, (SELECT max(DATE 'infinity') FROM b) = DATE '9999-12-31' AS same FROM a;

-- what runs first is a Python value on its way: in a list
SELECT k FROM a WHERE DATE '9999-12-31' NOT IN (SELECT DATE 'infinity' FROM b);

-- a WITH item that nothing reads is not looked at, whatever else there reads it
WITH w AS (SELECT nosuch FROM a), u AS (SELECT w1.* FROM w w1, w w2) SELECT k FROM a;

-- a WITH item that nothing reads is not looked at
WITH w AS MATERIALIZED (SELECT nosuch FROM a), u AS (SELECT * FROM w), v AS (SELECT * FROM w, u) SELECT k FROM a;

-- one that is read by way of others is
-- @raises
WITH w AS (SELECT nosuch FROM a), u AS (SELECT w1.* FROM w w1, w w2) SELECT k FROM a, u;

-- a column that USING joins comes before others of its name
SELECT b.v, c.y AS w FROM a JOIN b USING (k) JOIN c ON k = c.k;

-- a column that USING joins comes before others of its name, of a FULL JOIN too
SELECT k, c.k AS other FROM c, a FULL JOIN b USING (k) WHERE k > 1;

-- a column that USING joins comes before others of its name, not before another that USING joins
-- @raises
SELECT k FROM (a JOIN b USING (k)) CROSS JOIN (c JOIN b q USING (k));

-- HAVING compares two keys that are comparisons, each in parentheses
SELECT k, p, q FROM (SELECT k, v > 1 AS p, v > 2 AS q FROM a GROUP BY k, v > 1, v > 2) z WHERE p = q;

-- HAVING compares a key that is a comparison with another that is an OR
SELECT k, p, q FROM (SELECT k, v > 1 AS p, v > 3 OR t = 'n' AS q FROM a GROUP BY k, v > 1, v > 3 OR t = 'n') z WHERE p = q;
