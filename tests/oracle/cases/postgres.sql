-- Filters on the shard key, texts in quotes and numbers as keys
SELECT count(*) FROM t
SELECT * FROM r
SELECT id, name FROM t WHERE id = 7
SELECT id, name FROM t WHERE id = '7'
SELECT id FROM t WHERE id IN (1, 2, 3, 4) ORDER BY id
SELECT id FROM t WHERE id IN (1, 2.5, 3)
SELECT id FROM t WHERE id = 2.0
SELECT id FROM t WHERE id = 1e1
SELECT id FROM t WHERE id BETWEEN 3 AND 9 ORDER BY id DESC
SELECT id FROM t WHERE id BETWEEN SYMMETRIC 9 AND 3 ORDER BY id
SELECT id FROM t WHERE NOT id > 5 ORDER BY 1
SELECT id FROM t WHERE id = 5 OR id = 6 OR name = 'a'
SELECT id FROM t WHERE (id, k) IN ((1, 1), (2, 3), (3, 5))
SELECT id FROM t WHERE (id, k) > (30, 2)
SELECT id FROM t WHERE id = ANY ('{1,2,3}') ORDER BY id
SELECT id FROM t WHERE id = ANY (ARRAY[4, 5]) ORDER BY id
SELECT id FROM t WHERE id <> ALL (ARRAY[4, 5]) AND id < 9 ORDER BY id
SELECT name, count(*) FROM p WHERE name = 'a' GROUP BY name
SELECT name, z FROM p WHERE name IN ('a', 'é', '05')
SELECT name, z FROM p WHERE name > 'a'
SELECT name, z FROM p WHERE name LIKE 'a%'
SELECT name, z FROM p WHERE name IS NULL
SELECT name, z FROM p WHERE name IS DISTINCT FROM 'a'
SELECT name, z FROM p WHERE name IS NOT DISTINCT FROM NULL
-- NULLs first and last
SELECT k, count(*) FROM t GROUP BY k ORDER BY k
SELECT k, count(*) FROM t GROUP BY k ORDER BY k DESC
SELECT k, count(*) FROM t GROUP BY k ORDER BY k NULLS FIRST
SELECT k, count(*) FROM t GROUP BY k ORDER BY k DESC NULLS LAST
-- Collations: bytes, ICU, one that ignores case; CHAR's blanks
SELECT name FROM t ORDER BY name
SELECT name FROM t ORDER BY name DESC LIMIT 5
SELECT name, id FROM t ORDER BY name NULLS FIRST, id LIMIT 7 OFFSET 2
SELECT name, id FROM t ORDER BY lower(name), id LIMIT 7
SELECT name COLLATE "en-x-icu" FROM t ORDER BY 1
SELECT name FROM t ORDER BY name COLLATE "C" DESC
SELECT title FROM t ORDER BY title
SELECT title, id FROM t ORDER BY title DESC, id LIMIT 9
SELECT title FROM t ORDER BY title COLLATE "C"
SELECT title, count(*) FROM t GROUP BY title ORDER BY title
SELECT min(title), max(title), min(name), max(name) FROM t
SELECT min(title COLLATE "C"), max(title COLLATE "C") FROM t
SELECT title FROM t WHERE title < 'b' ORDER BY title
SELECT title FROM t WHERE title BETWEEN 'b' AND 'd' COLLATE "C" ORDER BY id
SELECT id FROM t WHERE email = 'ANN@X' ORDER BY id
SELECT id FROM t WHERE email IN ('ann@x', 'BOB@x') ORDER BY id
SELECT lower(email), count(*) FROM t WHERE email COLLATE "C" = 'ann@x' GROUP BY 1
SELECT count(DISTINCT email) FROM t
SELECT count(*) FROM (SELECT email FROM t GROUP BY email) q
SELECT count(*) FROM (SELECT DISTINCT email FROM t) q
SELECT count(*) FROM (SELECT email FROM t UNION SELECT email FROM t) q
SELECT count(*) FROM t a JOIN t b ON a.email = b.email
SELECT count(*), sum(id) FROM t GROUP BY email ORDER BY 1, 2
SELECT rank() OVER (ORDER BY email), id FROM t ORDER BY 1, 2
SELECT id, code, code || '|', length(code) FROM t WHERE code = 'a' ORDER BY id
SELECT code, count(*) FROM t GROUP BY code ORDER BY code
SELECT id FROM t WHERE code = 'a   ' AND code <> 'b' ORDER BY id
SELECT DISTINCT code FROM t WHERE code LIKE 'a%'
-- LIKE, ILIKE, SIMILAR TO, regular expressions, booleans
SELECT id FROM t WHERE name ILIKE 'A%' ORDER BY id
SELECT id FROM t WHERE name NOT ILIKE 'a%' ORDER BY id
SELECT id FROM t WHERE name LIKE 'a\_%' ORDER BY id
SELECT id FROM t WHERE name LIKE 'a#%%' ESCAPE '#' ORDER BY id
SELECT id FROM t WHERE name SIMILAR TO '(a|b)%' ORDER BY id
SELECT id FROM t WHERE name NOT SIMILAR TO '[A-Z]' ORDER BY id
SELECT id FROM t WHERE name ~ '^[ab]' ORDER BY id
SELECT id FROM t WHERE name ~* '^B' ORDER BY id
SELECT id FROM t WHERE name !~ 'b$' ORDER BY id
SELECT id FROM t WHERE name !~* 'B' ORDER BY id
SELECT id, name ~~ 'a%', name !~~ 'a%', name ~~* 'A', name !~~* 'A' FROM t ORDER BY id LIMIT 9
SELECT name ^@ 'a', starts_with(name, 'a') FROM t WHERE id < 9 ORDER BY id
SELECT name NOT LIKE 'a%' IS NULL, (name IN ('a')) IS NOT TRUE FROM t WHERE id < 9 ORDER BY id
SELECT id FROM t WHERE name IS NULL ORDER BY id
SELECT id FROM t WHERE name ISNULL OR k NOTNULL ORDER BY id
SELECT id FROM t WHERE b ORDER BY id
SELECT id FROM t WHERE b IS NOT TRUE ORDER BY id
SELECT id FROM t WHERE b IS UNKNOWN ORDER BY id
SELECT b, count(*), bool_and(k > 0), bool_or(k > 2), every(k IS NULL) FROM t GROUP BY b ORDER BY b
SELECT b AND k > 1, b OR NULL, NOT b, b = true, b <> 'f' FROM t ORDER BY id LIMIT 20
SELECT max(b::int), min(b::text), count(b) FROM t
-- Division, operators, rounding
SELECT 7 / 2, -7 / 2, 7 % -3, -7 % 3, 7 / 2.0, 7.0 / 3, 2 ^ 10, 2 ^ 0.5, 1 / 3::float8
SELECT id / 7, k / 2, k % 2, price / 3, qty / 7, f / 3, r / 3, s / 2, big / 3 FROM t ORDER BY id LIMIT 20
SELECT div(id, 7), mod(id, 7), id::numeric / 7, abs(k), sign(price), k * 1.5 FROM t ORDER BY id LIMIT 20
SELECT id & 3, id | 8, id # 5, ~id, id << 2, id >> 1 FROM t ORDER BY id LIMIT 9
SELECT -id ^ 2, 2 * 3 ^ 2, 2 ^ 3 ^ 2, (-2) ^ 2 FROM t WHERE id = 3
SELECT round(price), round(qty, 2), trunc(price, 1), ceil(price), floor(qty), round(f), round(f::numeric, 1) FROM t ORDER BY id LIMIT 15
-- Aggregates: types, scales, NaN, none, FILTER, DISTINCT, HAVING
SELECT sum(k), sum(s), sum(big), sum(price), sum(qty), sum(id::bigint) FROM t WHERE qty <> 'NaN'
SELECT sum(f), sum(r), avg(f), avg(r) FROM t WHERE f < 1e200
SELECT avg(k), avg(s), avg(big), avg(price), avg(qty) FROM t WHERE qty <> 'NaN'
SELECT avg(k) / 3, sum(price) / count(*), sum(k) * 1.0 / count(k) FROM t
SELECT sum(qty), avg(qty), max(qty), min(qty) FROM t
SELECT sum(f), max(f), min(f) FROM t
SELECT name, sum(price), avg(price), count(price), min(price), max(price) FROM t GROUP BY name ORDER BY name
SELECT k, avg(qty), sum(qty) FROM t WHERE qty < 100 GROUP BY k ORDER BY k
SELECT var_pop(k), var_samp(k), variance(price), var_pop(qty) FROM t WHERE qty < 100
SELECT stddev(k), stddev_pop(price), stddev_samp(s) FROM t
SELECT k, var_samp(id), stddev(id) FROM t GROUP BY k ORDER BY k
SELECT variance(f), stddev(f), corr(f, r), covar_pop(f, r), regr_slope(f, r), regr_count(f, r) FROM t WHERE f < 1e200
SELECT var_samp(id) FROM t WHERE id = 3
SELECT bit_and(id), bit_or(id), bit_xor(id) FROM t
SELECT count(*), count(k), count(DISTINCT k), count(DISTINCT (k, b)), sum(DISTINCT k), avg(DISTINCT k) FROM t
SELECT b, count(DISTINCT name), max(DISTINCT name) FROM t GROUP BY b ORDER BY b
SELECT count(*) FILTER (WHERE k > 1), sum(price) FILTER (WHERE b), avg(k) FILTER (WHERE name = 'a') FROM t
SELECT count(DISTINCT k) FILTER (WHERE b), min(d) FILTER (WHERE k = 99) FROM t
SELECT count(*), sum(k), avg(k), min(name), max(at), bool_and(b) FROM t WHERE false
SELECT count(*) FROM t WHERE id = 1000
SELECT k, count(*) FROM t WHERE false GROUP BY k
SELECT sum(k) FROM t HAVING count(*) > 1
SELECT k, count(*) AS n FROM t GROUP BY k HAVING count(*) > 5 ORDER BY n, k
SELECT k, count(*) FROM t GROUP BY 1 HAVING max(price) > 2 ORDER BY 2 DESC, 1
SELECT k + 1 AS kk, count(*) FROM t GROUP BY kk ORDER BY kk
SELECT k % 2, count(*) FROM t GROUP BY k % 2 ORDER BY k % 2
SELECT lower(name) AS n, count(*) FROM t GROUP BY lower(name) ORDER BY n
SELECT CASE WHEN k > 2 THEN 'big' ELSE 'small' END AS size, count(*) FROM t GROUP BY size ORDER BY size
SELECT count(*) FROM t GROUP BY ()
-- ROLLUP, CUBE, GROUPING SETS
SELECT k, b, count(*) FROM t GROUP BY ROLLUP (k, b) ORDER BY k, b, 3
SELECT k, b, grouping(k, b), count(*), sum(price) FROM t GROUP BY CUBE (k, b) ORDER BY 3, k, b
SELECT k, b, count(*) FROM t GROUP BY GROUPING SETS ((k), (b), ()) ORDER BY k, b, 3
SELECT k, b, name, count(*) FROM t GROUP BY k, ROLLUP (b, name) ORDER BY 1, 2, 3, 4
SELECT k, sum(id) FROM t GROUP BY ROLLUP (k) HAVING grouping(k) = 0 ORDER BY k
SELECT coalesce(k::text, 'all'), count(DISTINCT name) FROM t GROUP BY ROLLUP (k) ORDER BY 1, 2
-- Ordered aggregates: string_agg, array_agg, json_agg, percentiles
SELECT string_agg(name, ',' ORDER BY id) FROM t
SELECT k, string_agg(name, '-' ORDER BY name DESC, id) FROM t GROUP BY k ORDER BY k
SELECT string_agg(DISTINCT name, ',' ORDER BY name) FROM t
SELECT array_agg(id ORDER BY id DESC) FROM t WHERE id < 9
SELECT k, array_agg(name ORDER BY id) FROM t GROUP BY k ORDER BY k
SELECT array_agg(DISTINCT k ORDER BY k NULLS FIRST) FROM t
SELECT array_length(array_agg(tags ORDER BY id), 1) FROM t WHERE tags = ARRAY['x', 'y']
SELECT json_agg(k ORDER BY id) FROM t WHERE id < 6
SELECT jsonb_agg(jsonb_build_object('id', id, 'n', name) ORDER BY id) FROM t WHERE id < 4
SELECT json_object_agg(id, name ORDER BY id), jsonb_object_agg(id, k) FROM t WHERE id < 4
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY f), percentile_disc(0.25) WITHIN GROUP (ORDER BY k) FROM t WHERE f < 1e10
SELECT k, percentile_cont(0.5) WITHIN GROUP (ORDER BY id) FROM t GROUP BY k ORDER BY k
SELECT percentile_cont(ARRAY[0.25, 0.75]) WITHIN GROUP (ORDER BY id) FROM t
SELECT mode() WITHIN GROUP (ORDER BY b) FROM t
SELECT rank(3) WITHIN GROUP (ORDER BY k), dense_rank(3) WITHIN GROUP (ORDER BY k) FROM t
-- DISTINCT and DISTINCT ON
SELECT DISTINCT k FROM t ORDER BY k
SELECT DISTINCT k, b FROM t ORDER BY k, b
SELECT DISTINCT ON (k) k, id FROM t ORDER BY k, id
SELECT DISTINCT ON (k, b) k, b, id FROM t ORDER BY k, b DESC, id DESC
SELECT DISTINCT ON (lower(name)) lower(name), id FROM t ORDER BY lower(name), id
SELECT count(*) FROM (SELECT DISTINCT qty FROM t) q
SELECT DISTINCT qty::float8 FROM t
SELECT count(*) FROM (SELECT DISTINCT tags, nums FROM t) q
-- Dates, times, intervals, time zones
SELECT date_trunc('month', d), date_trunc('hour', at), date_trunc('year', tz), count(*) FROM t GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
SELECT extract(year FROM d), extract(epoch FROM at), extract(dow FROM d), date_part('day', at) FROM t ORDER BY id LIMIT 20
SELECT extract(epoch FROM iv), date_part('minute', iv), extract(timezone FROM tz) FROM t ORDER BY id LIMIT 20
SELECT id, interval '1' hour, interval '1-2' year to month, ARRAY[interval '3' day], iv FROM t WHERE id < 5 ORDER BY id
SELECT d + 1, d - 30, d + interval '1 month', d - date '2024-01-01', at - interval '1 day 02:03:04.5' FROM t ORDER BY id LIMIT 20
SELECT at - d, tz - interval '2 days 03:00', at + iv, tz + iv, iv * 2, iv / 3, -iv FROM t ORDER BY id LIMIT 20
SELECT sum(iv), avg(iv), min(iv), max(iv) FROM t
SELECT k, sum(iv), avg(iv) FROM t GROUP BY k ORDER BY k
SELECT interval '1' day, interval '1 year 2 mons', interval '36' hour, INTERVAL '1-2' YEAR TO MONTH, interval 'P1DT2H'
SELECT min(d), max(d), min(at), max(tz), min(clock), max(clock) FROM t
SELECT id FROM t WHERE d = '2024-01-31' ORDER BY id
SELECT id FROM t WHERE d >= date '2024-01-31' AND at < '2024-02-29 00:00:01' ORDER BY id
SELECT id FROM t WHERE tz > timestamptz '2024-03-10 10:00+02' ORDER BY id
SELECT id FROM t WHERE d > at ORDER BY id
SELECT id FROM t WHERE (d, d + 5) OVERLAPS (date '2024-01-30', date '2024-02-01') ORDER BY id
SELECT to_char(at, 'YYYY-MM-DD HH24:MI:SS.MS'), to_char(qty, 'FM999999.00'), to_char(tz, 'Day') FROM t ORDER BY id LIMIT 20
SELECT to_date('2024-02-03', 'YYYY-MM-DD'), to_timestamp(0), make_date(2024, 2, 29), make_interval(days => 10, hours => 3)
SELECT tz AT TIME ZONE 'Asia/Tokyo', at AT TIME ZONE 'UTC', timezone('Europe/Paris', tz) FROM t ORDER BY id LIMIT 20
SELECT age(at, timestamp '2020-01-01'), justify_days(iv), date_bin('15 minutes', at, timestamp '2000-01-01') FROM t ORDER BY id LIMIT 20
SELECT at::date, at::time, d::timestamp, tz::date, clock + interval '1 hour' FROM t ORDER BY id LIMIT 20
SELECT count(*) FROM t WHERE at < now() AND tz < current_timestamp AND d < current_date
SELECT now() = current_timestamp, localtimestamp = now()::timestamp, current_date = now()::date
-- Text functions, COALESCE, CASE, casts, literals
SELECT name || '!', name || NULL, id || name, 'a' || 'b', concat(name, NULL, id), concat_ws('-', name, k, b) FROM t ORDER BY id LIMIT 20
SELECT upper(name), lower(name), length(name), char_length(name), octet_length(name), initcap(name), reverse(name) FROM t ORDER BY id LIMIT 25
SELECT substring(name FROM 1 FOR 1), substring(name, 2), substr(name, 1, 1), left(name, 1), right(name, 1), position('b' in name), strpos(name, 'b') FROM t ORDER BY id LIMIT 25
SELECT trim(name), trim(both 'a' from name), trim(leading 'a' from name), rtrim(name, 'b'), lpad(name, 3, '*'), rpad(name, 2), repeat(name, 2) FROM t ORDER BY id LIMIT 25
SELECT replace(name, 'a', 'x'), translate(name, 'ab', 'xy'), overlay(name placing 'ZZ' from 1 for 1), split_part(email COLLATE "C", '@', 2), md5(name) FROM t ORDER BY id LIMIT 25
SELECT regexp_replace(name, '[ab]', 'x', 'g'), regexp_match(name, '(a)(b)'), substring(name from '[a-z]'), regexp_split_to_array('a,b', ',') FROM t ORDER BY id LIMIT 25
SELECT format('%s-%s', id, name), quote_literal(name), quote_nullable(name), ascii(name), chr(65), to_hex(id), encode(raw, 'hex') FROM t WHERE name <> '' ORDER BY id LIMIT 25
SELECT coalesce(name, email::text, 'none'), nullif(k, 3), greatest(k, id, NULL), least(price, qty, k) FROM t ORDER BY id LIMIT 25
SELECT greatest(name, 'b'), least(d, '2024-01-01'), coalesce(k, 0.5), nullif(name, '') FROM t ORDER BY id LIMIT 25
SELECT CASE k WHEN 1 THEN 'one' WHEN 2 THEN 'two' END, CASE WHEN k IS NULL THEN 0 ELSE price END FROM t ORDER BY id LIMIT 25
SELECT id::text, price::int, k::numeric(5,1), f::text, r::text, qty::text, b::text, d::text, iv::text FROM t ORDER BY id LIMIT 25
SELECT CAST(id AS varchar(1)) AS c, CAST('12' AS int) + id, '5'::int, '1.50'::numeric, cast(k AS boolean) FROM t ORDER BY id LIMIT 9
SELECT id + '1', '2' * id, price + '0.5', 'x' || id, d = '2024-01-31', k > '1' FROM t ORDER BY id LIMIT 9
SELECT pg_typeof(1), pg_typeof(1.5), pg_typeof('a'), pg_typeof(2147483648), pg_typeof(1/2), pg_typeof(NULL)
SELECT pg_typeof(sum(k))::text, pg_typeof(sum(big))::text, pg_typeof(avg(k))::text, pg_typeof(count(*))::text, pg_typeof(sum(r))::text FROM t
SELECT pg_typeof(x)::text, x FROM (SELECT 'a' AS x, id FROM t WHERE id < 3) q
SELECT E'a\tb\\c\'d', 'it''s', $$dollar$$, $q$a'b$q$, U&'\00e9', B'101', X'1F', 'a\b'
SELECT 1.50, 1e3, .5, 5., -0.0, 1000000000000, 123456789012345678901234567890
-- Arrays, unnest, generate_series
SELECT tags, tags[1], tags[1:1], array_length(tags, 1), cardinality(tags), tags || 'new'::text, tags || ARRAY['p'] FROM t ORDER BY id LIMIT 25
SELECT id FROM t WHERE tags @> ARRAY['x'] ORDER BY id
SELECT id FROM t WHERE tags && '{y,q}' ORDER BY id
SELECT id FROM t WHERE 'x' = ANY (tags) ORDER BY id
SELECT id FROM t WHERE tags <@ '{x,y,z}' AND nums <> '{}' ORDER BY id
SELECT nums, count(*) FROM t GROUP BY nums ORDER BY nums
SELECT array_to_string(nums, '-'), array_position(nums, 3), array_remove(nums, 1), array_append(nums, k), nums[1] + 1 FROM t ORDER BY id LIMIT 25
SELECT ARRAY[id, k], ARRAY[[1, 2], [3, 4]], ARRAY[]::int[], '{1,NULL,3}'::int[], (ARRAY[1, 2, 3])[2:3] FROM t WHERE id = 4
SELECT ARRAY(SELECT v FROM u WHERE u.t_id = t.id ORDER BY v), id FROM t WHERE id < 9 ORDER BY id
SELECT t.id, x FROM t, unnest(t.nums) AS x ORDER BY t.id, x
SELECT t.id, x, n FROM t CROSS JOIN LATERAL unnest(t.tags) WITH ORDINALITY AS q(x, n) ORDER BY t.id, n
SELECT unnest(nums) AS x, id FROM t ORDER BY id, x
SELECT x, count(*) FROM t, unnest(tags) x GROUP BY x ORDER BY x
SELECT generate_series(1, 3), generate_series(10, 12)
SELECT g, count(t.id) FROM generate_series(1, 5) g LEFT JOIN t ON t.k = g GROUP BY g ORDER BY g
SELECT a.id, b.id FROM t a JOIN t b ON (a.k, a.s) = (b.k, b.s) ORDER BY 1, 2
SELECT g::date FROM generate_series(date '2024-01-01', '2024-01-05', '2 days') g ORDER BY 1
SELECT g.n, t.id FROM generate_series(1, 2) AS g(n) JOIN t ON t.id = g.n ORDER BY 1
-- json and jsonb
SELECT j, j -> 'a', j ->> 'a', j #> '{b,c}', j #>> '{b,c,0}', j -> 0, j ->> -1 FROM t ORDER BY id LIMIT 30
SELECT id FROM t WHERE j @> '{"a": 1}' ORDER BY id
SELECT id FROM t WHERE j ? 'a' AND NOT j ? 'n' ORDER BY id
SELECT id FROM t WHERE j ?| ARRAY['b', 'n'] ORDER BY id
SELECT id FROM t WHERE j ->> 'a' = 'x' OR (j ->> 'a')::text = '2' ORDER BY id
SELECT jsonb_typeof(j), jsonb_typeof(j -> 'a'), j - 'a', j || '{"z": 0}' FROM t WHERE jsonb_typeof(j) = 'object' ORDER BY id
SELECT CASE WHEN jsonb_typeof(j) = 'object' THEN j #- '{b,c}' END, CASE WHEN jsonb_typeof(j) = 'object' THEN jsonb_set(j, '{a}', '9') END, jsonb_path_query_first(j, '$.b.c[*]'), j @? '$.a', j @@ '$.a == 1' FROM t ORDER BY id LIMIT 30
SELECT js, js ->> 'k', js -> 'a', json_typeof(js), json_array_length(js -> 'a') FROM t ORDER BY id LIMIT 30
SELECT j, count(*) FROM t GROUP BY j ORDER BY j
SELECT t.id, e.key, e.value FROM t, jsonb_each(t.j) AS e WHERE jsonb_typeof(t.j) = 'object' ORDER BY 1, 2
SELECT t.id, e FROM t, LATERAL jsonb_array_elements(t.j -> 'b' -> 'c') AS e ORDER BY 1, 2
SELECT to_json(name), to_jsonb(d), row_to_json(row(id, name)), json_build_object('id', id, 'tags', tags), array_to_json(nums) FROM t ORDER BY id LIMIT 25
SELECT row_to_json(r) FROM r
SELECT row_to_json(q) FROM (SELECT id, k FROM t WHERE id < 4) q
SELECT * FROM jsonb_to_recordset('[{"a": 1, "b": "x"}, {"a": 2}]') AS x(a int, b text) JOIN t ON t.id = x.a
-- uuid, bytea, ranges, inet
SELECT u, count(*) FROM t GROUP BY u ORDER BY u
SELECT id FROM t WHERE u = '6ba7b810-9dad-11d1-80b4-00c04fd430c8' ORDER BY id
SELECT raw, length(raw), raw || '\x00', raw = '\x6162c3', sha256(raw) FROM t ORDER BY id LIMIT 25
SELECT span, lower(span), upper(span), 3 <@ span, span && '[2,3]', isempty(span), span * '[0,4)' FROM t ORDER BY id LIMIT 25
SELECT addr, host(addr), masklen(addr), family(addr), addr << '10.0.0.0/8', text(addr) FROM t ORDER BY id LIMIT 25
-- Joins and LATERAL
SELECT t.id, u.note FROM t JOIN u ON u.t_id = t.id ORDER BY 1, 2
SELECT t.id, u.note FROM t LEFT JOIN u ON u.t_id = t.id AND u.v > 1 ORDER BY 1, 2
SELECT t.id, u.t_id FROM t RIGHT JOIN u ON u.t_id = t.id ORDER BY 1, 2
SELECT t.id, u.t_id, u.v FROM t FULL JOIN u ON u.t_id = t.id ORDER BY 1, 2, 3
SELECT t.id, p.z FROM t JOIN p ON p.name = t.name ORDER BY 1, 2
SELECT t.name, r.label FROM t LEFT JOIN r ON r.code = t.name ORDER BY t.id, 2
SELECT r.label, count(t.id) FROM r LEFT JOIN t ON t.name = r.code GROUP BY r.label ORDER BY 1
SELECT r.label, t.id FROM r FULL JOIN t ON t.name = r.code ORDER BY 1, 2
SELECT a.id, b.id FROM t a JOIN t b ON a.id = b.id + 1 WHERE a.id < 9 ORDER BY 1
SELECT count(*) FROM t JOIN u USING (id)
SELECT * FROM r JOIN w ON r.code = w.name ORDER BY 1, 2, 3, 4, 5, 6
SELECT * FROM p JOIN w USING (name) ORDER BY 1, 2, 3, 4
SELECT * FROM p NATURAL JOIN w ORDER BY 1, 2, 3, 4
SELECT name, z, x FROM p LEFT JOIN w USING (name) ORDER BY 1, 2, 3
SELECT count(*) FROM t, u, r WHERE t.id = u.t_id AND r.n = u.id
SELECT t.id, q.note FROM t, LATERAL (SELECT note FROM u WHERE u.t_id = t.id ORDER BY note DESC LIMIT 1) q ORDER BY 1
SELECT t.id, q.s FROM t LEFT JOIN LATERAL (SELECT sum(v) AS s FROM u WHERE u.t_id = t.id) q ON true ORDER BY 1
SELECT t.id, q.n FROM t CROSS JOIN LATERAL (SELECT count(*) AS n FROM u WHERE u.id = t.k) q ORDER BY 1
-- Subqueries
SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.t_id = t.id) ORDER BY id
SELECT id FROM t WHERE NOT EXISTS (SELECT FROM u WHERE u.t_id = t.id) ORDER BY id
SELECT id FROM t WHERE id IN (SELECT t_id FROM u WHERE v > 1) ORDER BY id
SELECT id FROM t WHERE id NOT IN (SELECT t_id FROM u WHERE t_id IS NOT NULL) ORDER BY id
SELECT id FROM t WHERE k NOT IN (SELECT id FROM u) ORDER BY id
SELECT id FROM t WHERE k = ANY (SELECT n FROM r) ORDER BY id
SELECT id FROM t WHERE k > ALL (SELECT z FROM p WHERE z < 3) ORDER BY id
SELECT id, (SELECT max(v) FROM u WHERE u.t_id = t.id) FROM t ORDER BY id
SELECT id, (SELECT count(*) FROM u), (SELECT label FROM r WHERE n = 1) FROM t ORDER BY id LIMIT 5
SELECT id FROM t WHERE price > (SELECT avg(price) FROM t WHERE price < 100) ORDER BY id
SELECT (SELECT name FROM t WHERE id = 3) || 'x', (SELECT count(*) FROM u WHERE t_id = 3)
SELECT k, (SELECT string_agg(note, ',' ORDER BY note) FROM u WHERE u.id = t.k) FROM t GROUP BY k ORDER BY k
SELECT id FROM t WHERE (k, b) IN (SELECT id, true FROM u) ORDER BY id
SELECT q.k, q.n FROM (SELECT k, count(*) AS n FROM t GROUP BY k) q WHERE q.n > 3 ORDER BY 1
SELECT q.count, q.max FROM (SELECT count(*), max(id) FROM t GROUP BY k) q ORDER BY 1, 2
SELECT x.lower FROM (SELECT lower(name) FROM t) x ORDER BY 1
SELECT avg(n) FROM (SELECT count(*) AS n FROM t GROUP BY k) q
SELECT max(total) FROM (SELECT sum(price) AS total FROM t GROUP BY name) q
SELECT x / 2 FROM (SELECT k AS x FROM t UNION ALL SELECT w FROM u) q ORDER BY 1
SELECT count(*) FROM (SELECT k AS x FROM t UNION ALL SELECT w FROM u) q WHERE x / 2 = 1
-- WITH, recursive too
WITH q AS (SELECT k, count(*) AS n FROM t GROUP BY k) SELECT a.k, b.n FROM q a JOIN q b ON a.k = b.k ORDER BY 1
WITH q AS MATERIALIZED (SELECT id FROM t WHERE id < 5), s AS (SELECT id FROM q) SELECT sum(id) FROM s
WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT n, t.name FROM c LEFT JOIN t ON t.id = n ORDER BY n
WITH RECURSIVE c AS (SELECT id, k FROM t WHERE id = 1 UNION SELECT t.id, t.k FROM t JOIN c ON t.id = c.id + 1 WHERE t.id < 9) SELECT * FROM c ORDER BY id
WITH t AS (SELECT 1 AS id) SELECT * FROM t
WITH t AS (SELECT k, price FROM t) SELECT k AS x, max(price) AS y FROM t GROUP BY x ORDER BY y, x
WITH q AS (SELECT 'a' AS x) SELECT t.id FROM t, q WHERE t.name = q.x ORDER BY 1
-- UNION, INTERSECT, EXCEPT, VALUES
SELECT id FROM t UNION SELECT t_id FROM u ORDER BY 1
SELECT id FROM t UNION ALL SELECT t_id FROM u ORDER BY 1 LIMIT 10
SELECT id FROM t INTERSECT SELECT t_id FROM u ORDER BY 1
SELECT id FROM t EXCEPT SELECT t_id FROM u ORDER BY 1
SELECT t_id FROM u EXCEPT ALL SELECT id FROM t ORDER BY 1
SELECT t_id FROM u INTERSECT ALL SELECT t_id FROM u WHERE v > 1 ORDER BY 1
SELECT name FROM t UNION SELECT name FROM p UNION ALL SELECT 'literal' ORDER BY 1
SELECT NULL AS d UNION ALL SELECT d FROM t WHERE id < 4 ORDER BY 1
SELECT k FROM t UNION SELECT price FROM t ORDER BY 1
(SELECT id FROM t ORDER BY id LIMIT 2) UNION ALL (SELECT id FROM t ORDER BY id DESC LIMIT 2) ORDER BY id
SELECT 1 AS a UNION SELECT 2 UNION ALL SELECT 2 ORDER BY a
SELECT k, NULL FROM t UNION SELECT t_id, at FROM u ORDER BY 1, 2
SELECT id, '2024-05-05' FROM t UNION SELECT t_id, at FROM u ORDER BY 1, 2
SELECT t_id, at FROM u EXCEPT SELECT id, '2024-01-31' FROM t ORDER BY 1, 2
(SELECT id, NULL FROM t ORDER BY id LIMIT 2) UNION ALL SELECT t_id, w FROM u ORDER BY 1, 2
SELECT NULL, id FROM t WHERE id = 5 UNION ALL SELECT at, t_id FROM u WHERE t_id = 6 ORDER BY 2, 1
SELECT code, '7' FROM r UNION ALL SELECT name, z FROM p ORDER BY 1, 2
SELECT 'a' AS kind, count(*) FROM t UNION SELECT 'b', count(*) FROM u ORDER BY 1
VALUES (1, 'a'), (2, 'b')
SELECT * FROM (VALUES (1, 'a'), (2, NULL)) AS v(n, x) JOIN t ON t.id = v.n ORDER BY 1
SELECT column1, column2 FROM (VALUES (1, 'a'), (2, 'b')) AS v ORDER BY 1
-- Windows
SELECT id, row_number() OVER (ORDER BY id) FROM t ORDER BY id LIMIT 5
SELECT id, k, rank() OVER (PARTITION BY k ORDER BY price DESC NULLS LAST), sum(price) OVER (PARTITION BY k) FROM t ORDER BY id
SELECT id, lag(id) OVER w, lead(id, 2, 0) OVER w, first_value(id) OVER w, ntile(4) OVER w FROM t WINDOW w AS (ORDER BY id) ORDER BY id
SELECT id, sum(k) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING), avg(k) OVER (ORDER BY id RANGE BETWEEN 5 PRECEDING AND CURRENT ROW) FROM t ORDER BY id
SELECT d, count(*) OVER (ORDER BY d RANGE BETWEEN interval '40 days' PRECEDING AND CURRENT ROW) FROM t WHERE d IS NOT NULL ORDER BY 1, 2
SELECT k, count(*), sum(count(*)) OVER (ORDER BY k), rank() OVER (ORDER BY count(*) DESC, k) FROM t GROUP BY k ORDER BY k
SELECT id, count(*) FILTER (WHERE b) OVER (PARTITION BY k), string_agg(name, ',') OVER (ORDER BY id ROWS 2 PRECEDING) FROM t ORDER BY id
SELECT * FROM (SELECT id, k, row_number() OVER (PARTITION BY k ORDER BY id) AS n FROM t) q WHERE n = 1 ORDER BY id
SELECT u.t_id, u.v, max(u.v) OVER (PARTITION BY u.t_id) FROM u ORDER BY 1, 2, 3
-- LIMIT, FETCH, names of columns, others
SELECT id FROM t ORDER BY id OFFSET 3 ROWS FETCH NEXT 2 ROWS ONLY
SELECT k FROM t ORDER BY k FETCH FIRST 3 ROWS WITH TIES
SELECT id FROM t ORDER BY id LIMIT ALL OFFSET 55
SELECT id FROM t ORDER BY id LIMIT NULL
SELECT id FROM t ORDER BY id LIMIT 0
SELECT id FROM t ORDER BY b, k DESC, id LIMIT 12
SELECT id AS k, k AS id FROM t ORDER BY k, id LIMIT 5
SELECT id, -id AS neg FROM t ORDER BY neg LIMIT 5
SELECT name AS id FROM t ORDER BY t.id LIMIT 5
SELECT t.id AS "Id", k AS Kay, name "the name" FROM t ORDER BY "Id" LIMIT 3
SELECT T.ID, "t"."k" FROM T ORDER BY Id LIMIT 3
SELECT t.* FROM t WHERE id = 11
SELECT *, id + 1 FROM r, t WHERE t.id = 2 ORDER BY label
SELECT count(*), count(*) FROM t
SELECT 1 AS one, true, NULL, 'x'
SELECT id, k, *  FROM w, LATERAL (SELECT 1 AS id, 2 AS k) q WHERE x = 1
SELECT sum(x) FROM w WHERE y > 1
SELECT w.name, count(*), sum(p.z) FROM w JOIN p ON p.name = w.name GROUP BY w.name ORDER BY 1
SELECT num_nulls(k, name, b), num_nonnulls(k, d) FROM t ORDER BY id LIMIT 9
SELECT hashtext(name), hashint8(id) FROM t ORDER BY id LIMIT 5
SELECT width_bucket(id, 0, 60, 6), count(*) FROM t GROUP BY 1 ORDER BY 1
SELECT count(*) FROM t WHERE k = 1 AND (name = 'a' OR b) AND NOT (price > 5 AND d IS NULL)
SELECT count(*) FROM t TT WHERE TT.name = ANY (SELECT p.name FROM p WHERE p.z = TT.k)
SELECT max(v) - min(v), sum(v) FROM u
SELECT t_id, sum(w), avg(w), count(*) FROM u GROUP BY t_id ORDER BY t_id
SELECT u.id, sum(t.price), avg(t.qty), max(t.name) FROM u JOIN t ON t.id = u.t_id GROUP BY u.id ORDER BY u.id
SELECT a.name, sum(b.v) FROM t a LEFT JOIN u b ON b.t_id = a.id GROUP BY a.name HAVING sum(b.v) IS NOT NULL ORDER BY 1
-- Types and names that pass through the merge
SELECT min(code), max(code), min(code || 'x') FROM t
SELECT DISTINCT coalesce(code, 'abcdef') FROM t
SELECT k, min(code), max(clock), min(tz::timestamptz(0)), max(at::timestamp(0)) FROM t GROUP BY k ORDER BY k
SELECT k, to_tsvector('english', coalesce(max(name), 'x')) FROM t GROUP BY k ORDER BY k
SELECT DISTINCT price::money FROM t ORDER BY 1
SELECT DISTINCT name::name FROM t ORDER BY 1
SELECT DISTINCT B'101'::bit(3), B'10'::varbit, id::bit(8) FROM t WHERE id < 5 ORDER BY 3
SELECT DISTINCT interval '1 day'::interval, iv::interval day FROM t ORDER BY 2
SELECT DISTINCT name::varchar(1) FROM t ORDER BY 1
SELECT DISTINCT code::char(2) FROM t ORDER BY 1
SELECT DISTINCT qty::numeric(30,1) FROM t WHERE qty <> 'NaN' ORDER BY 1
SELECT max(name::varchar(1)), min(name::"char") FROM t
SELECT max(price::money), sum(price::money) FROM t
SELECT max(u::text), max(raw::text), max(addr), min(addr) FROM t
SELECT max(tags), min(nums), max(array[id, k]) FROM t
SELECT k, array_agg(DISTINCT b), max(array[name]) FROM t GROUP BY k ORDER BY k
SELECT DISTINCT ROW(k, b) FROM t
SELECT k, (SELECT ROW(1, 'a')) FROM t WHERE id < 4 ORDER BY 1
SELECT jsonb_build_object('a', max(j ->> 'a'), 'n', count(*)) FROM t
SELECT point(k, id), box(point(1,2), point(3,4)) FROM t WHERE id < 3 ORDER BY t.id
SELECT DISTINCT span FROM t ORDER BY 1
SELECT k, sum(f), avg(r), min(f), max(r) FROM t WHERE f < 100 GROUP BY k ORDER BY k
SELECT DISTINCT f::text, r::text FROM t ORDER BY 1, 2
SELECT DISTINCT iv::text, tz::text, at::text FROM t ORDER BY 1, 2, 3
SELECT q.x FROM (SELECT name AS x FROM t UNION SELECT title FROM t) q ORDER BY x COLLATE "C"
SELECT x || 'b' FROM (SELECT 'a' AS x FROM t WHERE id < 4) q
SELECT count(*) FROM t WHERE name = ANY (ARRAY(SELECT name FROM p))
SELECT id FROM t WHERE id = (SELECT max(t_id) FROM u WHERE t_id < 50)
SELECT t.id FROM t WHERE (SELECT count(*) FROM u WHERE u.t_id = t.id AND u.note = t.name) > 0 ORDER BY 1
SELECT id, (SELECT x FROM w WHERE w.name = t.name ORDER BY x NULLS LAST LIMIT 1) FROM t ORDER BY id
SELECT t.k, q.c FROM (SELECT DISTINCT k FROM t) t LEFT JOIN (SELECT id, count(*) c FROM u GROUP BY id) q ON q.id = t.k ORDER BY 1, 2
SELECT x.email, count(*) FROM (SELECT email COLLATE "C" AS email FROM t) x GROUP BY x.email ORDER BY 1
SELECT count(*) FROM (SELECT email COLLATE "C" FROM t UNION SELECT email COLLATE "C" FROM t) x
SELECT count(*) FROM t a JOIN t b ON a.email COLLATE "C" = b.email
SELECT a.id, b.id FROM t a LEFT JOIN t b ON a.code = b.code AND a.id = b.id + 1 ORDER BY 1, 2
SELECT count(*) FROM p a JOIN p b ON a.name = b.name
SELECT a.name, count(*) FROM p a JOIN p b USING (name) GROUP BY a.name ORDER BY 1
SELECT p.name, count(*), sum(z) FROM p GROUP BY p.name HAVING p.name > 'a' ORDER BY 1
SELECT name, z, row_number() OVER (PARTITION BY name ORDER BY z NULLS FIRST, name) FROM p ORDER BY 1, 2, 3
SELECT count(*) FROM t WHERE id % 3 = 0 GROUP BY k HAVING sum(id) > 20 ORDER BY 1
SELECT sum(CASE WHEN b THEN price END), sum(k)::text || 'x', avg(k)::int, count(*) * 2, -sum(k) FROM t
SELECT k, count(*) FILTER (WHERE name ~ '^a'), max(price) FILTER (WHERE b) FROM t GROUP BY ROLLUP (k) ORDER BY k
SELECT coalesce(sum(k), 0) + coalesce(sum(s), 0), sum(k + s), sum(k * 1.5), sum(k / 2) FROM t
SELECT sum(length(name)), avg(length(name)), sum(extract(day FROM d)), sum(d - date '2024-01-01') FROM t
SELECT sum(id::smallint), avg(id::real), avg(f::real), sum(k::float4) FROM t WHERE f < 100
SELECT avg(coalesce(k, 0)), sum(nullif(k, 3)), sum(abs(k)), sum(greatest(k, 2)) FROM t
SELECT sum(v), avg(v), var_pop(v), stddev(v) FROM u
SELECT count(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.t_id = t.id AND u.v IS NOT NULL)
SELECT id FROM t WHERE k IS NOT NULL AND name IS NOT NULL AND NOT (k IS NULL) ORDER BY id
SELECT t.id, u.v FROM t LEFT JOIN u ON u.t_id = t.id WHERE u.v IS NOT NULL ORDER BY 1, 2
SELECT t.id FROM t LEFT JOIN u ON u.t_id = t.id WHERE u.t_id IS NULL ORDER BY 1
SELECT t_id FROM u WHERE t_id IS NOT NULL AND t_id > 70 ORDER BY 1
SELECT id FROM t WHERE id IS NOT NULL AND id = 3
SELECT name FROM p WHERE NOT (name IS NULL) AND z IS NOT NULL ORDER BY 1
SELECT id FROM t WHERE (id IS NULL) IS NOT TRUE AND id < 5 ORDER BY id
SELECT id FROM t WHERE id BETWEEN '3' AND '5' ORDER BY id
SELECT id FROM t WHERE id >= 58.5 ORDER BY id
SELECT id FROM t WHERE id IN ('3', '4') ORDER BY id
SELECT id FROM t WHERE id = 3::bigint OR id = '4'::int OR id = 5.0::numeric ORDER BY id
SELECT id FROM t WHERE id = -(-3)
SELECT name FROM p WHERE name = 'a' || ''
SELECT name FROM p WHERE name = E'\u00e9'
SELECT name FROM p WHERE name = U&'\00e9'
SELECT name FROM p WHERE name = CAST('a' AS text) OR name = 'b'::varchar
SELECT name FROM p WHERE name IN ('a', NULL) ORDER BY 1
SELECT name FROM p WHERE name BETWEEN 'a' AND 'b' ORDER BY 1
SELECT name FROM p WHERE (name, z) IN (('a', 1), ('b', 2)) ORDER BY 1
SELECT note FROM u WHERE t_id = 5 OR t_id = 6 AND v > 1 ORDER BY 1
SELECT max(id) FROM t WHERE id IN (SELECT id FROM t WHERE name = 'a')
SELECT id, name FROM t WHERE name = (SELECT min(name) FROM p) ORDER BY id
WITH a AS (SELECT k, sum(id) s FROM t GROUP BY k), b AS (SELECT max(s) m FROM a) SELECT a.k FROM a, b WHERE a.s = b.m
WITH x AS (SELECT id, random() AS r FROM t) SELECT count(*) FROM x a JOIN x b ON a.id = b.id AND a.r = b.r
SELECT count(DISTINCT r) > 30 FROM (SELECT random() AS r FROM t) q
SELECT count(*) FROM t WHERE at > now() - interval '100 years' AND extract(year FROM current_date) > 2000
SELECT DISTINCT ON (b) b, id, name FROM t ORDER BY b, name DESC NULLS LAST, id
SELECT b, string_agg(x, ',' ORDER BY x) FROM (SELECT DISTINCT b, name AS x FROM t) q GROUP BY b ORDER BY b
SELECT k, percentile_disc(ARRAY[0.5, 1]) WITHIN GROUP (ORDER BY name) FROM t GROUP BY k ORDER BY k
SELECT lag(name) OVER (ORDER BY id), sum(count(*)) OVER (), count(*) FROM t GROUP BY id, name ORDER BY id LIMIT 5
SELECT array_agg(x ORDER BY x) FROM (SELECT unnest(tags) AS x FROM t) q
SELECT t.id FROM t, u WHERE t.id = u.t_id AND u.v = (SELECT max(v) FROM u u2 WHERE u2.t_id = t.id) ORDER BY 1
SELECT '2024-01-31'::date + k FROM t WHERE id < 9 ORDER BY id
SELECT "t"."name" AS "Some Name With Spaces And A Very Long Name That Exceeds Sixty Three Bytes Limit" FROM t ORDER BY id LIMIT 2
SELECT id AS "a", id + 1 AS "A", id + 2 AS "a b" FROM t ORDER BY "A" LIMIT 2
SELECT q."A" + q.a FROM (SELECT id AS a, k AS "A" FROM t) q ORDER BY 1
SELECT count(*) FROM t WHERE iv > interval '1 hour' AND iv < '50 days'
SELECT max(iv), sum(iv) FILTER (WHERE iv > '0'), avg(iv) FROM t
SELECT t.id, t.name, count(u.v) FROM t LEFT JOIN u ON u.t_id = t.id GROUP BY t.id ORDER BY t.id
SELECT id, name || 'x', count(*) FROM t GROUP BY id HAVING max(k) > 1 OR name = 'a' ORDER BY name, id
