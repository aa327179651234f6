-- world: shop
-- What DuckDB's dialect has of its own; functions and types.

FROM users;

FROM users SELECT name WHERE id = 3;

FROM orders SELECT status, count(*) GROUP BY ALL;

SELECT * FROM users;

SELECT u.* FROM users u JOIN orders o ON o.uid = u.id WHERE o.status = 'void';

SELECT * EXCLUDE (name, born) FROM users;

SELECT * REPLACE (upper(name) AS name) FROM users;

SELECT * RENAME (grp AS team) FROM users WHERE id < 4;

SELECT COLUMNS('^(id|grp)$') FROM users;

SELECT COLUMNS(lambda c: c LIKE 's%') FROM users;

SELECT min(COLUMNS(['id', 'grp'])) FROM users;

SELECT sum(COLUMNS(* EXCLUDE (name, born, active))) FROM users;

SELECT id + 1 AS a, a * 2 AS b FROM users WHERE b > 20;

SELECT grp AS g, sum(score) AS s FROM users GROUP BY g HAVING s > 5;

SELECT users FROM users WHERE id = 4;

SELECT u FROM users u WHERE id IN (4, 5);

SELECT id, unnest(tags) AS tag FROM (SELECT uid AS id, tags FROM events) q;

SELECT unnest(body) FROM docs;

SELECT uid, len(tags) AS n, tags[1] AS f, tags[-1] AS l, list_contains(tags, 'red') AS r FROM events;

SELECT list_transform(tags, lambda x: upper(x)) AS t, list_filter(tags, lambda x: x <> 'x') AS f FROM events;

SELECT list_sort(tags) AS t, list_distinct(tags) AS d, array_to_string(list_sort(tags), '+') AS s FROM events;

SELECT [x * 2 FOR x IN [id, grp] IF x > 5] AS c FROM users;

SELECT id, body.a, body['b'], struct_pack(x := id, y := body.b) AS p FROM docs;

SELECT id, {'k': id, 'n': {'m': body.a}} AS s FROM docs WHERE id < 5;

SELECT id, m['x'] AS x, map_keys(m) AS k, cardinality(m) AS c FROM docs;

SELECT id, j->>'k' AS k, j->'s' AS s, json_extract_string(j, '$.s') AS t FROM docs;

SELECT j->>'k' AS k, count(*) FROM docs GROUP BY ALL;

SELECT id, u, b, iv, h, e, t, tz, f4, i1, u4, bits, nested FROM docs;

SELECT id, h + 1 AS h, u4 * 2 AS u, i1 + i1 AS i, f4 / 2 AS f FROM docs WHERE id = 3;

-- @ordered
SELECT e, id FROM docs ORDER BY e DESC NULLS LAST, id LIMIT 8;

SELECT e, count(*) FROM docs WHERE e >= 'mid' GROUP BY e;

SELECT body, count(*) FROM docs GROUP BY body;

SELECT DISTINCT m['x'] AS x, body.b FROM docs;

SELECT body.a AS a, list(id ORDER BY id) AS ids FROM docs GROUP BY ALL;

SELECT max(body), min(nested), max(u) FROM docs;

SELECT nested[1][2] AS v, flatten(nested) AS f FROM docs WHERE id BETWEEN 3 AND 6;

SELECT date_trunc('day', tz) AS d, count(*) FROM docs GROUP BY 1;

SELECT id, tz + iv AS later, t + INTERVAL 1 HOUR AS t FROM docs;

SELECT id, date_part('year', born) AS y, month(born) AS m, strftime(born, '%d.%m.%Y') AS f, born + 1 AS d, dayname(born) AS n FROM users;

SELECT date_diff('day', born, DATE '2026-01-01') AS d, age(TIMESTAMP '2026-01-01', born) AS a FROM users;

SELECT upper(name), length(name), name[1:2], name || '-' || grp, concat(name, grp), replace(name, 'a', 'o'), lpad(name, 5, '*') FROM users;

SELECT name FROM users WHERE name ILIKE 'k%' OR name SIMILAR TO '[a-c].*' OR name GLOB '*y*';

SELECT regexp_replace(name, '[aeiou]', '.', 'g') AS r, regexp_extract(name, '(.)$', 1) AS l, string_split(name, 'a') AS s FROM users;

SELECT name, CASE WHEN name < 'd' THEN 'early' WHEN name IS NULL THEN 'none' ELSE 'late' END AS c FROM users;

SELECT abs(score), round(score), ceil(score), sqrt(abs(score)), score ** 2, sign(score), score % 2 FROM users;

SELECT id, 7 / 2 AS a, 7 // 2 AS b, id / 4 AS c, -id % 5 AS d, grp::DECIMAL(6,2) / 3 AS e FROM users;

SELECT TRY_CAST(name AS INTEGER) AS a, CAST(score AS INTEGER) AS b, score::VARCHAR AS c, id::HUGEINT AS d FROM users;

SELECT COALESCE(name, 'nobody'), NULLIF(grp, 10), ifnull(score, 0), greatest(grp, id), least(grp, id) FROM users;

SELECT id FROM users WHERE active AND NOT (grp = 10) IS TRUE;

SELECT id FROM users WHERE score IS NOT DISTINCT FROM NULL;

SELECT id, name IN ('ann', 'bob', NULL) AS i, grp NOT IN (10, 20) AS n, grp BETWEEN 15 AND 30 AS b FROM users;

SELECT amt, amt * 1.1 AS a, amt / 3 AS b, round(amt, 1) AS c, amt::INTEGER AS d, amt % 7 AS m FROM orders;

SELECT sum(amt * 1.15), avg(amt * 2), sum(amt)::DOUBLE FROM orders;

SELECT md5(name), hash(name) IS NULL AS h, to_base64(encode(name)) AS b FROM users;

SELECT * FROM range(5);

SELECT u.id, r.range FROM users u, range(3) r WHERE u.id < 4;

SELECT g.d, count(o.oid) FROM generate_series(DATE '2025-01-01', DATE '2025-05-01', INTERVAL 1 MONTH) g(d) LEFT JOIN orders o ON date_trunc('month', o.placed) = g.d GROUP BY g.d;

SELECT u.id, s.x FROM users u, LATERAL (SELECT unnest(generate_series(1, u.id % 3)) AS x) s;

SELECT x FROM (SELECT unnest([1, 2, 3]) AS x) q WHERE x > 1;

PIVOT (SELECT status, uid % 2 AS r, amt FROM orders) ON status USING sum(amt) GROUP BY r;

PIVOT orders ON status IN ('paid', 'void') USING count(*) GROUP BY uid;

SELECT * FROM (PIVOT (SELECT region, amount FROM sales) ON region IN ('eu', 'us') USING sum(amount)) p;

SELECT * FROM (SELECT uid, status, amt FROM orders) PIVOT (sum(amt) FOR status IN ('paid', 'sent'));

UNPIVOT (SELECT id, grp::DOUBLE AS grp, score FROM users) ON grp, score INTO NAME k VALUE v;

SELECT * FROM (SELECT i, j, v FROM cells) UNPIVOT (x FOR axis IN (i, j));

SELECT 'it''s' AS s, "name" AS "Odd Name", 1e3 AS f, 1_000 AS u FROM users WHERE id = 2;

SELECT id AS "select", grp AS "Ünï" FROM users WHERE id = 2;

SELECT ID, Name FROM USERS WHERE Id = 2;

SELECT count(*), sum(id) + 1, upper('x'), 1 + 1, NULL, 'lit' FROM users;

SELECT u.id, count(*), max(o.amt) - 1 FROM users u JOIN orders o ON u.id = o.uid GROUP BY u.id;

SELECT CASE WHEN id > 10 THEN 1 END, -id, NOT active, id IS NULL, (id), id::VARCHAR FROM users;

SELECT now() IS NOT NULL AS n, current_date > DATE '2020-01-01' AS d FROM users WHERE id = 1;

SELECT typeof(amt), typeof(sum(amt) OVER ()), typeof(placed) FROM orders LIMIT 1;

SELECT DISTINCT typeof(amt * 2), typeof(uid), typeof(status) FROM orders;

SELECT id FROM users WHERE random() < 2;

SELECT count(DISTINCT uuid()) FROM users;

SELECT greatest(1, 2), [1, 2] || [3], 'a' < 'B', 5 BETWEEN 1 AND 9;

SELECT x.a FROM (SELECT struct_pack(a := id) AS x FROM users) q WHERE x.a < 4;

SELECT id, list_reduce([1, 2, id], lambda a, b: a + b) AS r FROM users WHERE id IS NOT NULL;

SELECT name, ascii(name), chr(97), reverse(name), repeat('ab', 2), instr(name, 'n'), starts_with(name, 'a') FROM users;

SELECT printf('%d-%s', grp, name) AS p, format('{}:{}', grp, name) AS f FROM users;

SELECT time_bucket(INTERVAL '7 days', placed) AS w, count(*) FROM orders GROUP BY w;

SELECT epoch(placed) AS e, last_day(placed) AS l, make_date(2025, 1, 2) AS d, to_timestamp(0) AS z FROM orders WHERE uid = 4;

SELECT bit_count(grp) AS b, grp & 6 AS a, grp | 1 AS o, grp << 1 AS s, xor(grp, 3) AS x FROM users;
