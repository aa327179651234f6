SELECT +name, -k, ~k, NOT k, k & 1 | 2 << 3 >> 1 FROM t ORDER BY id
SELECT name || 'x' || k * 2 FROM t ORDER BY id
SELECT a.* , b.v FROM t a, u b WHERE a.id = b.t_id
SELECT t.id, u.id, note FROM t JOIN u ON t.id = u.t_id
SELECT * FROM t NATURAL JOIN (SELECT id, v FROM u)
SELECT * FROM t LEFT JOIN u ON t.id == u.t_id WHERE u.v IS NOT 3
SELECT t.id, u.v FROM t FULL OUTER JOIN u ON t.id = u.t_id
SELECT t.id, u.v FROM t RIGHT JOIN u ON t.id = u.t_id
SELECT count(*) FROM t CROSS JOIN u
SELECT id, k IS 5, k IS NOT NULL, k ISNULL, k NOTNULL, k NOT NULL, k IS NOT DISTINCT FROM 3, k IS DISTINCT FROM 3 FROM t
SELECT id, k == 5, k <> 3, k != 2 FROM t
SELECT id, k = 5 = 1, k = 5 IN (1), k = name LIKE 'a', k IS 1 = 2, NOT k = 2, k < 3 = 1 FROM t
SELECT id, name LIKE 'a%' ESCAPE '\', name NOT LIKE 'b', name GLOB 'a*', name NOT GLOB '*b' FROM t
SELECT id, name COLLATE NOCASE = 'a', name = 'A' COLLATE NOCASE FROM t ORDER BY name COLLATE NOCASE DESC NULLS LAST, id
SELECT id, cast(k AS NUMERIC), cast(name AS INT), cast(k as varchar(20)), cast(k AS DECIMAL(10,2)), CAST(k AS 'text'), cast(k as unsigned big int) FROM t
SELECT x'0102', X'ff', 0x1F, 1e5, .5, 5.
SELECT id, 'it''s', "it""s", 'a' "alias", name 'nick', `name`, [name] FROM t
SELECT CASE k WHEN 1 THEN 'a' ELSE 'b' END, CASE WHEN k THEN 1 END FROM t ORDER BY id
SELECT id, iif(k, 1, 2), ifnull(k, 0), coalesce(k, 1), nullif(k, 2), max(k, 2), min(k, 3), abs(k) FROM t
SELECT id, substr(name, 1, 2), substring(name, 2), instr(name, 'a'), replace(name, 'a', 'b'), trim(name, 'x'), ltrim(name), length(name), upper(name), lower(name), hex(name), quote(name), char(65, 66), unicode(name), printf('%d', k), format('%s', name), typeof(k), round(price, 1), sign(k), likely(k), unlikely(k), likelihood(k, 0.5), soundex(name) FROM t
SELECT id, datetime(d, '+1 day'), strftime('%Y', d), julianday(d), unixepoch(d), time(d), date(d) FROM t
SELECT date('now') = CURRENT_DATE, typeof(CURRENT_TIMESTAMP), length(strftime('%s'))
SELECT json_extract('{"a":[1,2]}', '$.a'), '{"a":1}' -> '$.a', '{"a":1}' ->> 'a', json('[1]'), json_array(1, 2), json_object('a', 1), json_type('[1]'), json_valid(name) FROM t
SELECT value FROM json_each('[1,2]')
SELECT t.id, j.value FROM t, json_each('[1,' || t.id || ']') AS j ORDER BY t.id, j.key
SELECT count(*), count(k), count(DISTINCT k), sum(k), avg(k), total(k), min(k), max(k) FROM t
SELECT k, count(*) FILTER (WHERE price > 1), sum(DISTINCT qty) FROM t GROUP BY k HAVING count(*) > 1 ORDER BY 2 DESC, k
SELECT k AS kk, max(id), name FROM t GROUP BY kk
SELECT k AS kk, min(id), name, email FROM t GROUP BY k ORDER BY kk
SELECT k, count(*) FROM t GROUP BY 1
SELECT DISTINCT k, name FROM t ORDER BY k, name LIMIT 5 OFFSET 2
SELECT id FROM t ORDER BY id LIMIT 2, 3
SELECT id FROM t ORDER BY id LIMIT -1 OFFSET 55
SELECT id FROM t ORDER BY id DESC LIMIT 3 OFFSET -4
SELECT id FROM t WHERE k IN (1, 2, 3) AND name NOT IN ('a') OR k IN ()
SELECT id FROM t WHERE k IN (SELECT v FROM u) AND EXISTS (SELECT 1 FROM u WHERE u.t_id = t.id)
SELECT * FROM t WHERE (k, name) = (1, 'a') OR (k, id) IN (SELECT id, v FROM u)
SELECT id FROM t WHERE (k, name) IN (VALUES (1, 'a'), (2, 'b'))
SELECT id FROM t WHERE k BETWEEN 1 AND 3 AND k NOT BETWEEN 2 AND 2
SELECT id, (SELECT max(v) FROM u WHERE u.t_id = t.id) FROM t
SELECT 1 UNION SELECT 2 UNION ALL SELECT 3 INTERSECT SELECT 3 EXCEPT SELECT 4
SELECT k FROM t UNION SELECT v FROM u ORDER BY 1 LIMIT 3
SELECT k FROM t EXCEPT SELECT v FROM u
SELECT k FROM t INTERSECT SELECT v FROM u
VALUES (1, 2), (3, 4)
SELECT * FROM (VALUES (1, 2), (3, 4))
WITH a AS (SELECT k FROM t), b(x) AS (SELECT v FROM u) SELECT * FROM a JOIN b ON a.k = b.x
WITH a AS MATERIALIZED (SELECT k FROM t), b(x) AS NOT MATERIALIZED (SELECT v FROM u) SELECT * FROM a JOIN b ON a.k = b.x
WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT n FROM c
WITH RECURSIVE c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c LIMIT 5) SELECT n FROM c JOIN t ON t.id = n
WITH RECURSIVE tree(id, depth) AS (SELECT id, 0 FROM t WHERE k IS NULL UNION ALL SELECT u.t_id, depth + 1 FROM u JOIN tree ON u.id = tree.id WHERE depth < 3) SELECT * FROM tree
SELECT id, row_number() OVER (PARTITION BY k ORDER BY price DESC, id), rank() OVER w, lag(k, 1, 0) OVER w, sum(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), ntile(3) OVER w, first_value(name) OVER w, nth_value(name, 2) OVER w FROM t WINDOW w AS (ORDER BY id)
SELECT id, sum(id) OVER (ORDER BY k GROUPS BETWEEN 2 PRECEDING AND 1 FOLLOWING EXCLUDE TIES), count(*) FILTER (WHERE k > 1) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) FROM t
SELECT id, sum(id) OVER (w ROWS 2 PRECEDING), percent_rank() OVER w, cume_dist() OVER w FROM t WINDOW w AS (PARTITION BY k ORDER BY id)
SELECT id, group_concat(name, ',') OVER (ORDER BY id) FROM t
SELECT id FROM main.t
SELECT main.t.id, t.name FROM t
SELECT ALL k FROM t
SELECT k k2, name AS n FROM t ORDER BY k2 + 1, n COLLATE NOCASE, id
SELECT TRUE, FALSE, k IS TRUE, k IS NOT FALSE FROM t
SELECT typeof(random()), length(randomblob(4)), sqlite_version() IS NOT NULL
SELECT * FROM t a LEFT JOIN (SELECT t_id, count(*) c FROM u GROUP BY t_id) b ON b.t_id = a.id
SELECT id FROM t, (SELECT 1 AS one) x
SELECT log(2, 8), log10(10), ln(k), pow(k, 2), sqrt(k), floor(price), ceil(price), ceiling(price), mod(k, 2), exp(1), sin(k), trunc(price) FROM t ORDER BY id
SELECT zeroblob(3), glob('a*', name), like('a%', name), like('a%', name, '\') FROM t
SELECT count() FROM t
SELECT -9223372036854775808, 9223372036854775807, 9223372036854775808
SELECT - - k, -(-k), + + k FROM t
SELECT k % 2, k / 2, k * 1.0 / 3 FROM t
SELECT a.id FROM t a WHERE a.id NOT IN (SELECT t_id FROM u WHERE t_id NOT NULL)
SELECT EXISTS (SELECT 1 FROM t), NOT EXISTS (SELECT 1 FROM u WHERE v = 77)
SELECT name AS "select", k AS "weird name" FROM t
SELECT "no such column" FROM t
SELECT id FROM t ORDER BY name DESC NULLS FIRST, k ASC NULLS LAST, id
SELECT sum(k) s FROM t HAVING s > 1
SELECT id, p, q FROM (SELECT id, k < 4 AS p, price > 1 OR qty > 1 AS q FROM t GROUP BY id, k < 4, price > 1 OR qty > 1) x WHERE p = q
SELECT k, sum(price) FROM t WHERE k > 1 GROUP BY k, name HAVING sum(price) > 3 OR k = 1
SELECT CAST(strftime('%Y', d) AS INTEGER) AS y, count(*) FROM t GROUP BY y
SELECT ((k)), (k + 1) * 2, ((SELECT 1)) FROM t
SELECT id FROM t WHERE k = (SELECT v FROM u ORDER BY v LIMIT 1)
SELECT t1.id, u1.v, u2.v FROM t t1 JOIN u u1 ON t1.id = u1.t_id JOIN u u2 ON u2.t_id = t1.id AND u2.v > u1.v
SELECT id FROM t WHERE id > 5 -- comment
SELECT /* c */ k FROM t;
SELECT 1 WHERE 1 GROUP BY 1 HAVING 1
SELECT id FROM t WHERE NOT (k = 1 OR name = 'x') AND NOT NOT k
SELECT id FROM u WHERE v IN (1, '2', NULL) OR v IS NULL
SELECT max(k), min(price) FROM t WHERE 0
SELECT k << 1 + 2, k & 3 = 1, k | 1 < 5, -k || 'a', ~k + 1, not k + 1, - k * 2 FROM t
SELECT id FROM t WHERE id = '7'
SELECT id FROM t WHERE id = 7.0
SELECT id FROM t WHERE id = '7x'
SELECT id FROM t WHERE id IN ('7', 8, 9.0, 'x', NULL)
SELECT id FROM t WHERE name = 5
SELECT id FROM t WHERE name = k
SELECT id FROM t WHERE any_ = 1
SELECT id FROM t WHERE any_ = '1'
SELECT id FROM t WHERE qty = '1'
SELECT id FROM t WHERE qty = 1 AND qty = '1.0'
SELECT id FROM t WHERE b = x'31'
SELECT id FROM t WHERE k > 'a'
SELECT id FROM t WHERE k < 'a'
SELECT id FROM t WHERE email = 'A@x'
SELECT email, count(*) FROM t GROUP BY email
SELECT DISTINCT email FROM t
SELECT t.id, r.n FROM t JOIN r ON t.name = r.code
SELECT t.id, r.n FROM t JOIN r ON t.name = r.label
SELECT t.id, r.n FROM t LEFT JOIN r ON r.code = t.name AND r.n > 1
SELECT r.code, count(t.id) FROM r LEFT JOIN t ON r.code = t.name GROUP BY r.code
SELECT count(*) FROM w
SELECT name, count(*) FROM w GROUP BY name ORDER BY 2 DESC, 1
SELECT w.name, t.id FROM w JOIN t ON w.name = t.name
SELECT w.x, t.id FROM w JOIN t ON w.x = t.id
SELECT a.x, b.x FROM w a JOIN w b ON a.x = b.x
SELECT t_id, count(*), sum(v) FROM u GROUP BY t_id
SELECT t.id, count(u.v), total(u.v) FROM t LEFT JOIN u ON u.t_id = t.id GROUP BY t.id ORDER BY 3 DESC, 1 LIMIT 7
SELECT k, avg(price) FROM t GROUP BY k ORDER BY k
SELECT typeof(k), count(*), sum(k) FROM t GROUP BY typeof(k)
SELECT id % 3 m, count(*) c FROM t GROUP BY m HAVING c > 2 ORDER BY c, m
SELECT name, length(name) FROM t WHERE length(name) > 1 ORDER BY length(name), name, id
SELECT id, k FROM t ORDER BY k DESC, id LIMIT 10
SELECT id, k FROM t ORDER BY k, id LIMIT 10 OFFSET 5
SELECT id, price FROM t ORDER BY price IS NULL, price, id
SELECT id, any_ FROM t ORDER BY any_, id
SELECT min(any_), max(any_), min(name), max(email), min(b), max(b) FROM t
SELECT sum(qty), sum(any_), total(name), avg(name), sum(b) FROM t
SELECT k, min(any_), max(any_) FROM t GROUP BY k
SELECT count(*) FROM (SELECT DISTINCT k, name FROM t)
SELECT * FROM (SELECT k, count(*) AS c FROM t GROUP BY k) WHERE c > 3
SELECT * FROM (SELECT id, k FROM t ORDER BY id LIMIT 5) ORDER BY id DESC
SELECT x.c, count(*) FROM (SELECT t_id, count(*) AS c FROM u GROUP BY t_id) x GROUP BY x.c ORDER BY 1
SELECT t.id FROM t WHERE t.k > (SELECT avg(k) FROM t)
SELECT t.id FROM t WHERE t.id IN (SELECT t_id FROM u WHERE v = 1)
SELECT t.id FROM t WHERE t.id NOT IN (SELECT t_id FROM u)
SELECT t.id FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.t_id = t.id)
SELECT t.id, (SELECT count(*) FROM u WHERE u.t_id = t.id) c FROM t ORDER BY c DESC, 1 LIMIT 5
SELECT k FROM t WHERE id < 20 UNION ALL SELECT v FROM u WHERE t_id < 10
SELECT id FROM t WHERE id = 5 UNION ALL SELECT id FROM t WHERE id = 6
SELECT 'a' || count(*) FROM t
SELECT count(*) + 1, sum(k) * 2.0 / count(*) FROM t
SELECT coalesce(sum(k), 0) FROM t WHERE id < 0
SELECT count(*) FROM t WHERE id = 3 AND k = 1
SELECT group_concat(name) FROM t WHERE id = 3
SELECT json_group_array(k) FROM t WHERE id = 4
SELECT id FROM t WHERE name LIKE 'A%'
SELECT id FROM t WHERE name GLOB 'A*'
SELECT upper(name) = name, name FROM t ORDER BY id
SELECT DISTINCT typeof(any_) FROM t
SELECT name FROM t GROUP BY name COLLATE NOCASE
SELECT max(name COLLATE NOCASE) FROM t
SELECT CAST(k AS TEXT) AS s, count(*) FROM t GROUP BY s ORDER BY s
SELECT * FROM (SELECT CAST(k AS TEXT) AS s FROM t) WHERE s = 3
SELECT * FROM (SELECT k + 0 AS s FROM t) WHERE s = '3'
SELECT * FROM (SELECT k AS s FROM t) WHERE s = '3'
SELECT a.s, u.t_id FROM (SELECT id + 0 AS s FROM t) a JOIN u ON a.s = u.t_id
SELECT a.s, w.name FROM (SELECT CAST(k AS TEXT) AS s FROM t) a JOIN w ON a.s = w.name
SELECT a.s, w.name FROM (SELECT k * 1 AS s FROM t) a JOIN w ON a.s = w.name
SELECT a.s, w.name FROM (SELECT k AS s FROM t) a JOIN w ON a.s = w.name
SELECT a.m, w.name FROM (SELECT max(k) AS m FROM t GROUP BY name) a JOIN w ON a.m = w.name
SELECT a.m, w.name FROM (SELECT min(name) AS m FROM t GROUP BY k) a JOIN w ON a.m = w.name
SELECT DISTINCT k FROM t WHERE k IS NOT NULL ORDER BY k DESC LIMIT 3
SELECT substr(d, 1, 7) AS month, count(*), sum(price) FROM t WHERE d >= '2024-01-01' GROUP BY month ORDER BY month
SELECT id FROM t WHERE d BETWEEN '2024-01-01' AND '2024-12-31' ORDER BY id
SELECT u.note, count(DISTINCT t.k), count(DISTINCT u.v) FROM u JOIN t ON t.id = u.t_id GROUP BY u.note
SELECT count(DISTINCT name), sum(DISTINCT k) FROM t
SELECT x, count(*) OVER () FROM w ORDER BY x, name LIMIT 3
SELECT t_id, v, row_number() OVER (PARTITION BY t_id ORDER BY v, note, id) rn FROM u
SELECT * FROM (SELECT t_id, v, note, id, row_number() OVER (PARTITION BY t_id ORDER BY v, note, id) rn FROM u) WHERE rn = 1
SELECT EXISTS (SELECT 1 FROM u WHERE u.t_id = t.id), id FROM t
SELECT CASE WHEN EXISTS (SELECT 1 FROM r WHERE r.code = t.name) THEN 'y' ELSE 'n' END, count(*) FROM t GROUP BY 1
SELECT total(price), total(k) FROM t GROUP BY id % 2
SELECT sum(v) FROM u WHERE t_id = 4
SELECT * FROM u WHERE t_id IS NULL
SELECT * FROM u WHERE t_id IN (3, 4, '5')
SELECT a.id, b.id FROM t a JOIN t b ON a.id = b.id AND a.k = b.k
SELECT a.id, b.id FROM t a JOIN t b ON a.k = b.k WHERE a.id < 10 AND b.id < 10
SELECT a.id FROM t a LEFT JOIN u b ON a.id = b.t_id AND b.v = 1 WHERE b.id IS NULL
SELECT count(*) FROM t WHERE k
SELECT count(*) FROM t WHERE name
SELECT count(*) FROM t WHERE NOT name
SELECT id FROM t WHERE k AND name OR price
SELECT sum(k) FILTER (WHERE id > 10), count(*) FILTER (WHERE name = 'a') FROM t
SELECT k, sum(k) FILTER (WHERE id > 10) FROM t GROUP BY k
SELECT t.k, u.note, count(*) FROM t JOIN u ON u.t_id = t.id GROUP BY t.k, u.note ORDER BY 3 DESC, 1, 2
SELECT name FROM p WHERE name NOTNULL UNION ALL SELECT v FROM u ORDER BY 1
SELECT v FROM u UNION SELECT name FROM p
SELECT email, id FROM t WHERE id = 7 AND email = 'A@X'
SELECT id, email FROM t WHERE email > 'a' ORDER BY email, id LIMIT 4
SELECT count(DISTINCT email), min(id) FROM t WHERE 'b@x' = email
WITH x AS (SELECT code FROM r), r AS (SELECT 77 AS code) SELECT * FROM x
WITH x AS (SELECT code FROM r), r AS (SELECT 77 AS code) SELECT group_concat(code) FROM x
WITH x AS (WITH y AS (SELECT code FROM r) SELECT * FROM y), r AS (SELECT w.k AS code FROM w), w AS (SELECT 5 AS k) SELECT * FROM x
WITH x AS (SELECT * FROM big), big AS (SELECT 3 AS q) SELECT * FROM x
WITH t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 3) SELECT * FROM t
WITH c(n) AS (SELECT 1 UNION ALL SELECT c.n + 1 FROM c, m WHERE c.n < m.n), m AS (SELECT max(n) AS n FROM r) SELECT t.id FROM c JOIN t ON t.id = c.n
SELECT (WITH u(n) AS (SELECT 1 UNION SELECT n + 1 FROM u WHERE n < 4) SELECT sum(n) FROM u), count(*) FROM u
WITH q AS (SELECT v FROM u) SELECT id FROM t WHERE k IN q OR name NOT IN q
SELECT sum(price * 1e308 * id), avg(price * 1e308 * id), total(price * 1e308 * id), sum(price) FROM t
SELECT k, sum(iif(id % 2, 1e999, -1e999)), total(iif(id % 2, 1e999, -1e999)) FILTER (WHERE id > 9), avg(price) FROM t GROUP BY k
SELECT total(k) FROM t WHERE 0
SELECT id > 500, total(k), sum(k) FROM t WHERE id < 0 GROUP BY 1
SELECT id FROM t WHERE id < 4 UNION ALL SELECT v FROM (SELECT v FROM u ORDER BY v, id LIMIT 3) AS q
SELECT 1 AS c FROM t UNION ALL SELECT 1 AS c FROM (SELECT 1 AS d FROM u ORDER BY 1) AS q
SELECT k FROM (SELECT k FROM t ORDER BY k, id LIMIT 4) AS q UNION SELECT v FROM (SELECT v FROM u ORDER BY v DESC LIMIT 2) AS r ORDER BY 1
SELECT id, k IS EXISTS (SELECT 1 FROM u), any_ IS NOT (EXISTS (SELECT 1 FROM u WHERE id > 99)) FROM t
SELECT id FROM t WHERE any_ IS (name IN (SELECT note FROM u WHERE id > 99)) OR k IS NOT EXISTS (SELECT 1 FROM w)
SELECT id, k IS NOT DISTINCT FROM TRUE, any_ IS DISTINCT FROM (FALSE), TRUE IS k FROM t
SELECT t.id, u.v FROM t JOIN u ON (t.id, t.k) = (u.t_id, u.v)
SELECT t.id FROM t WHERE (k, id) = (3, 3) OR (k, name) = (k, name)
SELECT t.id, u.v FROM t LEFT JOIN u ON (u.v, u.note) = (t.k, t.name) ORDER BY 1, 2
