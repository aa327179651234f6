-- world: shop
-- Parameters: positional, in every clause.

-- @params [5]
SELECT name FROM users WHERE id = ?;

-- @params [5, 20]
SELECT id FROM users WHERE id > ? AND id <= ?;

-- @params [10, "ann"]
SELECT id FROM users WHERE grp = ? OR name = ?;

-- @params [null]
SELECT id FROM users WHERE id = ?;

-- @params [3, 4, 99]
SELECT id FROM users WHERE id IN (?, ?, ?);

-- @params [1.5]
SELECT id FROM users WHERE score > ?;

-- @params ["5"]
SELECT id FROM users WHERE id = ?::BIGINT;

-- @params [2]
SELECT status, count(*) FROM orders GROUP BY status HAVING count(*) > ?;

-- @params [4]
-- @ordered
SELECT id FROM users WHERE id IS NOT NULL ORDER BY id LIMIT ?;

-- @params ["x", 7]
SELECT ? AS a, id + ? AS b FROM users;

-- @params [30]
SELECT u.id, o.oid FROM users u LEFT JOIN orders o ON o.uid = u.id AND o.amt > ?;

-- @params [5, 5]
SELECT u.id, (SELECT count(*) FROM orders o WHERE o.uid = ?) AS n FROM users u WHERE u.id = ?;

-- @params ["it's; DROP TABLE users --"]
SELECT id FROM users WHERE name = ?;

-- @params {"low": 3, "high": 9}
SELECT id FROM users WHERE id BETWEEN $low AND $high;

-- @params {"x": 4}
SELECT id, $x AS y FROM users WHERE id = $x OR grp = $x;

-- @params [5]
SELECT id, '?' AS "?" FROM users WHERE name <> '?' AND id = ?;

-- a WITH item that is not read has its parameter all the same
-- @params [3, 5]
WITH w AS (SELECT id FROM users WHERE id = ?) SELECT id FROM orders JOIN users ON uid = id WHERE id = ?;

-- @params [3]
WITH w AS (SELECT id FROM users WHERE id = ?), v AS (SELECT 1 AS y) SELECT y FROM v;

-- @params {"x": 3}
WITH w AS (SELECT id FROM users WHERE id = $x) SELECT 1 AS y;
