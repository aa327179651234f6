-- world: letters
-- The cases of forty.sql that MySQL has words for, in these.

-- 1: an expression of the null side is evaluated above the join, not below it
SELECT a.k, COALESCE(b.v, 0) AS v FROM a LEFT JOIN b ON a.x = b.x;

-- 1: a constant column of the null side is NULL where nothing matched
SELECT a.k, q.c FROM a LEFT JOIN (SELECT x, 1 AS c FROM b) q ON a.x = q.x;

-- 1: colocated, too
SELECT a.k, COALESCE(q.c, -1) AS c FROM a LEFT JOIN (SELECT k, 7 AS c FROM b) q ON a.k = q.k;

-- 1: an expression over a grouping column is evaluated above the grouping sets
SELECT COALESCE(g1, 'TOTAL') AS g, count(*) FROM t GROUP BY g1 WITH ROLLUP;

-- 2: NOT is no complement of slots
SELECT k FROM t WHERE NOT k = 2;

-- 2: nor is IS NOT TRUE
SELECT k FROM t WHERE (k = 2) IS NOT TRUE;

-- 2: nor NOT of a disjunction or conjunction
SELECT k FROM t WHERE NOT (k = 2 OR v = 40);

-- 2
SELECT k FROM t WHERE NOT (k = 2 AND v = 30);

-- 2
SELECT k FROM t WHERE NOT (k = 2 AND length(s) > 100);

-- 2
SELECT k FROM t WHERE k NOT IN (2, 4);

-- 2
SELECT k, v FROM t WHERE NOT k <=> 2;

-- 2
SELECT k FROM t WHERE k <> 2;

-- 2
SELECT k FROM t WHERE CASE WHEN k = 2 THEN FALSE ELSE TRUE END;

-- 2
SELECT region, v FROM ls WHERE region <> 'eu';

-- 2
SELECT region, v FROM ls WHERE NOT region IN ('eu', 'uk');

-- 2
SELECT region, v FROM ls WHERE region NOT IN ('us');

-- 3: IS NULL on the null side is about unmatched rows, not about NULL keys
SELECT a.k, a.x FROM a LEFT JOIN b ON a.k = b.k WHERE b.k IS NULL;

-- 3: a condition of ON does not prune the preserved side
SELECT a.k, a.v, b.v FROM a LEFT JOIN b ON a.k = b.k AND a.k = 2;

-- 3
SELECT a.k, b.k FROM a RIGHT JOIN b ON a.k = b.k AND b.k = 2;

-- 3
SELECT a.k FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE a.k = b.k AND a.k = 2);

-- 4: the ON of an outer join links nothing for others
SELECT a.k, b.k, c.k FROM a LEFT JOIN b ON a.x = b.x LEFT JOIN c ON c.k = a.k AND c.k = b.k;

-- 4
SELECT a.k FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.x = a.x AND NOT EXISTS (SELECT 1 FROM c WHERE c.k = a.k AND c.k = b.k));

-- 4: a fact above a LIMIT holds above it only
SELECT * FROM (SELECT a.k AS ak, b.k AS bk FROM a, b ORDER BY a.v + b.v, a.k, b.k LIMIT 1) q WHERE ak = bk;

-- 4
SELECT count(*) FROM (SELECT a.k AS ak, b.k AS bk FROM a, b ORDER BY a.v + b.v, a.k, b.k LIMIT 9) q WHERE ak = bk;

-- 4
SELECT count(*) FROM a, b WHERE a.k = b.k OR a.x = b.x;

-- 5: values that are equal but hash differently
SELECT v FROM txt WHERE k = 'a';

-- 5
SELECT x.v, y.w FROM txt x JOIN txt2 y ON x.k = y.k;

-- 5
SELECT x.v, y.w FROM txt x JOIN txt2 y ON lower(x.k) = lower(y.k);

-- 5: INT = mod, VARCHAR = hash
SELECT a.k, txt.v FROM a JOIN txt ON a.k = CAST(txt.k AS SIGNED);

-- 5
SELECT de.v, a.v FROM de JOIN a ON de.k = a.k;

-- 5: 1 and 1.00
SELECT v FROM de WHERE k = 1;

-- 5
SELECT v FROM de WHERE k = 1.0000;

-- 5
SELECT v FROM de WHERE k IN (1, 1.5, NULL);

-- 5: minus zero
SELECT v FROM dbl WHERE k = 0;

-- 5
SELECT k, count(*) FROM dbl GROUP BY k;

-- 5
SELECT x.v, y.v FROM dbl x JOIN dbl y ON x.k = y.k;

-- 5
SELECT DISTINCT k FROM dbl;

-- 5: NaN is equal to itself here
SELECT v FROM dbl WHERE k = NULL;

-- 6: text compared with a number
SELECT v FROM txt WHERE CAST(k AS SIGNED) = 1;

-- 6: a bound between two integers
SELECT k FROM rg WHERE k > 1.5;

-- 6
SELECT k FROM rg WHERE k < 5.5 AND k >= 4.5;

-- 6
SELECT k FROM rg WHERE (k, v) > (10, 1);

-- 6
SELECT k FROM rg WHERE (k, v) <= (2, 1);

-- 6
SELECT k FROM rg WHERE k BETWEEN 4.9 AND 5.1;

-- 6
SELECT k FROM rg WHERE k > '9';

-- 6
SELECT k FROM rg WHERE k IN (2, 2.5, 20);

-- 6
SELECT k FROM rg WHERE k < 2 OR k IS NULL;

-- 6
SELECT k FROM rg WHERE NOT k >= 5;

-- 7: a recursive reference does not see the filter of the first one
WITH RECURSIVE w AS (SELECT src, dst FROM e WHERE src = 1 UNION SELECT e.src, e.dst FROM w JOIN e ON e.src = w.dst)
SELECT * FROM w;

-- 7
WITH RECURSIVE w AS (SELECT src, dst, 1 AS n FROM e WHERE src = 1 UNION ALL SELECT e.src, e.dst, n + 1 FROM w JOIN e ON e.src = w.dst WHERE n < 6)
SELECT * FROM w;

-- 7: nothing may be dropped where all columns count
SELECT count(*) FROM (SELECT * FROM t GROUP BY 1) q;

-- 8: a subquery makes a statement not single-shard
SELECT k FROM t WHERE k IN (2, 4) AND v < (SELECT avg(v) FROM t);

-- 8
SELECT k FROM t WHERE k = 2 AND EXISTS (SELECT 1 FROM b WHERE b.k = 3);

-- 8
SELECT k, (SELECT max(v) FROM b) AS m FROM t WHERE k = 2;

-- 8
SELECT k FROM t WHERE k = 2 ORDER BY v < (SELECT avg(v) FROM t), id;

-- 9: NOT IN needs all of the list
SELECT k FROM a WHERE x NOT IN (SELECT x FROM b WHERE x IS NOT NULL);

-- 9
SELECT k FROM a WHERE k NOT IN (SELECT k FROM b WHERE k IS NOT NULL);

-- 9
SELECT k FROM a WHERE k NOT IN (SELECT k FROM b);

-- 9
SELECT k FROM a WHERE k NOT IN (SELECT k FROM nothing);

-- 9: IN as a value is three-valued
SELECT a.k, a.k IN (SELECT k FROM b) AS i FROM a;

-- 9
SELECT a.k, a.k IN (SELECT k FROM b WHERE k IS NOT NULL) AS i FROM a;

-- 9
SELECT a.k, a.v > ANY (SELECT v FROM b) AS i, a.v > ALL (SELECT v FROM b WHERE v IS NOT NULL) AS j FROM a;

-- 9
SELECT k FROM a WHERE v >= ALL (SELECT v FROM b WHERE b.k = a.k);

-- 9
SELECT k FROM a WHERE (k IN (SELECT k FROM b)) IS NULL;

-- 9
SELECT k FROM a WHERE k = 1 OR k IN (SELECT k FROM c);

-- 10: keys just seen may not narrow the preserved side
SELECT a.k, b.v FROM a LEFT JOIN b ON a.x = b.x AND b.v > 3;

-- 10
SELECT a.k FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE a.x = b.x);

-- 10
SELECT a.k, a.v FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.x = a.x AND b.v > 2);

-- 11
SELECT n.name FROM n WHERE EXISTS (SELECT 1 FROM o WHERE o.c = n.c);

-- 11
SELECT n.name FROM n WHERE NOT EXISTS (SELECT 1 FROM o WHERE o.c = n.c);

-- 11
SELECT n.name, (SELECT count(*) FROM o WHERE o.c = n.c) AS k FROM n;

-- 12: copies may number ties each in its own way
SELECT count(DISTINCT o.c) <= 1 AS ok FROM o JOIN (SELECT c, row_number() OVER (ORDER BY region) AS rn FROM n) n USING (c) WHERE rn = 2;

-- 12
SELECT count(DISTINCT q.name) <= 1 AS ok FROM o, (SELECT name FROM n LIMIT 1) q;

-- 12
SELECT count(DISTINCT q.u) AS n FROM o, (SELECT uuid() AS u FROM r WHERE c = 1) q;

-- 12
SELECT count(DISTINCT z) <= 1 AS ok FROM o, (SELECT max(name) AS z FROM n) q;

-- 12
SELECT count(DISTINCT z) AS n FROM o, (SELECT group_concat(name) AS z FROM n) q;

-- 13: nothing sinks below a window or a LIMIT
SELECT a.k, q.rn FROM a JOIN (SELECT x, row_number() OVER (ORDER BY v, k) AS rn FROM b) q ON a.x = q.x;

-- 13
SELECT * FROM (SELECT k, v, id FROM t ORDER BY v, id LIMIT 10) q WHERE k = 5;

-- 13
SELECT * FROM (SELECT k, v, sum(v) OVER () AS s FROM t) q WHERE k = 5;

-- 13
SELECT * FROM (SELECT k, v, sum(v) OVER (PARTITION BY k) AS s FROM t) q WHERE k = 5;

-- 13
SELECT * FROM (SELECT k, count(*) OVER (ORDER BY id) AS n FROM t) q WHERE k IN (4, 5) AND n > 3;

-- 14: a page of unevenly spread rows
-- @ordered
SELECT v FROM far ORDER BY v LIMIT 5 OFFSET 40;

-- 14
-- @ordered
SELECT v FROM far ORDER BY v DESC LIMIT 5 OFFSET 2;

-- 15: a page at the end, and beyond it
-- @ordered
SELECT v FROM far ORDER BY v LIMIT 10 OFFSET 60;

-- 15
SELECT v FROM far ORDER BY v LIMIT 10 OFFSET 63;

-- 15
SELECT v FROM far ORDER BY v LIMIT 0;

-- 16: ids that repeat, NULL sort keys, mixed directions
-- @ordered
SELECT a.k, b.k FROM a JOIN b ON a.x = b.x ORDER BY a.v DESC, b.v ASC, a.k, b.k LIMIT 4 OFFSET 2;

-- 16
-- @ordered
SELECT DISTINCT g1 FROM t ORDER BY g1 LIMIT 2 OFFSET 1;

-- 16
-- @ordered
SELECT k, id FROM t ORDER BY k, id DESC LIMIT 4 OFFSET 1;

-- 16
-- @ordered
SELECT k, id FROM t ORDER BY k DESC, v, id LIMIT 6 OFFSET 3;

-- 17: text is ordered alike on both sides of the border
-- @ordered
SELECT s FROM t ORDER BY s LIMIT 3;

-- 17
SELECT min(s), max(s) FROM t;

-- 17
-- @ordered
SELECT s FROM t ORDER BY s COLLATE utf8mb4_unicode_ci, id LIMIT 5;

-- 17
SELECT lower(s) AS l, count(*) FROM t GROUP BY lower(s);

-- 18: longer than a prefix
SELECT count(*) FROM (SELECT 'abcd' || s AS z FROM t GROUP BY z) q;

-- 19: a CTE read twice is one set of rows
WITH x AS (SELECT * FROM t LIMIT 5) SELECT count(*) FROM x JOIN x y ON x.id = y.id;

-- 19
SELECT min(r < 0.5) IS NOT FALSE AS ok FROM (SELECT k, rand() AS r FROM t) q WHERE r < 0.5;

-- 19
SELECT count(*) FROM (SELECT k FROM t ORDER BY rand() LIMIT 3) q;

-- 19
WITH x AS (SELECT id, rand() AS r FROM t) SELECT count(*) FROM x JOIN x y ON x.id = y.id AND x.r = y.r;

-- 20: two counts of one table agree
SELECT (SELECT count(*) FROM a) AS n, (SELECT count(*) FROM a) AS m;

-- 21: literals that mean something are no parameters
SELECT g1, count(*) FROM t GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 2;

-- 21
SELECT v + 0.00 AS d FROM t;

-- 21
SELECT 1, '1', NULL, 1.0, 1.50 FROM one_row;

-- 21
SELECT a.k, b.k FROM a LEFT JOIN b ON b.k = 5 WHERE a.k = 5;

-- 21
SELECT a.k, b.k FROM a LEFT JOIN b ON b.k = 5 WHERE a.k = 7;

-- 22: an unmatched row comes once, however many physical tables the other side has
SELECT a.k, c.k FROM a LEFT JOIN c ON a.k = c.k;

-- 22
SELECT n.c, o.id FROM n LEFT JOIN o ON o.id = n.c;

-- 23: grouping sets are told apart when they are merged
SELECT g1, count(*) FROM t GROUP BY g1 WITH ROLLUP;

-- 23
SELECT g1, g2, count(*), sum(v) FROM t GROUP BY g1, g2 WITH ROLLUP;

-- 23
SELECT k, count(*) FROM nothing GROUP BY k WITH ROLLUP;

-- 23
SELECT k, count(*) FROM t GROUP BY k WITH ROLLUP;

-- 24: partial groups are not cut
SELECT g1, g2, count(*) FROM t GROUP BY g1, g2 ORDER BY g1, g2, 3 LIMIT 3;

-- 24
-- @ordered
SELECT g1, sum(v) AS s FROM t GROUP BY g1 ORDER BY s DESC LIMIT 1;

-- 24
-- @sorted 1
SELECT g1 FROM t GROUP BY g1, g2 ORDER BY g1 LIMIT 1;

-- 24
-- @ordered
SELECT DISTINCT g1 FROM t ORDER BY g1 LIMIT 2;

-- 24
SELECT id FROM t ORDER BY id LIMIT 9223372036854775807 OFFSET 3;

-- 24
SELECT count(*) FROM (SELECT DISTINCT g1 FROM t LIMIT 3) q;

-- 25: variance of nearly equal large numbers
SELECT var_samp(f), stddev_pop(f), var_pop(f) FROM t WHERE f > 1e6 AND f < 2e9;

-- 25
SELECT count(*), count(v), sum(v), bit_and(v), bit_or(v), bit_xor(v), min(v > 0), max(v > 0), max(v), min(s), std(v) FROM t WHERE k = 99;

-- 25
SELECT count(*), count(x), sum(x), avg(x), bit_and(x), max(x), stddev(x), group_concat(x) FROM nothing;

-- 25
SELECT max(v) FROM t WHERE k = 3;

-- 25
SELECT g1, max(g1), bit_and(v), bit_xor(v), max(v > 50) FROM t GROUP BY g1;

-- 25
SELECT group_concat(s ORDER BY id SEPARATOR '') FROM t;

-- 25: a final expression in HAVING
SELECT g1 FROM t GROUP BY g1 HAVING stddev_pop(v) IS NULL;

-- 25
SELECT g1, stddev_pop(v) FROM t GROUP BY g1 WITH ROLLUP HAVING stddev_pop(v) > 1;

-- 25
SELECT q.g1 FROM (SELECT g1, avg(v) AS m, var_samp(v) AS s FROM t GROUP BY g1) q WHERE q.m > 10 AND q.s IS NULL;

-- 25
SELECT g1 FROM t GROUP BY g1 ORDER BY stddev_pop(v), g1;

-- 26: a key of two columns is linked column by column, in position
SELECT t1.w, t2.w FROM t1 JOIN t2 ON t1.p = t2.q AND t1.q = t2.p;

-- 26
SELECT t1.w, t2.w FROM t1 JOIN t2 ON t1.p = t2.p AND t1.q = t2.q;

-- 26
SELECT t1.w, t2.w FROM t1 JOIN t2 ON t1.p = t2.p;

-- 26
SELECT p, count(*) FROM t1 GROUP BY p;

-- 26
SELECT q, p, count(*) FROM t1 GROUP BY q, p;

-- 26
SELECT w FROM t1 WHERE p = 1;

-- 26
SELECT w FROM t1 WHERE q = 2;

-- 26
SELECT w FROM t1 WHERE (p, q) = (1, 2) OR (q = 0 AND p IN (0, 1));

-- 27: EXCEPT with a copied arm, and NULLs on several shards
SELECT g1 FROM t EXCEPT SELECT label FROM r;

-- 27
SELECT b.k FROM a LEFT JOIN b ON a.k = b.k INTERSECT SELECT k FROM c;

-- 27
SELECT b.k FROM a LEFT JOIN b ON a.k = b.k EXCEPT SELECT k FROM c WHERE k IS NOT NULL;

-- 27
SELECT k FROM a EXCEPT ALL SELECT k FROM b;

-- 27
SELECT k FROM a INTERSECT ALL SELECT k FROM b;

-- 27
SELECT k FROM a INTERSECT SELECT p FROM t1;

-- 27
SELECT k FROM a EXCEPT SELECT k + 0e0 FROM de;

-- 27
SELECT c FROM n EXCEPT SELECT k FROM a;

-- 27
SELECT k FROM a EXCEPT SELECT c FROM n;

-- 27
SELECT k FROM a INTERSECT SELECT c FROM n;

-- 27
SELECT k FROM a UNION ALL SELECT c FROM n;

-- 27
SELECT c FROM n UNION SELECT c FROM r;

-- 27
SELECT x FROM a INTERSECT ALL SELECT x FROM b;

-- 27: an arm that is whole on one shard is not run on the others
SELECT x FROM one_row UNION ALL SELECT k FROM a;

-- 27
SELECT count(*) FROM a WHERE k = 2 UNION ALL SELECT k FROM b;

-- 27
SELECT max(v) FROM a WHERE k = 99 UNION SELECT k FROM b WHERE k = 3;

-- 27
SELECT count(*) FROM a WHERE k = 2 UNION ALL SELECT count(*) FROM b WHERE k = 3;

-- 29: a key that is NULL-extended is nowhere in particular
SELECT a.k, c.k FROM a LEFT JOIN b ON a.k = b.k JOIN c ON c.k <=> b.k;

-- 29: but = is safe
SELECT a.k, c.k FROM a LEFT JOIN b ON a.k = b.k JOIN c ON c.k = b.k;

-- 29
SELECT a.k, c.k FROM a JOIN c ON a.k <=> c.k;

-- 29
SELECT b.k, count(*) FROM a LEFT JOIN b ON a.k = b.k GROUP BY b.k;

-- 29
SELECT DISTINCT b.k FROM a LEFT JOIN b ON a.k = b.k;

-- 29
SELECT b.k, row_number() OVER (PARTITION BY b.k ORDER BY a.v, a.k) AS rn FROM a LEFT JOIN b ON a.k = b.k;

-- 30: an alias that hides a column
SELECT k % 2 AS k, count(*) FROM t GROUP BY k;

-- 30
-- @sorted 1
SELECT k % 2 AS k, id FROM t ORDER BY k, id;

-- 30
SELECT g2 AS k, count(*) FROM t GROUP BY 1;

-- 30
SELECT min(dst) AS src, count(*) FROM e GROUP BY src;

-- 30
SELECT q.k, count(*) FROM (SELECT v AS k FROM t) q GROUP BY q.k;

-- 30
SELECT v AS k FROM t WHERE k = 2;

-- 31: equality across types does not chain
SELECT a.k, n.c, b.k FROM a JOIN n ON a.k = n.c JOIN b ON b.k = n.c;

-- 31
SELECT a.k FROM a JOIN n ON a.x = n.c WHERE n.c = '1' AND a.x = 1.0;

-- 31
SELECT a.k, de.v FROM a JOIN de ON a.k = de.k WHERE de.k = 1;

-- 32: one row per outer row, gathered over all shards
SELECT a.k, (SELECT max(v) FROM o WHERE o.c = a.k) AS v FROM a;

-- 32
SELECT a.k, (SELECT sum(v) FROM b WHERE b.k = a.k) AS v FROM a;

-- 32
SELECT a.k, (SELECT v FROM b WHERE b.k = a.k ORDER BY v DESC LIMIT 1) AS v FROM a;

-- 32
SELECT a.k, (SELECT count(*) FROM b WHERE b.x = a.x) AS v FROM a;

-- 32
SELECT a.k FROM a WHERE a.v > (SELECT avg(v) FROM b WHERE b.k = a.k);

-- 33: routes of an outer join are the preserved side's
SELECT a.k, b.v FROM a LEFT JOIN b ON a.k = b.k AND b.k = 2;

-- 33
SELECT k FROM a WHERE k = 2 UNION ALL SELECT k FROM b WHERE k = 3;

-- 33
SELECT a.k FROM a WHERE k = 2 EXCEPT SELECT k FROM b WHERE k = 3;

-- 33
SELECT n.c, r.label FROM n JOIN r ON n.c = r.c;

-- 33
SELECT n.c, a.k FROM n LEFT JOIN a ON a.k = n.c AND a.k = 2;

-- 34: an index (none is used yet) must not change this
SELECT a.k, o.id FROM a LEFT JOIN o ON o.c = a.x;

-- 34
SELECT k FROM t WHERE s <> 'Ann' OR s IS NULL;

-- 35: a small preserved side comes once
SELECT n.c, a.k FROM n LEFT JOIN a ON a.x = n.c;

-- 35
SELECT one_row.x, a.k FROM one_row LEFT JOIN a ON a.x = one_row.x + 100;

-- 35
SELECT q.x, a.k FROM (SELECT 1 AS x, NULL AS y UNION ALL SELECT 77, NULL) q LEFT JOIN a ON a.x = q.x;

-- 35
SELECT q.x, q.y, a.k FROM (SELECT 1 AS x, NULL AS y UNION ALL SELECT 2, NULL) q JOIN a ON a.k = q.x;

-- 35
SELECT n.c, q.total FROM n LEFT JOIN (SELECT c, sum(v) AS total FROM o GROUP BY c) q ON q.c = n.c;

-- 36: lists are narrowed with their NULL, and only as conjuncts
SELECT k FROM t WHERE NOT k IN (1, NULL);

-- 36
SELECT k FROM t WHERE k IN (1, NULL);

-- 36
SELECT k, id FROM t WHERE v = 10 OR k IN (2, 3);

-- 36
SELECT a.k, b.k IN (2) AS i FROM a LEFT JOIN b ON a.k = b.k;

-- 36
SELECT a.k, b.k IN (2, 3) AS i, b.k NOT IN (2) AS j FROM a LEFT JOIN b ON a.x = b.x;

-- 36
SELECT k FROM t WHERE k IN (1, 2, 3, 4, 5) AND k NOT IN (3);

-- 36
SELECT k FROM t WHERE (k IN (1, 3)) = (v > 30);

-- 37: two shards on one source read their own rows (nothing moves yet)
SELECT count(*), count(DISTINCT id), sum(id) FROM t;

-- 38: equal folding as the engine does it
SELECT k FROM t WHERE 'a' = 'A' OR k = 3;

-- 38
SELECT k, 1 / 2 AS h, 7 DIV 2 AS d, -7 % 3 AS m FROM t WHERE k = 1;

-- 38
SELECT count(DISTINCT now()) AS n, count(DISTINCT current_date) AS d FROM t;

-- 38
SELECT count(*) FROM (SELECT now() AS n FROM a UNION SELECT now() FROM b) q;

-- 39: what may fail stays behind its guard
SELECT CASE WHEN a.t = 'n' THEN CAST('1' || a.x AS INTEGER) + b.x END AS z FROM a JOIN b ON a.k = b.k;

-- 39
SELECT CASE WHEN txt.k IN ('1', '01') THEN CAST(txt.k AS INTEGER) + a.v END AS z FROM txt JOIN a ON a.x = txt.v;

-- 39
SELECT a.k, b.k FROM a JOIN b ON a.x = b.x WHERE b.x <> 2 AND 10 DIV (b.x - 2) > 1;

-- 39
SELECT COALESCE(a.v, CAST(a.t AS INTEGER)) + b.v AS z FROM a JOIN b ON a.x = b.x WHERE a.v IS NOT NULL;

-- 40
-- @ordered
SELECT id FROM t ORDER BY v, id LIMIT 1;

-- 40
SELECT count(*) FROM (SELECT * FROM t LIMIT 4) q;
