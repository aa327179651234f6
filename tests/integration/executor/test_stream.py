"""Streams with one thread for all of them, and queues that are full at once: nothing may wait for ever."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from shardwise.executor import duck, reading, stream
from shardwise.executor.limits import Limits
from shardwise.options import Options
from tests.integration.executor.conftest import MakeLab
from tests.integration.executor.lab import Lab, merged

ROWS = 20_000
TWO_INPUTS = {
    "join": ("SELECT count(*), sum(f1.id + f2.id) FROM f1 JOIN f2 USING (id)", (3 * ROWS,)),
    "left join": ("SELECT count(f2.id) FROM f1 LEFT JOIN f2 ON f1.id = f2.id + 1", (3 * ROWS - 1,)),
    "full join": ("SELECT count(*) FROM f1 FULL JOIN f2 ON f1.id = f2.id + 1", (3 * ROWS + 1,)),
    "anti join": ("SELECT count(*) FROM f1 ANTI JOIN f2 USING (id)", (0,)),
    "cross join": ("SELECT count(*) FROM (FROM f1 LIMIT 9) CROSS JOIN f2", (9 * 3 * ROWS,)),
    "asof join": ("SELECT count(*) FROM f1 ASOF JOIN f2 ON f1.id >= f2.id", (3 * ROWS,)),
    "union all": ("SELECT count(*) FROM (FROM f1 UNION ALL FROM f2)", (6 * ROWS,)),
    "union": ("SELECT count(*) FROM (FROM f1 UNION FROM f2)", (3 * ROWS,)),
    "except": ("SELECT count(*) FROM (FROM f1 EXCEPT FROM f2)", (0,)),
    "intersect all": ("SELECT count(*) FROM (FROM f1 INTERSECT ALL FROM f2)", (3 * ROWS,)),
    "scalar subqueries": ("SELECT (SELECT count(*) FROM f1), (SELECT count(*) FROM f2)", (3 * ROWS,) * 2),
    "in": ("SELECT count(*) FROM f1 WHERE id NOT IN (SELECT id + 1 FROM f2)", (1,)),
    "lateral": ("SELECT count(*) FROM f1, LATERAL (SELECT id FROM f2 WHERE f2.id = f1.id)", (3 * ROWS,)),
    "correlated": ("SELECT count(*) FROM f1 WHERE id = (SELECT max(id) FROM f2 WHERE f2.g = f1.g)", (10,)),
    "window over join": (
        "SELECT count(r) FROM (SELECT row_number() OVER (ORDER BY f1.id) r FROM f1 JOIN f2 USING (id))",
        (3 * ROWS,),
    ),
    "self join": ("SELECT count(*) FROM f1 a JOIN f1 b ON a.id = b.id JOIN f2 ON a.id = f2.id", (3 * ROWS,)),
    "recursive": (
        """WITH RECURSIVE r AS (SELECT min(id) AS id FROM f1
             UNION SELECT f2.id FROM r JOIN f2 ON f2.id = r.id + 1 WHERE f2.id < 4)
           SELECT count(*) FROM r""",
        (4,),
    ),
}


@pytest.fixture(autouse=True)
def _small_queues(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "QUEUE_BATCHES_MAX", 2)
    monkeypatch.setattr(reading, "BATCH_ROWS", 500)


@pytest.fixture(scope="module")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    lab = Lab(tmp_path_factory.mktemp("stream"))
    lab.numbers(ROWS)
    yield lab
    lab.close()


@pytest.mark.parametrize("threads", [1, 8])
@pytest.mark.parametrize("name", TWO_INPUTS)
def test_an_operator_with_two_inputs(_folder: Lab, name: str, threads: int) -> None:
    sql, wanted = TWO_INPUTS[name]
    fragments = [_folder.fragment(f, "SELECT id, g FROM t") for f in ("f1", "f2")]
    (found,) = within(30, lambda: _folder.rows(merged(sql, *fragments), Options(requests_max=threads)))
    assert found[: len(wanted)] == wanted


@pytest.mark.parametrize("name", ["join", "union all", "scalar subqueries", "self join"])
def test_one_thread_and_one_request_per_source(make_lab: MakeLab, name: str) -> None:
    """All requests that the limits allow may be parked; the stream that the merge waits for gets one more."""
    lab = make_lab(threads=1)
    lab.limits = Limits(total=1)
    lab.numbers(ROWS)
    sql, wanted = TWO_INPUTS[name]
    plan = merged(sql, *(lab.fragment(f, "SELECT id, g FROM t") for f in ("f1", "f2")))
    (found,) = within(60, lambda: lab.rows(plan, Options(requests_per_source_max=1)))
    assert found[: len(wanted)] == wanted


def test_statements_share_one_thread(make_lab: MakeLab) -> None:
    lab = make_lab(threads=1)
    lab.numbers(ROWS)
    sql, wanted = TWO_INPUTS["union all"]
    plan = merged(sql, *(lab.fragment(f, "SELECT id, g FROM t") for f in ("f1", "f2")))
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(lab.rows(plan)[0])) for _ in range(4)]

    def run() -> None:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    within(60, run)
    assert found == [wanted] * 4


@pytest.mark.slow
@pytest.mark.skipif(duck.IS_V1, reason="upstream: on 1.5 pyarrow's scanner reads ahead, up to a gigabyte")
def test_a_slow_reader_makes_the_shards_wait(_folder: Lab) -> None:
    rows = 2_000_000
    plan = merged("SELECT id FROM f1", _folder.fragment("f1", f"SELECT range AS id FROM range({rows})"))
    with _folder.execute(plan) as result:
        reader = result.arrow_reader(500)
        seen = len(reader.read_next_batch())
        moved = -1
        while moved != result.stats.rows_moved:
            moved = result.stats.rows_moved
            time.sleep(0.1)
        assert moved < 2 * rows
        assert seen + sum(len(batch) for batch in reader) == 3 * rows


def test_a_limit_stops_the_shards_early(_folder: Lab) -> None:
    plan = merged("SELECT id FROM f1 LIMIT 5", _folder.fragment("f1", "SELECT id FROM t"))
    with _folder.execute(plan) as result:
        assert len(result.fetchall()) == 5
        assert result.stats.rows_moved < 3 * ROWS
    with _folder.execute(merged("SELECT id FROM f1", _folder.fragment("f1", "SELECT id FROM t"))) as result:
        assert len(result.fetchmany(5)) == 5
    assert within(10, lambda: _folder.rows(plan))


def within(seconds: float, do: object) -> object:
    """What `do` gives; fails if it takes longer."""
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(do()), daemon=True)  # type: ignore[operator]
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), f"not done in {seconds} s"
    assert found, "failed, see above"
    return found[0]
