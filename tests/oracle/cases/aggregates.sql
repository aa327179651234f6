-- world: shop
-- Aggregates of every kind, grouping sets, windows, QUALIFY.

SELECT count(*), count(amt), sum(amt), avg(amt), min(amt), max(amt) FROM orders;

SELECT status, count(*), sum(amt), avg(amt) FROM orders GROUP BY status;

SELECT uid, count(*), sum(amt) FROM orders GROUP BY uid;

SELECT uid % 3 AS r, count(*) FROM orders GROUP BY r;

SELECT date_trunc('month', placed) AS m, sum(amt) FROM orders GROUP BY 1;

SELECT sum(id), avg(id), sum(grp), sum(score), avg(score) FROM users;

SELECT sum(v), avg(v), min(v), max(v) FROM temps;

SELECT sum(id), avg(v), count(*) FROM hollow;

SELECT v, count(*) FROM hollow GROUP BY v;

SELECT stddev(score), stddev_pop(score), variance(score), var_pop(score), sem(score) FROM users;

SELECT grp, stddev_samp(score), var_samp(score) FROM users GROUP BY grp;

SELECT covar_pop(score, grp), covar_samp(score, grp), corr(score, grp) FROM users;

SELECT regr_slope(score, grp), regr_intercept(score, grp), regr_r2(score, grp), regr_count(score, grp), regr_avgx(score, grp), regr_avgy(score, grp), regr_sxx(score, grp), regr_syy(score, grp), regr_sxy(score, grp) FROM users;

SELECT skewness(score), kurtosis(score), entropy(grp) FROM users;

SELECT bool_and(active), bool_or(active), bit_and(grp), bit_or(grp), bit_xor(grp) FROM users;

SELECT median(amt), quantile_cont(amt, 0.25), quantile_disc(amt, 0.9), mad(amt) FROM orders;

SELECT status, median(amt), mode(uid) IS NULL AS m FROM orders GROUP BY status;

SELECT quantile_cont(score, [0.1, 0.5]) FROM users;

SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amt) FROM orders;

SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY amt DESC) FROM orders;

SELECT count(DISTINCT uid), count(DISTINCT status), sum(DISTINCT grp_) FROM (SELECT uid, status, uid % 4 AS grp_ FROM orders) q;

SELECT status, count(DISTINCT uid), avg(DISTINCT amt) FROM orders GROUP BY status;

SELECT uid, count(DISTINCT status) FROM orders GROUP BY uid;

SELECT count(DISTINCT (uid, status)) FROM orders;

SELECT string_agg(name, ',' ORDER BY id) FROM users WHERE id IS NOT NULL;

SELECT grp, string_agg(DISTINCT name, '-' ORDER BY name DESC) FROM users GROUP BY grp;

SELECT list(id ORDER BY id NULLS LAST), array_agg(name ORDER BY id NULLS LAST) FROM users WHERE id IS NOT NULL;

SELECT list_sort(list(DISTINCT grp)) FROM users;

SELECT list_sort(list(grp)) FROM users;

SELECT first(name ORDER BY id), last(name ORDER BY id) FROM users WHERE id IS NOT NULL;

SELECT arg_min(name, id), arg_max(name, id), arg_max(id, score + id / 1000.0) FROM users;

SELECT grp, min_by(id, born), max_by(id, born) FROM users WHERE id IS NOT NULL AND born IS NOT NULL GROUP BY grp;

SELECT min(name), max(name), min(born), max(active) FROM users;

SELECT min(placed), max(placed), max(placed) - min(placed) FROM orders;

SELECT histogram(grp) FROM users;

SELECT any_value(status) IS NOT NULL FROM orders;

SELECT product(score) FROM users WHERE score BETWEEN 1 AND 2;

SELECT count_if(amt > 20), sum(amt) FILTER (WHERE status = 'paid'), count(*) FILTER (WHERE amt IS NULL) FROM orders;

SELECT status, count(*) FILTER (WHERE uid % 2 = 0), avg(amt) FILTER (WHERE amt > 30) FROM orders GROUP BY status;

SELECT sum(amt) / count(*), sum(amt) + 1, round(avg(amt), 2) FROM orders;

SELECT status || '!' AS s, sum(amt * 2) - 1 AS x FROM orders GROUP BY status HAVING sum(amt) > 20 OR status IS NULL;

SELECT 1 FROM orders GROUP BY status;

SELECT sum(1), count(1), max(3) FROM users;

SELECT max(id) - min(id) FROM users WHERE grp = 10 HAVING count(*) > 1;

SELECT 'x' FROM orders HAVING count(*) > 1000;

SELECT approx_count_distinct(uid) > 5 AS ok FROM orders;

SELECT status, amt > 20 AS big, count(*) FROM orders GROUP BY ALL;

SELECT status, uid % 2 AS r, count(*), sum(amt) FROM orders GROUP BY ROLLUP (status, r);

SELECT status, uid, count(*), grouping(status, uid) FROM orders GROUP BY GROUPING SETS ((status), (uid), ());

SELECT status, uid % 2 AS r, avg(amt), count(DISTINCT uid) FROM orders GROUP BY CUBE (status, r);

SELECT uid, status, count(*) FROM orders GROUP BY GROUPING SETS ((uid, status), (uid)) HAVING count(*) > 1;

SELECT grp, id, sum(score) FROM users GROUP BY grp, ROLLUP (id);

SELECT count(*) FROM users GROUP BY ();

SELECT d.e, count(*), max(d.h), sum(d.i1), sum(d.u4), avg(d.f4) FROM docs d GROUP BY d.e;

SELECT max(h), max(u), min(b), max(iv), min(t), max(tz) FROM docs;

SELECT max(iv), min(e), max(body.b), sum(u4), bool_and(i1 > 0) FROM (SELECT * FROM docs WHERE id = 99) q;

SELECT id, row_number() OVER (ORDER BY id NULLS LAST, name) AS rn FROM users WHERE id IS NOT NULL;

SELECT uid, oid, row_number() OVER (PARTITION BY uid ORDER BY placed, oid) AS rn FROM orders;

SELECT oid, sum(amt) OVER (PARTITION BY uid ORDER BY oid) AS s, avg(amt) OVER (PARTITION BY uid) AS a FROM orders;

SELECT oid, sum(amt) OVER (PARTITION BY status ORDER BY oid ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS s FROM orders;

SELECT oid, rank() OVER (ORDER BY status) AS r, dense_rank() OVER (ORDER BY status) AS d, percent_rank() OVER (ORDER BY status) AS p, cume_dist() OVER (ORDER BY status) AS c FROM orders;

SELECT oid, lag(oid) OVER (PARTITION BY uid ORDER BY oid) AS l, lead(oid, 2, -1) OVER (ORDER BY oid) AS m FROM orders;

SELECT oid, first_value(amt) OVER w AS f, last_value(amt) OVER w AS l, nth_value(amt, 2) OVER w AS n FROM orders WINDOW w AS (PARTITION BY uid ORDER BY oid ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING);

SELECT id, ntile(4) OVER (ORDER BY id) AS q FROM users WHERE id IS NOT NULL;

SELECT oid, count(*) OVER (ORDER BY placed RANGE BETWEEN INTERVAL 10 DAY PRECEDING AND CURRENT ROW) AS c FROM orders;

SELECT id, sum(score) OVER () AS total, score / sum(score) OVER (PARTITION BY grp) AS share FROM users;

SELECT status, sum(count(*)) OVER () AS n, rank() OVER (ORDER BY sum(amt) DESC) AS r FROM orders GROUP BY status;

SELECT uid, sum(sum(amt)) OVER (ORDER BY uid) AS running FROM orders WHERE uid IS NOT NULL GROUP BY uid;

SELECT uid, oid FROM orders QUALIFY row_number() OVER (PARTITION BY uid ORDER BY oid) = 1;

SELECT status, oid FROM orders QUALIFY row_number() OVER (PARTITION BY status ORDER BY oid DESC) <= 2;

SELECT oid, rn FROM (SELECT oid, uid, row_number() OVER (PARTITION BY uid ORDER BY oid) AS rn FROM orders) q WHERE uid = 3;

SELECT status, count(*) AS n FROM orders GROUP BY status QUALIFY rank() OVER (ORDER BY count(*) DESC, status) = 1;

SELECT oid, sum(amt) FILTER (WHERE status = 'paid') OVER (PARTITION BY uid) AS p FROM orders;

SELECT oid, sum(amt) OVER (PARTITION BY uid ORDER BY oid ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) AS s FROM orders;

SELECT id, list(name) OVER (PARTITION BY grp ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS l FROM users WHERE id IS NOT NULL;

-- @ordered
SELECT id, count(*) OVER (PARTITION BY id % 3) AS c FROM users WHERE id IS NOT NULL ORDER BY c, id LIMIT 6;

SELECT u.grp, count(*), sum(o.amt) FROM users u JOIN orders o ON o.uid = u.id GROUP BY u.grp;

SELECT u.id, count(o.oid), sum(i.qty) FROM users u LEFT JOIN orders o ON o.uid = u.id LEFT JOIN items i ON i.oid = o.oid GROUP BY u.id;

SELECT c.name, count(*) FROM users u JOIN colors c ON c.id = u.id % 3 + 1 GROUP BY c.name;

SELECT k.name, sum(c.pop) FROM cities c JOIN countries k ON k.code = c.country GROUP BY k.name HAVING count(*) > 1;

SELECT e.kind, tag, count(*) FROM events e, unnest(e.tags) AS q(tag) GROUP BY e.kind, tag;
