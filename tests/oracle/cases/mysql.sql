-- Collations in =, IN, LIKE, BETWEEN, joins
SELECT id FROM t WHERE name = 'ANN' ORDER BY id
SELECT id FROM t WHERE name = 'ann   ' ORDER BY id
SELECT id FROM t WHERE name IN ('bob', 'EA') ORDER BY id
SELECT id FROM t WHERE acc = 'bob' ORDER BY id
SELECT id FROM t WHERE acc = 'strasse' ORDER BY id
SELECT id FROM t WHERE name = 'strasse' ORDER BY id
SELECT id FROM t WHERE bin = 'Ann' ORDER BY id
SELECT id FROM t WHERE bin = 'ANN' ORDER BY id
SELECT id FROM t WHERE bin IN ('ann', 'ANN ') ORDER BY id
SELECT id FROM t WHERE name <> 'ann' ORDER BY id
SELECT id FROM t WHERE name LIKE 'a%' ORDER BY id
SELECT id FROM t WHERE bin LIKE 'A%' ORDER BY id
SELECT id FROM t WHERE name LIKE '_nn' ORDER BY id
SELECT id FROM t WHERE note LIKE '%,%' OR note LIKE 'x\_%' OR note LIKE 'a|,b' ESCAPE '|' ORDER BY id
SELECT id FROM t WHERE name NOT LIKE 'A%' ORDER BY id
SELECT id FROM t WHERE name BETWEEN 'a' AND 'c' ORDER BY id
SELECT id FROM t WHERE name > 'b' AND acc < 's' ORDER BY id
SELECT id FROM t WHERE name REGEXP '^a' ORDER BY id
SELECT id FROM t WHERE name RLIKE 'B.b' AND NOT bin REGEXP 'b$' ORDER BY id
SELECT id FROM t WHERE BINARY name = 'ann' ORDER BY id
SELECT id FROM t WHERE name COLLATE utf8mb4_bin = 'ann' ORDER BY id
SELECT id FROM t WHERE name = 'ann' COLLATE utf8mb4_bin ORDER BY id
SELECT id FROM t WHERE name = bin ORDER BY id
SELECT id FROM t WHERE acc COLLATE utf8mb4_general_ci = name ORDER BY id
SELECT a.id, b.id FROM t a JOIN t b ON a.name = b.name WHERE a.id < b.id AND a.id < 10 ORDER BY 1, 2
SELECT a.id, b.id FROM t a JOIN t b ON a.acc = b.acc WHERE a.id < 10 ORDER BY 1, 2
SELECT a.id, b.id FROM t a JOIN t b ON a.bin = b.bin WHERE a.id < 10 ORDER BY 1, 2
SELECT t.id, r.n FROM t JOIN r ON t.name = r.code ORDER BY 1, 2
SELECT t.id, p.z FROM t JOIN p ON t.name = p.name WHERE t.id < 15 ORDER BY 1, 2
SELECT a.id, b.id FROM t a JOIN t b ON (a.bin, a.name) = (b.bin, b.name) WHERE a.id < 10 ORDER BY 1, 2
SELECT a.id, b.id FROM t a LEFT JOIN t b ON (a.name, (a.acc, a.bin)) = (b.name, (b.acc, b.bin)) AND a.id < b.id ORDER BY 1, 2
SELECT p.name, q.name FROM p JOIN q ON p.name = q.name COLLATE utf8mb4_general_ci
SELECT t.id, w.x FROM t LEFT JOIN w ON t.name = w.name AND w.x = 2 WHERE t.id < 20 ORDER BY 1, 2
SELECT count(*) FROM p a JOIN p b ON a.name = b.name
SELECT count(*) FROM q a JOIN q b ON a.name = b.name
SELECT * FROM p WHERE name = 'ann'
SELECT * FROM p WHERE name = 5
SELECT * FROM p WHERE name = '5'
SELECT * FROM p WHERE name IN ('5', 'BOB')
SELECT * FROM q WHERE name = 'ann'
SELECT * FROM q WHERE name = 5
SELECT * FROM q WHERE name IN ('ann', 'bob') OR name IS NULL
SELECT z, count(*) FROM p WHERE name = 'Ann' OR name = '05' GROUP BY z ORDER BY z
-- Collations in GROUP BY, DISTINCT, COUNT(DISTINCT), UNION, ORDER BY, MIN and MAX
SELECT name, count(*) FROM t GROUP BY name ORDER BY name
SELECT acc, count(*), sum(k) FROM t GROUP BY acc ORDER BY acc
SELECT bin, count(*) FROM t GROUP BY bin ORDER BY bin
SELECT DISTINCT name FROM t ORDER BY name
SELECT DISTINCT acc FROM t ORDER BY acc
SELECT DISTINCT bin FROM t ORDER BY bin
SELECT DISTINCT name, k FROM t ORDER BY name, k
SELECT count(DISTINCT name), count(DISTINCT acc), count(DISTINCT bin) FROM t
SELECT count(DISTINCT name, k), count(DISTINCT bin, acc) FROM t
SELECT k, count(DISTINCT name), count(name), count(*) FROM t GROUP BY k ORDER BY k
SELECT name FROM t UNION SELECT note FROM u ORDER BY 1
SELECT name FROM t UNION ALL SELECT note FROM u ORDER BY 1
SELECT bin FROM t UNION SELECT bin FROM t ORDER BY 1
SELECT name FROM t INTERSECT SELECT note FROM u ORDER BY 1
SELECT name FROM t EXCEPT SELECT note FROM u ORDER BY 1
SELECT name FROM p UNION SELECT name FROM w ORDER BY name
SELECT bin FROM t UNION SELECT name FROM t ORDER BY 1
SELECT count(DISTINCT x), count(*) FROM (SELECT bin AS x FROM t WHERE id = 1 AND id = 2 UNION SELECT name FROM t) q
SELECT x FROM (SELECT bin AS x FROM t UNION ALL SELECT name FROM t) q WHERE x = 'ANN' ORDER BY 1
SELECT x, count(*) FROM (SELECT upper(bin) AS x FROM t UNION SELECT upper(name) FROM t) q GROUP BY x ORDER BY 1, 2
SELECT name FROM t EXCEPT SELECT bin FROM t ORDER BY 1
SELECT id, name FROM t ORDER BY name, id
SELECT id, acc FROM t ORDER BY acc DESC, id
SELECT id, bin FROM t ORDER BY bin, id DESC
SELECT id FROM t ORDER BY name COLLATE utf8mb4_bin, id
SELECT id, name FROM t ORDER BY name DESC, id LIMIT 7
SELECT id, acc FROM t ORDER BY acc, id LIMIT 5, 10
SELECT min(name), max(name), min(acc), max(acc), min(bin), max(bin) FROM t
SELECT k, min(bin), max(acc) FROM t GROUP BY k ORDER BY k
SELECT note, count(*) FROM t GROUP BY note ORDER BY note
SELECT name, acc, count(*) c FROM t GROUP BY name, acc HAVING c > 1 ORDER BY c DESC, name, acc
SELECT upper(name) n, count(*) FROM t GROUP BY n ORDER BY n
SELECT b, count(*), hex(b) FROM t GROUP BY b ORDER BY b
-- Numbers: /, DIV, %, AVG, SUM and their types
SELECT id, k / 2, k DIV 2, k % 2, k MOD 2, -k, k * 1.5, k / 3 FROM t ORDER BY id
SELECT 7 / 2, 7 DIV 2, -7 DIV 2, -7 % 3, 7.5 % 2, 1 / 3, 2 / 3 * 3, 1e0 / 3, 5 / 0, 5 DIV 0, 5 % 0, 0.1 + 0.2, 0.1e0 + 0.2
SELECT sum(k), avg(k), sum(price), avg(price), sum(qty), avg(qty), sum(flag), avg(flag), sum(w) FROM t, (SELECT 1 AS w) x
SELECT sum(w), avg(w), avg(w) * 3, sum(w) / count(*), sum(v) / 7, avg(v) / 7, round(avg(w), 3) FROM u
SELECT k, sum(price), avg(price), min(price), max(price), count(price) FROM t GROUP BY k ORDER BY k
SELECT k, avg(k * 2), avg(price + 1), avg(-price), sum(price * 1.1), sum(price) * 1.1 FROM t GROUP BY k ORDER BY k
SELECT avg(price), count(price) FROM t WHERE k = 99
SELECT sum(big), avg(big), min(big), max(big) FROM t
SELECT sum(DISTINCT price), avg(DISTINCT price), sum(DISTINCT k), avg(DISTINCT k), count(DISTINCT price) FROM t
SELECT k, sum(DISTINCT price), avg(DISTINCT qty), max(DISTINCT bin), count(*) FROM t GROUP BY k ORDER BY k
SELECT std(k), stddev_samp(price), var_pop(k), variance(price), var_samp(qty) FROM t WHERE qty < 100 OR qty IS NULL
SELECT k, std(price), variance(k) FROM t GROUP BY k ORDER BY k
SELECT bit_and(k), bit_or(k), bit_xor(k) FROM t WHERE k > 0
SELECT name, bit_and(flag), bit_or(flag), bit_xor(id) FROM t GROUP BY name ORDER BY name
SELECT bit_and(k), bit_or(k), bit_xor(k) FROM t WHERE id = 99999
SELECT sum(k > 1), sum(name = 'ann'), avg(k > 1), count(k > 1 OR NULL) FROM t
SELECT sum(d), avg(d), sum(dur), max(dur), min(at), max(d) FROM t
SELECT sum(name), avg(name), sum(bin + 0) FROM t
SELECT round(2.5), round(-2.5), round(25, -1), round(price, 1), truncate(price, 1), ceil(price), floor(price) FROM t ORDER BY id LIMIT 9
SELECT id, big + 1, big * 2 / 3, big DIV 7, big & 255, big | 1, big ^ 3, ~big, big >> 3, big << 1 FROM t WHERE abs(big) < 1000000 ORDER BY id
SELECT 1 + 2 * 3 - 4 / 5, -2 * -3, 10 - 3 - 2, 2 * (3 + 4), -(-5), 2 - -1
SELECT 18446744073709551615 - 1, 9223372036854775807 + 0, 0x41 + 0, x'41' + 0, b'101' + 0, 1e308 * 10 IS NULL
SELECT pow(2, 10), sqrt(2), exp(1), ln(10), log10(100), log2(8), abs(-3), sign(-2.5), mod(10, 3), pi(), conv('ff', 16, 10), crc32('abc'), greatest(1, 5, 3), least(2, 1.5)
-- Implicit conversions, NULL, IF and the like
SELECT 1 = '1', 1 = '1x', 'abc' = 0, '10' + 5, '1.5abc' * 2, 'a' + 1, NULL = NULL, NULL <=> NULL, 1 <=> NULL, '01' = 1, 0.1 = '0.1'
SELECT id FROM t WHERE id = '7' OR id = '8.0' OR id = 9.0 ORDER BY id
SELECT id FROM t WHERE id = '7abc' ORDER BY id
SELECT id FROM t WHERE id = 7.5
SELECT id FROM t WHERE id IN ('3', 4, 5.0) ORDER BY id
SELECT id FROM t WHERE id IN ('3', '4') ORDER BY id
SELECT id FROM t WHERE id = TRUE OR id = FALSE
SELECT id FROM t WHERE id BETWEEN '3' AND 6 ORDER BY id
SELECT id FROM t WHERE id BETWEEN 3 AND 6 AND id <> 4 ORDER BY id
SELECT id, name + 0, name * 1.0, bin = 5, name = 5 FROM t ORDER BY id
SELECT id FROM t WHERE bin = 5 ORDER BY id
SELECT id FROM t WHERE name ORDER BY id
SELECT id FROM t WHERE k AND flag ORDER BY id
SELECT id FROM t WHERE NOT k ORDER BY id
SELECT id FROM t WHERE !flag ORDER BY id
SELECT id, k IS NULL, k IS NOT NULL, isnull(k), flag IS TRUE, flag IS NOT TRUE, flag IS UNKNOWN, k <=> NULL FROM t ORDER BY id
SELECT id, ifnull(k, -1), nullif(k, 3), if(k > 1, 'big', 'small'), coalesce(name, bin, 'none'), CASE WHEN k > 2 THEN name ELSE acc END FROM t ORDER BY id
SELECT id, CASE k WHEN 1 THEN 'one' WHEN 2 THEN 'two' ELSE NULL END FROM t ORDER BY id
SELECT id FROM t WHERE k <=> NULL AND NOT (name <=> NULL) ORDER BY id
SELECT TRUE, FALSE, 1 < 2, NOT 0, 1 AND NULL, 0 AND NULL, 1 OR NULL, 1 XOR 1, 1 XOR NULL, (1 = 1) + 1, 5 BETWEEN 1 AND 10, 3 IN (1, 2, NULL), 1 || 0, 0 && 1
SELECT id, flag = 1, k > 2, name = 'ann', k > 2 = TRUE FROM t ORDER BY id
SELECT id FROM t WHERE flag = TRUE ORDER BY id
SELECT 'a' || 'b', '1' || '0', 1 || 'x'
SELECT concat(name, '-', k), concat(name, NULL), concat_ws(',', name, NULL, k), concat(1, 2.50, NULL IS NULL) FROM t ORDER BY id LIMIT 12
SELECT cast('12abc' AS SIGNED), cast(-1 AS UNSIGNED), cast('2024-01-02' AS DATE), cast(1.567 AS DECIMAL(4,1)), cast(65 AS CHAR), cast('1' AS DOUBLE), convert('5', SIGNED), convert('x' USING utf8mb4), binary 'A' = 'a'
SELECT id, cast(price AS SIGNED), cast(price AS CHAR), cast(k AS DECIMAL(10,3)), cast(at AS DATE), cast(at AS TIME), cast(d AS DATETIME), cast(name AS BINARY(3)) FROM t ORDER BY id
SELECT cast(dur AS CHAR), dur + 0, d + 0, at + 0, d = '2024-01-01', at > '2024-01-01 10:00', d < 20240201 FROM t ORDER BY id
SELECT name = 'a' 'nn', 'it''s', 'say "x"', "double 'q'", 'back\\slash', 'tab\there', 'a\%b', '\_' FROM t WHERE id = 1
SELECT N'abc', _utf8mb4'x', x'4142', 0x4142, b'1000001', DATE '2024-02-29', TIME '10:11:12', TIMESTAMP '2024-01-01 00:00:00.5'
-- Dates, times and intervals
SELECT id, d + INTERVAL 1 DAY, d - INTERVAL 1 MONTH, date_add(d, INTERVAL 1 YEAR), date_sub(at, INTERVAL '1:30' MINUTE_SECOND), at + INTERVAL 1.5 SECOND, INTERVAL 2 HOUR + at FROM t ORDER BY id
SELECT id, year(d), month(d), day(d), quarter(d), week(d), week(d, 1), week(d, 3), weekofyear(d), yearweek(d), dayofweek(d), weekday(d), dayofyear(d), dayname(d), monthname(d), last_day(d) FROM t ORDER BY id
SELECT id, hour(at), minute(at), second(at), microsecond(at), date(at), time(at), extract(YEAR_MONTH FROM at), extract(DAY_HOUR FROM at), extract(WEEK FROM d) FROM t ORDER BY id
SELECT id, date_format(at, '%Y-%m-%d %H:%i:%s.%f'), date_format(d, '%W %M %e %Y %u %v %x %j %y %c'), time_format(dur, '%H:%i'), to_days(d), from_days(739000), unix_timestamp(at), to_seconds(d) FROM t ORDER BY id
SELECT datediff('2024-03-01', '2024-02-01'), timediff('10:00:00', '08:30:00'), timestampdiff(MONTH, '2024-01-31', '2024-02-29'), timestampdiff(SECOND, '2024-01-01', '2024-01-02'), timestampadd(WEEK, 1, '2024-01-01'), addtime('10:00:00', '02:30:00'), subtime('10:00:00', '00:00:01.5'), period_add(202401, 2), period_diff(202403, 202312), makedate(2024, 60), maketime(25, 10, 5), sec_to_time(3661), time_to_sec('01:01:01'), str_to_date('05/01/2024', '%d/%m/%Y'), from_unixtime(86400) = from_unixtime(86400), get_format(DATE, 'EUR')
SELECT d, count(*), max(at), min(dur) FROM t GROUP BY d ORDER BY d
SELECT year(d) y, month(d) m, count(*) FROM t GROUP BY y, m ORDER BY y, m
SELECT id FROM t WHERE d >= '2024-01-01' AND d < '2024-01-01' + INTERVAL 1 YEAR ORDER BY id
SELECT id FROM t WHERE d = DATE '2024-02-29' OR at = TIMESTAMP '2024-01-01 00:00:00' ORDER BY id
SELECT id FROM t WHERE d BETWEEN '2024-01-01' AND '2024-12-30' AND at IS NOT NULL ORDER BY id
SELECT id FROM t WHERE dur > '10:00:00' OR dur < 0 ORDER BY id
SELECT a.id, b.id FROM t a JOIN u b ON a.d = b.at WHERE a.id < 6 ORDER BY 1, 2
SELECT at, dur, addtime(at, dur), timestamp(d, dur) FROM t ORDER BY id
SELECT max(d) - INTERVAL 1 DAY, min(d) + INTERVAL count(*) DAY FROM t
SELECT curdate() <= now(), now() = now(), date(now()) = curdate(), unix_timestamp() > 1700000000, utc_timestamp() IS NOT NULL, time(now()) = curtime(), now(6) >= now() FROM t WHERE id = 1
SELECT count(*) FROM t WHERE d < curdate() AND at < now() - INTERVAL 1 DAY
-- Texts
SELECT id, length(name), char_length(name), upper(name), lower(name), reverse(name), left(name, 2), right(name, 2), substring(name, 2, 2), substr(name, -2), mid(name, 2), substring(name FROM 2 FOR 1) FROM t ORDER BY id
SELECT id, trim(name), ltrim(name), rtrim(name), trim(BOTH 'a' FROM name), trim(LEADING 'A' FROM name), lpad(name, 6, '*'), rpad(name, 3, '.'), repeat(name, 2), replace(name, 'n', 'N'), insert(name, 1, 1, 'Z') FROM t ORDER BY id
SELECT id, instr(name, 'N'), locate('n', name), locate('n', name, 3), position('b' IN name), find_in_set(name, 'ann,bob'), field(name, 'ann', 'bob'), elt(k, 'a', 'b', 'c'), strcmp(name, 'b'), ascii(name), hex(name), ord(name) FROM t ORDER BY id
SELECT id, substring_index(note, ',', 1), substring_index(note, ' ', -1), format(price, 1), space(2), quote(name), soundex(name), md5(name), sha1(bin), to_base64(name), unhex(hex(name)), bin(k), oct(k), char(65, 66), char(65 USING utf8mb4) FROM t ORDER BY id
SELECT id, name REGEXP 'n', regexp_replace(name, 'n+', 'm'), regexp_substr(name, '[a-c]'), regexp_instr(name, 'n') FROM t ORDER BY id
SELECT make_set(5, 'a', 'b', 'c'), export_set(5, 'Y', 'N', ',', 4), inet_aton('10.0.0.1'), inet_ntoa(167772161), bit_count(7), bit_length('ab'), octet_length('é'), char_length('é'), lower('ÄÖ'), upper('straße'), reverse('äb'), lcase('A'), ucase('b')
SELECT id, weight_string(name) = weight_string(acc), collation(name), charset(name) FROM t ORDER BY id LIMIT 5
SELECT json_extract('{"a": [1, 2]}', '$.a[1]'), json_unquote(json_extract('{"a": "x"}', '$.a')), json_object('k', 1), json_array(1, 'a', NULL), json_valid(name), json_length('[1,2,3]') FROM t ORDER BY id LIMIT 3
SELECT id, json_object('id', id, 'name', name) FROM t ORDER BY id LIMIT 4
-- GROUP_CONCAT and other lists
SELECT k, group_concat(id ORDER BY id) FROM t GROUP BY k ORDER BY k
SELECT k, group_concat(id ORDER BY id DESC SEPARATOR '; ') FROM t GROUP BY k ORDER BY k
SELECT k, group_concat(DISTINCT flag ORDER BY flag) FROM t GROUP BY k ORDER BY k
SELECT group_concat(DISTINCT k ORDER BY k DESC SEPARATOR '') FROM t
SELECT group_concat(id, ':', k ORDER BY k, id SEPARATOR ' ') FROM t WHERE id < 12
SELECT group_concat(name ORDER BY id) FROM t WHERE id = 999
SELECT length(group_concat(repeat(note, 20) ORDER BY id)) FROM t
SELECT k, length(group_concat(note)), group_concat(NULL) FROM t GROUP BY k ORDER BY k
SELECT k, json_arrayagg(id ORDER BY id) FROM t GROUP BY k ORDER BY k
SELECT json_objectagg(id, name) FROM t WHERE id = 3
-- Grouping: HAVING, aliases, positions, ROLLUP
SELECT k, count(*) FROM t GROUP BY k WITH ROLLUP
SELECT k, flag, count(*), sum(price) FROM t GROUP BY k, flag WITH ROLLUP
SELECT coalesce(k, 'all'), sum(price) FROM t WHERE k > 0 GROUP BY k WITH ROLLUP
SELECT k, count(*) c FROM t GROUP BY k WITH ROLLUP HAVING c > 5
SELECT k AS kk, count(*) FROM t GROUP BY kk ORDER BY kk
SELECT k, count(*) FROM t GROUP BY 1 ORDER BY 2 DESC, 1
SELECT k + 1 AS kp, count(*) FROM t GROUP BY k + 1 ORDER BY kp
SELECT k, count(*) AS n FROM t GROUP BY k HAVING n > 3 AND k > 0 ORDER BY n DESC, k
SELECT k, sum(price) FROM t GROUP BY k HAVING sum(price) > 10 OR k IS NULL ORDER BY k
SELECT count(*) FROM t HAVING count(*) > 10
SELECT count(*) FROM t HAVING count(*) > 1000
SELECT max(k) FROM t WHERE id > 9999
SELECT k FROM t GROUP BY k ORDER BY count(*) DESC, k LIMIT 2
SELECT k, flag FROM t GROUP BY k, flag ORDER BY k DESC, flag DESC
SELECT k, count(*) FROM t WHERE name IS NOT NULL GROUP BY k
SELECT 'x', 1 + 1, count(*) FROM t GROUP BY 'x'
SELECT DISTINCT count(*) FROM t GROUP BY k ORDER BY 1
SELECT max(d) AS k, count(*) FROM t GROUP BY k ORDER BY k, 2
SELECT max(id) AS bin, count(*) FROM t GROUP BY bin ORDER BY bin
SELECT sum(c) FROM (SELECT count(*) AS c FROM t GROUP BY k) x
SELECT avg(c), max(m) FROM (SELECT k, count(*) c, max(price) m FROM t GROUP BY k) x WHERE c > 2
SELECT id FROM t GROUP BY id HAVING sum(k) > 2 ORDER BY id
SELECT id, p, q FROM (SELECT id, k > 1 AS p, flag > 0 AS q FROM t GROUP BY id, k > 1, flag > 0) x WHERE p = q ORDER BY id
SELECT t_id, count(*), sum(v) FROM u GROUP BY t_id HAVING count(*) > 1 ORDER BY t_id
-- Joins
SELECT t.id, t.name, u.v FROM t JOIN u ON u.t_id = t.id ORDER BY t.id, u.v, u.id
SELECT t.id, u.v FROM t LEFT JOIN u ON u.t_id = t.id WHERE u.v IS NULL ORDER BY t.id
SELECT t.id, u.v FROM t LEFT JOIN u ON u.t_id = t.id AND u.v > 2 ORDER BY t.id, u.v
SELECT t.id, u.v FROM u LEFT JOIN t ON u.t_id = t.id WHERE t.id IS NULL ORDER BY u.v
SELECT t.id, u.v FROM t RIGHT JOIN u ON u.t_id = t.id ORDER BY t.id, u.v
SELECT a.id, b.id FROM t a JOIN t b ON a.k = b.id ORDER BY 1, 2
SELECT a.id, b.id FROM t a LEFT JOIN t b ON a.k = b.id ORDER BY 1, 2
SELECT a.id, r.n FROM t a, r WHERE a.name = r.code AND r.n > 0 ORDER BY 1, 2
SELECT r.code, count(t.id) FROM r LEFT JOIN t ON t.name = r.code GROUP BY r.code ORDER BY 1
SELECT t.id, u.id FROM t JOIN u USING (id) ORDER BY 1
SELECT * FROM t NATURAL JOIN (SELECT id, v FROM u) x ORDER BY id, v LIMIT 4
SELECT count(*) FROM t CROSS JOIN r
SELECT t.id, u.v FROM t JOIN u WHERE t.id = u.t_id AND t.k = 3 ORDER BY 1, 2
SELECT t.id, u.v FROM t INNER JOIN u WHERE t.id = u.t_id ORDER BY 1, 2
SELECT count(*) FROM t, u, r
SELECT count(*) FROM t STRAIGHT_JOIN u ON u.t_id = t.id
SELECT t.id FROM (t JOIN u ON u.t_id = t.id) LEFT JOIN r ON r.n = u.v WHERE r.code = 'ann' ORDER BY 1
SELECT t.id, r.n FROM t JOIN r ON r.n = t.k AND t.name <> r.code ORDER BY 1, 2
SELECT a.id FROM t a JOIN u b ON b.t_id = a.id JOIN u c ON c.t_id = a.id WHERE b.v = 1 AND c.v = 3 ORDER BY 1
SELECT t.id, x.s FROM t JOIN (SELECT t_id, sum(v) s FROM u GROUP BY t_id) x ON x.t_id = t.id WHERE x.s > 3 ORDER BY 1
SELECT t.k, count(DISTINCT u.note), sum(u.w) FROM t JOIN u ON u.t_id = t.id GROUP BY t.k ORDER BY 1
SELECT t.id, u.v FROM t LEFT JOIN u ON u.t_id = t.id AND u.v = (SELECT max(v) FROM u) ORDER BY 1, 2
-- Subqueries
SELECT id FROM t WHERE id IN (SELECT t_id FROM u WHERE v = 3) ORDER BY id
SELECT id FROM t WHERE id NOT IN (SELECT t_id FROM u WHERE t_id IS NOT NULL) ORDER BY id
SELECT id FROM t WHERE id NOT IN (SELECT t_id FROM u)
SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.t_id = t.id AND u.v > 2) ORDER BY id
SELECT id FROM t WHERE NOT EXISTS (SELECT * FROM u WHERE u.t_id = t.id) ORDER BY id
SELECT id, (SELECT count(*) FROM u WHERE u.t_id = t.id) c, (SELECT max(v) FROM u WHERE u.t_id = t.id) m FROM t ORDER BY id
SELECT id FROM t WHERE price > (SELECT avg(price) FROM t) ORDER BY id
SELECT id FROM t WHERE k = (SELECT max(k) FROM t) ORDER BY id
SELECT id FROM t a WHERE price = (SELECT max(price) FROM t b WHERE b.k = a.k) ORDER BY id
SELECT id FROM t WHERE k > ALL (SELECT v FROM u WHERE v < 3) ORDER BY id
SELECT id FROM t WHERE k = ANY (SELECT v FROM u) ORDER BY id
SELECT id FROM t WHERE name IN (SELECT note FROM u) ORDER BY id
SELECT id FROM t WHERE (k, flag) IN (SELECT v, 1 FROM u) ORDER BY id
SELECT id FROM t WHERE (id, k) = (3, 3) OR (id, k) IN ((1, 1), (2, 2), (5, 5)) ORDER BY id
SELECT (SELECT count(*) FROM t) + (SELECT count(*) FROM u), (SELECT 1 FROM t WHERE id = 999)
SELECT x.k, x.c FROM (SELECT k, count(*) c FROM t GROUP BY k) x WHERE x.c > (SELECT count(*) FROM t) / 10 ORDER BY x.k
SELECT * FROM (SELECT id, price FROM t ORDER BY price DESC, id LIMIT 5) x ORDER BY id
SELECT id FROM t WHERE k IN (1, 2) AND id IN (SELECT t_id FROM u WHERE note LIKE 'n%') OR id = 60 ORDER BY id
-- Windows
SELECT id, k, row_number() OVER (PARTITION BY k ORDER BY id) rn FROM t ORDER BY id
SELECT id, rank() OVER (ORDER BY price) r, dense_rank() OVER (ORDER BY price DESC) dr FROM t ORDER BY id
SELECT id, sum(price) OVER (PARTITION BY name ORDER BY id) s, count(*) OVER (PARTITION BY name) c FROM t ORDER BY id
SELECT id, avg(price) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM t ORDER BY id
SELECT id, lag(k) OVER (ORDER BY id), lead(k, 2) OVER (ORDER BY id), first_value(id) OVER (PARTITION BY k ORDER BY id), last_value(id) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM t ORDER BY id
SELECT id, ntile(4) OVER (ORDER BY id), percent_rank() OVER (ORDER BY id), cume_dist() OVER (ORDER BY id), nth_value(id, 2) OVER (ORDER BY id) FROM t ORDER BY id
SELECT id, sum(k) OVER w, max(price) OVER (w ROWS UNBOUNDED PRECEDING) FROM t WINDOW w AS (PARTITION BY flag ORDER BY id) ORDER BY id
SELECT k, count(*) c, rank() OVER (ORDER BY count(*) DESC, k) FROM t GROUP BY k ORDER BY k
SELECT * FROM (SELECT id, k, row_number() OVER (PARTITION BY k ORDER BY price DESC, id) rn FROM t) x WHERE rn <= 2 ORDER BY k, rn
SELECT id, row_number() OVER (PARTITION BY id ORDER BY k) FROM t ORDER BY id
-- WITH, set operations, LIMIT
WITH a AS (SELECT k, count(*) c FROM t GROUP BY k) SELECT * FROM a WHERE c > 3 ORDER BY k
WITH a (x, y) AS (SELECT id, k FROM t WHERE id < 10), b AS (SELECT x FROM a WHERE y > 1) SELECT a.x, b.x FROM a JOIN b ON a.x > b.x ORDER BY 1, 2
WITH t AS (SELECT * FROM t WHERE k > 1) SELECT id AS x, k AS y FROM t ORDER BY y, x
WITH t AS (SELECT k, price FROM t), u AS (SELECT k FROM t) SELECT max(price) AS most FROM t JOIN u ON t.k = u.k GROUP BY t.k ORDER BY most, count(*)
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT i, t.name FROM n LEFT JOIN t ON t.id = n.i ORDER BY i
WITH RECURSIVE c AS (SELECT id, k FROM t WHERE id = 1 UNION SELECT t.id, t.k FROM c JOIN t ON t.id = c.k) SELECT * FROM c ORDER BY id
SELECT k FROM t UNION SELECT v FROM u ORDER BY 1
SELECT k FROM t UNION ALL SELECT v FROM u ORDER BY 1 LIMIT 5
SELECT k, name FROM t UNION SELECT v, note FROM u ORDER BY 1, 2 LIMIT 10
SELECT k FROM t INTERSECT SELECT v FROM u ORDER BY k
SELECT k FROM t EXCEPT SELECT v FROM u ORDER BY k
SELECT id FROM t EXCEPT SELECT t_id FROM u ORDER BY id
SELECT id FROM t INTERSECT SELECT t_id FROM u ORDER BY id
(SELECT id FROM t ORDER BY id LIMIT 2) UNION ALL (SELECT id FROM t ORDER BY id DESC LIMIT 2) ORDER BY id
SELECT 1 UNION SELECT 2 UNION ALL SELECT 2 ORDER BY 1
SELECT k FROM t UNION SELECT price FROM t ORDER BY 1
SELECT k FROM t UNION SELECT name FROM t ORDER BY 1
SELECT id, k FROM t UNION ALL SELECT t_id, v FROM u UNION ALL SELECT n, n FROM r ORDER BY 1, 2 LIMIT 20
SELECT count(*) FROM (SELECT id FROM t UNION SELECT t_id FROM u) x
SELECT id FROM t ORDER BY id LIMIT 3
SELECT id FROM t ORDER BY id DESC LIMIT 3 OFFSET 2
SELECT id FROM t ORDER BY k, id LIMIT 2, 4
SELECT id FROM t ORDER BY k DESC, id LIMIT 5
SELECT id FROM t ORDER BY k IS NULL, k, id LIMIT 5
SELECT id FROM t ORDER BY id LIMIT 0
SELECT id FROM t ORDER BY id LIMIT 50, 18446744073709551615
SELECT id, price FROM t ORDER BY price * -1, id LIMIT 6
SELECT id AS x, k AS y FROM t ORDER BY y, x DESC LIMIT 4
SELECT DISTINCT k FROM t ORDER BY k LIMIT 3
SELECT DISTINCT id % 3 AS m FROM t ORDER BY m
SELECT id FROM t ORDER BY d, at, dur, b, id LIMIT 10
SELECT id FROM t ORDER BY field(k, 3, 1, 2), id LIMIT 10
-- Names of columns, as the server gives them
SELECT ID, T.Name, count( * ) OVER () AS `n 1`, id+1, 'text', 1.50, NULL, (k), -k, (SELECT 1), NOT k FROM t AS T ORDER BY 1 LIMIT 2
SELECT Max( k ), min(k) + 1, SUM(k)/2, "a b", 'a' 'b', concat('x', "y"), CASE WHEN 1 THEN 2 END FROM t
SELECT k AS `select`, flag AS 'quoted', price "p" FROM t ORDER BY id LIMIT 1
SELECT x.`k + 1` FROM (SELECT k + 1 FROM t WHERE id = 3) x
SELECT t.*, 1 FROM t WHERE id = 4
SELECT t.id, u.id FROM t JOIN u ON u.t_id = t.id WHERE t.id = 5
SELECT * FROM t JOIN r ON r.n = t.k WHERE t.id < 9 ORDER BY t.id, r.code
SELECT 'trailing ', ' leading', '', NULL FROM t WHERE id = 1
-- One shard
SELECT name, k FROM t WHERE id = 12
SELECT count(*), sum(price), group_concat(name) FROM t WHERE id = 12
SELECT t.name, u.v FROM t JOIN u ON u.t_id = t.id WHERE t.id = 7 ORDER BY u.v
SELECT k, count(*) FROM t WHERE id IN (7) GROUP BY k WITH ROLLUP
SELECT id, at, dur, b, flag, d, qty, big FROM t WHERE id = 20
SELECT * FROM r ORDER BY n
SELECT 1, 'a', NULL, now() IS NOT NULL
SELECT id FROM t WHERE id = 1 AND id = 2
SELECT count(*), sum(k), max(name), bit_and(k) FROM t WHERE id = 1 AND id = 2
SELECT name, count(*) FROM t WHERE id = NULL GROUP BY name
-- What is equal in an arm need not be equal in a set operation's result
SELECT name FROM p UNION SELECT name FROM q ORDER BY BINARY name
SELECT name FROM p INTERSECT SELECT name FROM q ORDER BY BINARY name
SELECT name FROM q INTERSECT SELECT name FROM p ORDER BY BINARY name
SELECT name FROM p EXCEPT SELECT name FROM q WHERE z = 1 ORDER BY BINARY name
SELECT hex(x.n) FROM (SELECT name AS n FROM t UNION SELECT bin FROM t) x ORDER BY 1
SELECT hex(x.b) FROM (SELECT b FROM t UNION SELECT name FROM t) x ORDER BY 1
SELECT j FROM o UNION SELECT name FROM t ORDER BY BINARY j
-- Bytes stay bytes in the merge, whatever they meet
SELECT b FROM t UNION ALL SELECT name FROM t ORDER BY 1
SELECT a.id, c.id FROM t a JOIN t c ON a.b = c.name ORDER BY 1, 2
SELECT concat(a.b, c.name), coalesce(a.b, c.name), if(a.id > 9, a.b, c.name) FROM t a JOIN t c ON a.k = c.flag ORDER BY a.id, c.id
SELECT a.id, c.id, a.b < c.name FROM t a JOIN t c ON a.k = c.flag ORDER BY a.id, c.id
-- Texts beside a BIT
SELECT count(DISTINCT bits), count(DISTINCT lat), count(DISTINCT uni), count(DISTINCT bin) FROM o
SELECT a.id, c.id, a.bits, a.lat = c.lat, a.uni = c.bin, a.lat = c.uni, concat(a.lat, c.bin) FROM o a JOIN o c ON a.id = c.id - 1 ORDER BY 1
SELECT bits, lat, count(*), length(max(lat)), min(bin) FROM o GROUP BY bits, lat ORDER BY bits, lat
SELECT a.id, a.bits, hex(a.bin), hex(a.uni), hex(a.lat) FROM o a JOIN o c ON a.id = c.id - 1 ORDER BY 1
SELECT a.bits AS lat, count(*) AS n FROM o a JOIN o c ON a.id = c.id GROUP BY a.bits
SELECT bits AS lat, max(id) AS uni FROM o GROUP BY bits HAVING max(id) > 1
-- A quotient has more digits than it shows
SELECT sum(k / 7) * 7, avg(k / 7) * 7, max(k / 7) * 7, min(k / 7) / 3 FROM t
SELECT sum(1 / id), avg(1 / id), avg(price / 3), sum(price / k) FROM t
SELECT k, avg(id / 7), sum(qty / 7) FROM t GROUP BY k ORDER BY k
SELECT id, (SELECT avg(k) FROM t) / 3, (SELECT sum(v) / 7 FROM u) * 7 FROM t ORDER BY id LIMIT 3
SELECT id FROM t WHERE price - 0.333333 > (SELECT avg(w) FROM u) / 3 ORDER BY id
SELECT id FROM t WHERE k / 3 IN (SELECT v / 3 FROM u) ORDER BY id
SELECT id FROM t WHERE k / 7 * 7 = (SELECT max(v / 7) FROM u WHERE v < 4) * 7 ORDER BY id
SELECT t.id, x.a * 7 FROM t JOIN (SELECT t_id, v / 7 AS a FROM u WHERE v < 4) x ON x.t_id = t.k ORDER BY 1, 2
SELECT sum(x.a) * 7, sum(x.a * 7) FROM (SELECT id / 7 AS a FROM t WHERE id < 30) x
SELECT x.a * 7 FROM (SELECT avg(k) / 7 AS a FROM t) x
SELECT id / 7 AS q FROM t ORDER BY q * 7, id LIMIT 9
SELECT id FROM t WHERE price > (SELECT avg(price) FROM t WHERE id > 5) ORDER BY id
SELECT id FROM t WHERE k / 7 = (SELECT max(v / 7) FROM u WHERE v < 4) ORDER BY id
SELECT id FROM t WHERE (SELECT sum(v) / 7 FROM u WHERE v = 3 AND id = 2) <> k * 3 / 7 ORDER BY id
SELECT a.id, b.t_id FROM (SELECT id, k / 7 AS q FROM t WHERE id = 5 OR id = 6) a JOIN (SELECT t_id, v / 7 AS q FROM u) b ON a.q = b.q ORDER BY 1, 2
SELECT id, avg(k) / 3, avg(k) FROM t GROUP BY id ORDER BY id
SELECT t.id, (SELECT sum(n) / 7 FROM r) * 1000000 FROM t JOIN w ON t.k = w.x ORDER BY 1
SELECT t.id, d.q * 1000000 FROM t JOIN w ON t.k = w.x JOIN (SELECT n, n / 7 AS q FROM r) d ON d.n = t.k ORDER BY 1
SELECT w.x, (SELECT sum(t.price) / 7 FROM t WHERE t.id = 3 GROUP BY t.id) * 1000000 FROM w ORDER BY 1
SELECT max(q) * 1000000 FROM (SELECT n / 7 AS q FROM r) d JOIN w ON true
SELECT t.id, sum(avg(price) / 7) OVER (ORDER BY t.id) * 1000 FROM t GROUP BY t.id ORDER BY 1
SELECT w.x, d.q * 1000000 FROM w LEFT JOIN (SELECT id, price / 7 AS q FROM t UNION ALL SELECT n, n / 7 FROM r) d ON d.id = w.x ORDER BY 1, 2
WITH c AS (SELECT id, price / 7 AS q FROM t WHERE id = 5) SELECT w.x, c.q * 1000000 FROM w JOIN c ON c.id > w.x ORDER BY 1
SELECT w.x, d.b * 1000000 FROM w JOIN (SELECT n, a * 3 AS b FROM (SELECT n, n / 7 AS a FROM r GROUP BY n) e) d ON d.n = w.x ORDER BY 1
SELECT t.id, sum(price) / 7 AS q FROM t GROUP BY t.id UNION ALL SELECT x, 0.000000001 FROM w ORDER BY 1, 2
SELECT d.k FROM (SELECT k, avg(price) / 7 AS a FROM t GROUP BY k) d WHERE a * 1000000 > 157142.857 ORDER BY 1
SELECT w.x, d.s * 1000000 FROM w JOIN (SELECT id, sum(price / 7) AS s FROM t WHERE id < 9 GROUP BY id) d ON d.id = w.x ORDER BY 1
-- An outer row is not seen in a derived table
SELECT w.x, (SELECT max(q) FROM (SELECT id, sum(price) AS q FROM t GROUP BY id) d WHERE d.id = w.x) AS m FROM w ORDER BY 1
SELECT t.id, (SELECT max(q) FROM (SELECT t_id, sum(v) AS q FROM u GROUP BY t_id) d WHERE d.t_id = t.id) AS m FROM t ORDER BY 1
SELECT t.id FROM t WHERE EXISTS (SELECT 1 FROM (SELECT t_id, count(*) AS q FROM u GROUP BY t_id) d WHERE d.t_id = t.id AND d.q > 1) ORDER BY 1
SELECT w.x FROM w WHERE w.x = (SELECT min(d.id) FROM (SELECT DISTINCT id FROM u UNION SELECT n FROM r) d WHERE d.id >= w.x) ORDER BY 1
SELECT w.x, (SELECT count(d.id) FROM t LEFT JOIN (SELECT id, k FROM t LIMIT 100) d ON d.id = w.x AND d.k = t.k) AS n FROM w ORDER BY 1
SELECT w.x, (SELECT max(d.q * d.q) FROM (SELECT n, n * 7 AS q FROM r) d WHERE d.n = w.x) AS m FROM w ORDER BY 1
SELECT w.x FROM w WHERE EXISTS (SELECT max(v) FROM u WHERE u.id = w.x HAVING max(v) > 1) ORDER BY 1
SELECT w.x, (SELECT count(e.id) FROM t LEFT JOIN u e ON e.v = w.x AND e.t_id = t.id) AS n FROM w ORDER BY 1
SELECT t.id, (SELECT count(*) FROM u JOIN r ON r.n = u.v AND u.t_id = t.id) AS n FROM t ORDER BY 1
SELECT w.x, (SELECT count(e.id) FROM t JOIN u e ON e.t_id = t.id AND e.v = w.x) AS n FROM w ORDER BY 1
SELECT v.x FROM w v WHERE EXISTS (SELECT 1 FROM (SELECT t.k + 1 AS v, id FROM t) s WHERE s.v = v.x) ORDER BY 1
-- A NULL has no type, and a text that no column gives has a collation that gives way
SELECT count(*) FROM t UNION ALL SELECT NULL FROM t ORDER BY 1
SELECT id FROM t UNION ALL SELECT if(n > 1, NULL, NULL) FROM r ORDER BY 1
SELECT id FROM t UNION ALL SELECT CASE WHEN n > 1 THEN NULL END FROM r ORDER BY 1
SELECT id FROM t UNION ALL SELECT coalesce(NULL, NULL) FROM r ORDER BY 1
SELECT id FROM t UNION ALL SELECT (SELECT NULL) FROM r ORDER BY 1
SELECT d FROM t UNION SELECT NULL FROM u ORDER BY 1
SELECT id FROM t UNION ALL SELECT max(NULL) FROM r ORDER BY 1
SELECT id FROM t UNION ALL SELECT min(if(v > 1, NULL, NULL)) FROM u ORDER BY 1
SELECT count(*) FROM (SELECT max('ANN') AS a, v FROM u GROUP BY v) x JOIN t ON t.acc = x.a
SELECT coalesce(d.x, 5) AS c FROM (SELECT NULL AS x, id FROM t) d JOIN w ON d.id = w.x ORDER BY 1
SELECT DISTINCT NULL, v FROM u ORDER BY 2
SELECT id, NULL FROM u ORDER BY 1 LIMIT 3
SELECT if(id > 3, NULL, NULL) AS n, id FROM t ORDER BY 1, 2 LIMIT 2
SELECT acc FROM t UNION SELECT 'ANN' FROM r ORDER BY 1
SELECT acc FROM t UNION SELECT concat('A', 'NN') FROM r ORDER BY 1
SELECT x.a, count(*) FROM (SELECT 'ann' AS a, id FROM t) x JOIN w ON w.x = x.id JOIN t ON t.acc = x.a GROUP BY x.a
SELECT count(*) FROM (SELECT concat('A', 'NN') AS a, id FROM t) x JOIN w ON w.x = x.id JOIN t ON t.acc = x.a
SELECT count(*) FROM (SELECT upper(id) AS a, id FROM t) x JOIN w ON w.x = x.id JOIN t ON t.acc = x.a
SELECT count(*) FROM (SELECT 'ANN' AS a, id FROM t) x JOIN w ON w.x = x.id JOIN t ON t.bin = x.a
SELECT x.a + 0 AS n, concat(x.h) AS c FROM (SELECT X'41' AS h, '1e2' AS a, id FROM t) x JOIN w ON w.x = x.id ORDER BY 1
SELECT id FROM t WHERE acc >= (SELECT max(hex(k)) FROM t) ORDER BY 1
SELECT id FROM t WHERE acc IN (SELECT concat(max(hex(v)), '') FROM u GROUP BY id HAVING count(*) > 1) ORDER BY 1
SELECT count(*) FROM (SELECT max(monthname(d)) FROM t UNION ALL SELECT acc FROM t) x
SELECT id, (SELECT min(hex(v)) FROM u) = acc AS e FROM t ORDER BY 1
SELECT count(*) FROM (SELECT max(hex(v)) AS h FROM u GROUP BY id) x JOIN t ON t.acc <> x.h
SELECT t.k, count(*) FROM t JOIN w ON w.x = t.id GROUP BY t.k, t.acc HAVING max(hex(w.x)) <> t.acc ORDER BY 1, 2
-- An aggregate that is looked for in a list
SELECT t_id FROM (SELECT t_id, max(v) AS n FROM u GROUP BY t_id) d WHERE n IN (SELECT n FROM r)
SELECT t_id FROM (SELECT t_id, count(*) AS n FROM u GROUP BY t_id) d WHERE n NOT IN (SELECT n FROM r WHERE n IS NOT NULL)
SELECT t_id FROM (SELECT t_id, max(v) AS n FROM u GROUP BY t_id) d WHERE n = ANY (SELECT n FROM r) ORDER BY t_id
SELECT t_id, n IN (SELECT n FROM r) AS i FROM (SELECT t_id, count(*) AS n FROM u GROUP BY t_id) d
SELECT t_id FROM (SELECT t_id, count(*) AS n FROM u GROUP BY t_id) d ORDER BY n IN (SELECT n FROM r WHERE n > 1), t_id LIMIT 9
SELECT id FROM (SELECT id, max(w) AS n FROM u GROUP BY id) d WHERE n IN (SELECT w FROM u)
-- DUAL
SELECT 1 FROM DUAL
SELECT 'x' AS x FROM dual WHERE 1 = 1 UNION SELECT name FROM t WHERE id = (SELECT 4 FROM DUAL) ORDER BY x
-- Names that the server gives, of what it has no room for in a name
SELECT '😀' FROM t WHERE id = 3
SELECT id, '😀', 'a\0b' FROM t WHERE id < 3 ORDER BY id
SELECT max(concat(name, '😀')), count(*) FROM t
SELECT concat('😀', k) FROM t GROUP BY 1 ORDER BY 1 LIMIT 3
