-- world: members
-- What goes wrong across shards if a rule is a little too wide. `=` holds the rows, worked out by one database.

-- replicated side preserved: an unmatched copy comes once
-- = [[1, "ann"], [2, "bob"], [8, null], [7, null]]
SELECT r.id, u.name FROM r LEFT JOIN u ON r.id = u.id;

-- replicated arm of UNION ALL comes once
-- = [[1], [2], [7], [8], [1], [2], [3], [4], [5], [6]]
SELECT id FROM r UNION ALL SELECT id FROM u;

-- UNION removes duplicates across shards
-- = [[20], [7], [3], [8], [10], [null], [5], [2]]
SELECT grp FROM u UNION SELECT amt FROM m;

-- recursive UNION is deduplicated over all shards
-- = [[10], [20], [null], [30], [40]]
WITH RECURSIVE x(n) AS (SELECT grp FROM u UNION SELECT n + 10 FROM x WHERE n < 40) SELECT n FROM x;

-- inner join nested under a left join keeps its ON
-- = [[1, 101, "x"], [2, 103, "y"], [2, 103, "x"], [3, 104, "z"], [5, null, null], [4, null, null], [6, null, null]]
SELECT u.id, m.id, c.txt FROM u LEFT JOIN (m JOIN c ON m.id = c.mid) ON u.id = m.uid;

-- GROUP BY the key of the null-extended side: one NULL group
-- = [[null, 4], [5, 1]]
SELECT q.k, count(*) FROM p LEFT JOIN q ON p.k = q.k GROUP BY q.k;

-- DISTINCT of the null-extended key
-- = [[null], [5]]
SELECT DISTINCT q.k FROM p LEFT JOIN q ON p.k = q.k;

-- window not partitioned by the key
-- = [[102, 3], [101, 7], [103, 14], [106, 8], [107, 2], [104, 5], [105, null]]
SELECT id, sum(amt) OVER (PARTITION BY amt ORDER BY id) FROM m;

-- ROLLUP has one grand total
-- = [[null, 6], [null, 2], [10, 2], [20, 2]]
SELECT grp, count(*) FROM u GROUP BY ROLLUP (grp);

-- GROUPING SETS under a count
-- = [[11]]
SELECT count(*) FROM (SELECT x, y FROM g GROUP BY GROUPING SETS ((x), (y))) t;

-- DISTINCT inside a derived table
-- = [[3]]
SELECT count(*) FROM (SELECT DISTINCT grp FROM u) t;

-- count under two derived tables
-- = [[6]]
SELECT * FROM (SELECT (SELECT count(*) FROM u) AS n) t;

-- NOT IN an empty subquery
-- = [[1], [2], [3], [4], [5], [6]]
SELECT id FROM u WHERE id NOT IN (SELECT uid FROM m WHERE amt > 100);

-- AVG of a group that spans shards, group not selected
-- @ordered
-- = [[5.0], [5.5], [null]]
SELECT avg(amt) FROM m GROUP BY amt % 2 ORDER BY amt % 2 NULLS LAST;

-- aggregates inside expressions
-- = [[33, 4.571428571428571, 6]]
SELECT coalesce(sum(amt), 0) + 1, sum(amt) * 1.0 / count(*), max(amt) - min(amt) FROM m;

-- AVG(DISTINCT) and SUM(DISTINCT) off the key
-- = [[5.0, 25, 5, 7]]
SELECT avg(DISTINCT amt), sum(DISTINCT amt), count(DISTINCT amt), count(*) FROM m;

-- COUNT(DISTINCT) with GROUP BY, ORDER BY and LIMIT 1
-- @ordered
-- = [[7, 2]]
SELECT amt, count(DISTINCT uid) AS n FROM m GROUP BY amt ORDER BY n DESC, amt LIMIT 1;

-- HAVING on a count that only the whole reaches
-- = [[7, 2]]
SELECT amt, count(*) FROM m GROUP BY amt HAVING count(*) > 1;

-- no rows: COUNT is 0, SUM is NULL
-- = [[0, null, null, null]]
SELECT count(*), sum(v), min(v), avg(v) FROM nobody;

-- ORDER BY an expression that is not selected
-- @ordered
-- = [["cyd"], ["eve"], ["ann"]]
SELECT name FROM u ORDER BY grp * -1 NULLS LAST, id LIMIT 3;

-- ORDER BY an aggregate that is not selected
-- @ordered
-- = [[9], [1], [2]]
SELECT uid FROM m GROUP BY uid ORDER BY max(amt) DESC NULLS LAST, uid LIMIT 3;

-- a key inside a subquery routes the subquery only
-- = [[1], [2]]
SELECT id FROM u WHERE grp = (SELECT grp FROM u WHERE id = 1);

-- colocated tables joined on something else
-- = [[3, 102], [5, 104], [2, 107]]
SELECT u.id, m.id FROM u JOIN m ON m.amt = u.id;

-- OR with another column widens
-- = [[1], [2]]
SELECT id FROM u WHERE id = 1 OR name = 'bob';

-- a key given as text or decimal finds its shard
-- = [["cyd"], ["bob"]]
SELECT name FROM u WHERE id = '3' UNION ALL SELECT name FROM u WHERE id = 2.0;

-- correlated NOT EXISTS off the key
-- = [[102], [105], [106], [107]]
SELECT m.id FROM m WHERE NOT EXISTS (SELECT 1 FROM c WHERE c.mid = m.id);

-- EXCEPT and INTERSECT over shards
-- = [[4], [6], [5], [1], [3], [2]]
(SELECT id FROM u EXCEPT SELECT uid FROM m) UNION ALL (SELECT id FROM u INTERSECT SELECT uid FROM m);

-- a page in the middle
-- @ordered
-- = [[104], [105]]
SELECT id FROM m ORDER BY id LIMIT 2 OFFSET 3;

-- full join of colocated tables
-- = [[5, 5], [1, null], [2, null], [3, null], [4, null], [null, 9], [null, 8], [null, 7], [null, 6]]
SELECT p.k, q.k FROM p FULL JOIN q ON p.k = q.k;

-- NULL is one group over all shards
-- = [[null, 2], [10, 2], [20, 2]]
SELECT grp, count(*) FROM u GROUP BY grp;

-- ordered string_agg over shards
-- = [["fay,eve,dan,cyd,bob,ann"]]
SELECT string_agg(name, ',' ORDER BY name DESC) FROM u;

-- median and a quantile over shards
-- = [[6.0, 3.5, 7]]
SELECT median(amt), quantile_cont(amt, 0.25), quantile_disc(amt, 0.75) FROM m;

-- count of the null-extended side over a join off the key
-- = [[8, 4]]
SELECT count(*), count(c.id) FROM m LEFT JOIN c ON c.mid = m.id;

-- single, reference and split tables in one join
-- = [["a", "one", "ann"]]
SELECT s.k, r.label, u.name FROM s JOIN r ON r.id = s.v JOIN u ON u.id = r.id;

-- sum beyond 64 bits
-- = [[18446744073709549995]]
SELECT sum(v) FROM big;
