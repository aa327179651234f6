-- world: members
-- The cases of members.sql that MySQL has words for, in these.

-- replicated side preserved: an unmatched copy comes once
SELECT r.id, u.name FROM r LEFT JOIN u ON r.id = u.id;

-- replicated arm of UNION ALL comes once
SELECT id FROM r UNION ALL SELECT id FROM u;

-- UNION removes duplicates across shards
SELECT grp FROM u UNION SELECT amt FROM m;

-- recursive UNION is deduplicated over all shards
WITH RECURSIVE x(n) AS (SELECT grp FROM u UNION SELECT n + 10 FROM x WHERE n < 40) SELECT n FROM x;

-- inner join nested under a left join keeps its ON
SELECT u.id, m.id, c.txt FROM u LEFT JOIN (m JOIN c ON m.id = c.mid) ON u.id = m.uid;

-- GROUP BY the key of the null-extended side: one NULL group
SELECT q.k, count(*) FROM p LEFT JOIN q ON p.k = q.k GROUP BY q.k;

-- DISTINCT of the null-extended key
SELECT DISTINCT q.k FROM p LEFT JOIN q ON p.k = q.k;

-- window not partitioned by the key
SELECT id, sum(amt) OVER (PARTITION BY amt ORDER BY id) FROM m;

-- ROLLUP has one grand total
SELECT grp, count(*) FROM u GROUP BY grp WITH ROLLUP;

-- DISTINCT inside a derived table
SELECT count(*) FROM (SELECT DISTINCT grp FROM u) t;

-- count under two derived tables
SELECT * FROM (SELECT (SELECT count(*) FROM u) AS n) t;

-- NOT IN an empty subquery
SELECT id FROM u WHERE id NOT IN (SELECT uid FROM m WHERE amt > 100);

-- AVG of a group that spans shards, group not selected
-- @ordered
SELECT avg(amt) FROM m GROUP BY amt % 2 ORDER BY amt % 2;

-- aggregates inside expressions
SELECT coalesce(sum(amt), 0) + 1, sum(amt) * 1.0 / count(*), max(amt) - min(amt) FROM m;

-- AVG(DISTINCT) and SUM(DISTINCT) off the key
SELECT avg(DISTINCT amt), sum(DISTINCT amt), count(DISTINCT amt), count(*) FROM m;

-- COUNT(DISTINCT) with GROUP BY, ORDER BY and LIMIT 1
-- @ordered
SELECT amt, count(DISTINCT uid) AS n FROM m GROUP BY amt ORDER BY n DESC, amt LIMIT 1;

-- HAVING on a count that only the whole reaches
SELECT amt, count(*) FROM m GROUP BY amt HAVING count(*) > 1;

-- no rows: COUNT is 0, SUM is NULL
SELECT count(*), sum(v), min(v), avg(v) FROM nobody;

-- ORDER BY an expression that is not selected
-- @ordered
SELECT name FROM u ORDER BY grp * -1, id LIMIT 3;

-- ORDER BY an aggregate that is not selected
-- @ordered
SELECT uid FROM m GROUP BY uid ORDER BY max(amt) DESC, uid LIMIT 3;

-- a key inside a subquery routes the subquery only
SELECT id FROM u WHERE grp = (SELECT grp FROM u WHERE id = 1);

-- colocated tables joined on something else
SELECT u.id, m.id FROM u JOIN m ON m.amt = u.id;

-- OR with another column widens
SELECT id FROM u WHERE id = 1 OR name = 'bob';

-- a key given as text or decimal finds its shard
SELECT name FROM u WHERE id = '3' UNION ALL SELECT name FROM u WHERE id = 2.0;

-- correlated NOT EXISTS off the key
SELECT m.id FROM m WHERE NOT EXISTS (SELECT 1 FROM c WHERE c.mid = m.id);

-- EXCEPT and INTERSECT over shards
(SELECT id FROM u EXCEPT SELECT uid FROM m) UNION ALL (SELECT id FROM u INTERSECT SELECT uid FROM m);

-- a page in the middle
-- @ordered
SELECT id FROM m ORDER BY id LIMIT 2 OFFSET 3;

-- NULL is one group over all shards
SELECT grp, count(*) FROM u GROUP BY grp;

-- ordered string_agg over shards
SELECT group_concat(name ORDER BY name DESC) FROM u;

-- median and a quantile over shards
SELECT avg(amt), std(amt), bit_xor(amt) FROM m;

-- count of the null-extended side over a join off the key
SELECT count(*), count(c.id) FROM m LEFT JOIN c ON c.mid = m.id;

-- single, reference and split tables in one join
SELECT s.k, r.label, u.name FROM s JOIN r ON r.id = s.v JOIN u ON u.id = r.id;

-- sum beyond 64 bits
SELECT sum(v) FROM big;
