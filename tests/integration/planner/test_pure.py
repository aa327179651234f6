"""The planner needs no driver, no engine and no I/O: planned and run in a process that has none of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BLOCKED = (
    "duckdb pyarrow numpy pandas polars pymysql psycopg sqlite3 adbc_driver_postgresql sqlalchemy rich typer"
)

PROGRAM = '''
import sys

BLOCKED = set("""{blocked}""".split())

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ImportError(f"{{name}} is blocked")

sys.meta_path.insert(0, Blocker())

from datetime import UTC, datetime

from shardwise.catalog import parse
from shardwise.options import Options
from shardwise.plan.explain import explain_text
from shardwise.plan.run import Bound
from shardwise.planner import Context, Planner

def refuse(event, args):
    """Files, sockets and processes; a module that is imported late is read, but that is not our doing."""
    if event == "open" and not str(args[0]).endswith((".py", ".pyc", ".so")):
        raise AssertionError(f"{{event}} {{args}}")
    if event.partition(".")[0] in ("socket", "subprocess", "sqlite3"):
        raise AssertionError(f"{{event}} {{args}}")

catalog = parse("""
CREATE CATALOG shop DIALECT duckdb;
CREATE SOURCE s{{n}} FOR n IN 0-3 URL 'duckdb:///s{{n}}.duckdb';
CREATE SHARDING by_id USING MOD 4 ON s{{slot}};
CREATE TABLE users (id BIGINT PRIMARY KEY, name VARCHAR, age INTEGER) SHARD BY by_id (id);
CREATE TABLE orders (id BIGINT, user_id BIGINT, total DECIMAL(12,2), placed DATE) SHARD BY by_id (user_id);
CREATE TABLE cities (name VARCHAR) REFERENCE ON by_id;
""")
planner = Planner(catalog)
planner.prepare("SELECT current_date").plan()  # the time zone is read once
sys.addaudithook(refuse)

class Batch:
    num_rows, nbytes = 2, 64

def drive(plan):
    run = plan.start()
    requests = list(run.ready())
    for request in requests:
        run.feed(request.id, Batch)
        run.finish(request.id)
    assert run.error is None
    assert run.rows_moved == 2 * len(requests), run.rows_moved
    assert run.bytes_moved == 64 * len(requests)
    return [(r.fragment, r.shard, r.sql) for r in requests], run.merge

# One shard answers whole.
plan = planner.prepare("SELECT name FROM users WHERE id = ?").plan([6])
assert plan.is_single_shard and plan.shards == ("s2",)
requests, merge = drive(plan)
assert len(requests) == 1 and merge is None

# Scattered, with a merge.
text = """SELECT name, sum(total) FROM users JOIN orders ON users.id = user_id
WHERE placed <= current_date GROUP BY name ORDER BY 2 DESC LIMIT 3"""
plan = planner.prepare(text).plan(context=Context(now=datetime(2026, 1, 2, tzinfo=UTC)))
requests, merge = drive(plan)
assert [shard for _, shard, _ in requests] == ["s0", "s1", "s2", "s3"]
assert "2026-01-02" in requests[0][2]
assert merge.inputs == ("f1",) and "f1" in merge.sql
assert "Fragment f1" in explain_text(plan)

# A subquery runs first, and its rows prune the plan of the rest.
text = "SELECT name FROM users WHERE id IN (SELECT id FROM orders WHERE total > 100)"
plan = planner.prepare(text).plan()
assert not plan.is_single_shard
text = "SELECT name FROM users WHERE id = (SELECT max(id) FROM orders)"
plan = planner.prepare(text).plan(options=Options(scatter="allow"))
run = plan.start()
(early,) = run.first
assert early.is_scalar
drive(early.plan)
run.bind(early.name, Bound(("BIGINT",), [(7,)]))
assert not run.first
(request,) = run.ready()
assert request.shard == "s3", request
assert 7 in request.params.values()
run.finish(request.id)
assert run.merge is None

# Refused, with an error of our own.
for bad in ("SELECT * FROM nowhere", "SELECT nothing FROM users", "SELEC 1", "DELETE FROM users"):
    try:
        planner.prepare(bad).plan()
    except Exception as error:
        assert type(error).__module__ == "shardwise.errors", error
    else:
        raise AssertionError(bad)

loaded = sorted(n for n in sys.modules if n.partition(".")[0] in BLOCKED)
assert not loaded, loaded
print("pure")
'''


def test_planning_and_running_need_no_driver() -> None:
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM.format(blocked=BLOCKED)],
        capture_output=True,
        text=True,
        cwd=root,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "pure"), done.stderr
