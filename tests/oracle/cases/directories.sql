-- world: members
-- Statements about the tenant of a DIRECTORY, whatever its type is. X and Y are the first and last member.

SELECT * FROM u;

SELECT tenant FROM u;

SELECT count(*), count(tenant), count(DISTINCT tenant), min(tenant), max(tenant) FROM u;

SELECT tenant, count(*) FROM u GROUP BY tenant;

SELECT tenant, grp, sum(id) FROM u GROUP BY tenant, grp;

SELECT grp, count(DISTINCT tenant) FROM u GROUP BY grp;

SELECT grp, min(tenant), max(tenant) FROM u GROUP BY grp;

SELECT grp, list(tenant ORDER BY tenant, id) FROM u GROUP BY grp;

SELECT arg_max(tenant, id), arg_min(id, tenant || '') FROM u WHERE id < 9;

SELECT DISTINCT tenant FROM m ORDER BY tenant;

SELECT DISTINCT tenant FROM m ORDER BY tenant DESC LIMIT 2;

SELECT id, tenant FROM m ORDER BY tenant, id;

SELECT id, tenant FROM m ORDER BY tenant DESC, id DESC LIMIT 3 OFFSET 1;

SELECT id FROM m ORDER BY tenant, id LIMIT 4;

SELECT tenant, id FROM m WHERE tenant = 'X';

SELECT tenant, id FROM m WHERE 'X' = tenant AND id > 101;

SELECT tenant, id FROM m WHERE tenant <> 'X';

SELECT tenant, id FROM m WHERE tenant IN ('X', 'Y');

SELECT tenant, id FROM m WHERE tenant NOT IN ('X', 'Y');

SELECT tenant, id FROM m WHERE tenant > 'X';

SELECT tenant, id FROM m WHERE tenant >= 'X' AND tenant < 'Y' OR id = 103;

SELECT tenant, id FROM m WHERE tenant BETWEEN 'Y' AND 'X';

SELECT tenant, id FROM m WHERE tenant BETWEEN 'X' AND 'Y';

SELECT tenant, id FROM m WHERE tenant IS NULL;

SELECT tenant, id FROM m WHERE tenant IS DISTINCT FROM 'X';

SELECT tenant, id FROM m WHERE tenant IS NOT DISTINCT FROM 'X';

SELECT tenant, id FROM m WHERE NOT (tenant = 'X' AND id < 103);

SELECT tenant, id FROM m WHERE (tenant = 'X' AND id < 103) OR (tenant = 'Y' AND id > 103);

SELECT tenant, id FROM m WHERE tenant = NULL;

SELECT tenant, id FROM m WHERE tenant IN ('X', NULL);

SELECT tenant, id FROM m WHERE tenant NOT IN ('X', NULL);

SELECT tenant, id FROM m WHERE CAST(tenant AS VARCHAR) LIKE '%1%';

SELECT tenant, id FROM m WHERE CAST(tenant AS VARCHAR) = 'X';

SELECT tenant, id FROM m WHERE upper(CAST(tenant AS VARCHAR)) = upper('X');

SELECT tenant, id FROM m WHERE length(CAST(tenant AS VARCHAR)) % 2 = 0;

SELECT tenant, id FROM m WHERE CASE WHEN tenant = 'X' THEN id > 102 ELSE id < 104 END;

SELECT CASE WHEN tenant = 'X' THEN 'mine' ELSE 'other' END AS whose, count(*) FROM m GROUP BY 1;

SELECT coalesce(tenant, 'X'), nullif(tenant, 'X') FROM m;

SELECT CAST(tenant AS VARCHAR) || '/' || id FROM m;

SELECT tenant = 'X', count(*) FROM m GROUP BY ALL;

SELECT tenant, count(*) FROM m GROUP BY tenant HAVING tenant > 'X';

SELECT tenant, count(*) FROM m GROUP BY tenant HAVING count(*) > 1;

SELECT tenant, uid, count(*) FROM m GROUP BY ROLLUP (tenant, uid);

SELECT tenant, uid, count(*), grouping(tenant) FROM m GROUP BY CUBE (tenant, uid);

SELECT tenant, row_number() OVER (PARTITION BY tenant ORDER BY id) FROM m;

SELECT id, rank() OVER (ORDER BY tenant), dense_rank() OVER (ORDER BY tenant DESC) FROM m;

SELECT id, lag(tenant) OVER (ORDER BY id), first_value(tenant) OVER (PARTITION BY uid ORDER BY id) FROM m;

SELECT id, sum(amt) OVER (PARTITION BY tenant) FROM m QUALIFY row_number() OVER (PARTITION BY tenant ORDER BY id DESC) = 1;

SELECT DISTINCT ON (tenant) tenant, id FROM m ORDER BY tenant, id DESC;

SELECT a.id, b.id FROM m a JOIN m b ON a.tenant = b.tenant AND a.id < b.id;

SELECT a.id, b.id FROM m a JOIN m b ON a.tenant < b.tenant;

SELECT a.id, b.id FROM m a JOIN m b ON a.tenant <> b.tenant AND a.uid = b.uid;

SELECT * FROM u JOIN m USING (tenant);

SELECT * FROM u LEFT JOIN m USING (tenant, id);

SELECT u.tenant, m.tenant, u.id, m.id FROM u FULL JOIN m ON u.tenant = m.tenant AND u.id = m.uid;

SELECT tenant, u.id, m.id FROM u FULL JOIN m USING (tenant) WHERE u.id = m.uid OR m.uid IS NULL;

SELECT * FROM u NATURAL JOIN nobody;

SELECT * FROM u NATURAL LEFT JOIN nobody;

SELECT u.id, m.id FROM u JOIN m ON u.id = m.uid WHERE u.tenant = 'X';

SELECT u.id, m.id FROM u JOIN m ON u.id = m.uid AND u.tenant = m.tenant WHERE m.tenant = 'X';

SELECT u.id, m.id FROM u LEFT JOIN m ON u.id = m.uid AND m.tenant = 'X';

SELECT u.id, m.id FROM u LEFT JOIN m ON u.id = m.uid AND u.tenant = 'X';

SELECT u.id, m.id FROM u LEFT JOIN m ON u.id = m.uid WHERE m.tenant = 'X' OR m.tenant IS NULL;

SELECT u.tenant, u.id, r.label FROM u LEFT JOIN r ON u.id = r.id;

SELECT r.id, u.tenant FROM r LEFT JOIN u ON u.id = r.id;

SELECT r.id, u.tenant FROM r LEFT JOIN u ON u.id = r.id AND u.tenant = 'X';

SELECT s.k, m.tenant FROM s LEFT JOIN m ON s.v = m.id - 0;

SELECT * FROM u SEMI JOIN m ON u.tenant = m.tenant AND u.id = m.uid;

SELECT * FROM u ANTI JOIN m ON u.tenant = m.tenant;

SELECT * FROM u WHERE tenant IN (SELECT tenant FROM m WHERE amt > 5);

SELECT * FROM u WHERE tenant NOT IN (SELECT tenant FROM m WHERE amt > 5);

SELECT * FROM u WHERE tenant IN (SELECT tenant FROM nobody);

SELECT * FROM u WHERE tenant NOT IN (SELECT tenant FROM nobody);

SELECT * FROM u WHERE EXISTS (SELECT 1 FROM m WHERE m.tenant = u.tenant AND m.uid = u.id);

SELECT * FROM u WHERE NOT EXISTS (SELECT 1 FROM m WHERE m.tenant = u.tenant);

SELECT * FROM u WHERE tenant = (SELECT max(tenant) FROM m);

SELECT * FROM u WHERE tenant > (SELECT min(tenant) FROM m);

SELECT * FROM u WHERE tenant = (SELECT tenant FROM m WHERE id = 103);

SELECT * FROM u WHERE tenant >= ALL (SELECT tenant FROM m);

SELECT * FROM u WHERE tenant = ANY (SELECT tenant FROM m WHERE amt = 7);

SELECT id, (SELECT count(*) FROM m WHERE m.tenant = u.tenant) FROM u;

SELECT id, (SELECT max(m.id) FROM m WHERE m.tenant <> u.tenant) FROM u;

SELECT tenant, (SELECT string_agg(m.id, ',' ORDER BY m.id) FROM m WHERE m.tenant = u.tenant AND m.uid = u.id) FROM u;

SELECT u.id, q.top FROM u, LATERAL (SELECT max(amt) AS top FROM m WHERE m.tenant = u.tenant) q;

SELECT u.id, q.id FROM u LEFT JOIN LATERAL (SELECT id FROM m WHERE m.tenant = u.tenant ORDER BY id LIMIT 1) q ON true;

SELECT tenant FROM u UNION SELECT tenant FROM m;

SELECT tenant FROM u UNION ALL SELECT tenant FROM c;

SELECT tenant FROM u EXCEPT SELECT tenant FROM m WHERE amt = 7;

SELECT tenant FROM u INTERSECT SELECT tenant FROM e;

SELECT tenant, 1 FROM u WHERE tenant = 'X' UNION ALL SELECT tenant, 2 FROM m WHERE tenant = 'Y';

SELECT * FROM (SELECT tenant, id FROM u UNION ALL SELECT tenant, id FROM m) q WHERE tenant = 'X';

WITH q AS (SELECT tenant, max(id) AS top FROM m GROUP BY tenant) SELECT u.id, q.top FROM u JOIN q USING (tenant);

WITH q AS (SELECT tenant, max(id) AS top FROM m GROUP BY tenant) SELECT a.tenant, b.top FROM q a JOIN q b ON a.tenant = b.tenant;

WITH q AS (SELECT tenant AS t FROM u WHERE tenant = 'X') SELECT count(*) FROM q JOIN m ON m.tenant = q.t;

WITH RECURSIVE w AS (SELECT a, b, tenant FROM e WHERE a = 1 UNION SELECT e.a, e.b, e.tenant FROM e JOIN w ON e.a = w.b) SELECT * FROM w;

SELECT * FROM every_u WHERE tenant = 'X';

SELECT * FROM per_tenant;

SELECT * FROM per_tenant WHERE tenant <> 'X' AND n > 0;

SELECT t, count(*), sum(amt) FROM um GROUP BY t;

SELECT p.n, u.id FROM per_tenant p JOIN u USING (tenant);

SELECT * FROM (VALUES ('X'), ('Y')) v(t) LEFT JOIN u ON CAST(u.tenant AS VARCHAR) = v.t;

SELECT u.* FROM u JOIN (SELECT DISTINCT tenant FROM m WHERE id IN (101, 104)) q USING (tenant);

SELECT count(*) FROM u, m, c WHERE u.tenant = m.tenant AND m.tenant = c.tenant;

SELECT count(*) FROM u, m, c WHERE u.tenant = m.tenant AND u.tenant = 'X' AND c.id = u.id;

SELECT u.tenant, count(DISTINCT m.uid), sum(DISTINCT m.amt) FROM u JOIN m USING (tenant) GROUP BY u.tenant;

SELECT count(*) FILTER (tenant = 'X'), sum(id) FILTER (WHERE tenant <> 'X') FROM u;

SELECT tenant, count(*) FROM nobody GROUP BY tenant;

SELECT count(*), max(tenant) FROM nobody;

SELECT * FROM nobody WHERE tenant = 'X';

SELECT tenant, id, name FROM u WHERE tenant = 'X' ORDER BY id LIMIT 1;

SELECT tenant AS id, id AS tenant FROM u WHERE tenant = 'X';

SELECT x.tenant FROM u AS x(id, name, grp, tenant) WHERE x.tenant = 'X';

SELECT q.b FROM (SELECT tenant AS b FROM u) q WHERE q.b = 'X';

SELECT struct_pack(t := tenant, i := id) FROM u;

SELECT unnest([id, id + 1]), tenant FROM u WHERE tenant = 'X';

SELECT COLUMNS('tenant|id') FROM u;

SELECT * EXCLUDE (tenant) FROM u;

SELECT * REPLACE (tenant || '' AS tenant) FROM u;

SELECT tenant FROM u WHERE random() < 2;

SELECT hash(tenant) = hash(tenant), typeof(tenant) FROM u;

SELECT max(tenant) OVER (), min(tenant) OVER (PARTITION BY grp) FROM u;

SELECT grp, mode(tenant) IS NOT NULL, any_value(tenant) IS NOT NULL FROM u GROUP BY grp;

SELECT approx_count_distinct(tenant) > 0 FROM u;
