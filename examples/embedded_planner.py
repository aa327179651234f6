"""The planner alone: no driver, no engine, no I/O. This is what a proxy embeds.

python examples/embedded_planner.py
"""

from shardwise.catalog import parse
from shardwise.planner import Planner

CATALOG = """
CREATE SOURCE s{n} FOR n IN 0-3 DIALECT duckdb;           -- no URL: whoever embeds the planner connects
CREATE SHARDING by_customer USING HASH(crc32) SLOTS 64 ON s{slot // 16};
ATTACH TABLE orders (id BIGINT, customer_id BIGINT, total DECIMAL(12,2)) SHARD BY by_customer (customer_id);
"""


def main() -> None:
    planner = Planner(parse(CATALOG))
    statement = planner.prepare("SELECT sum(total) AS total FROM orders WHERE customer_id IN (?, ?)")
    plan = statement.plan([17, 18])
    run = plan.start()
    for request in run.ready():  # made one by one, text and all
        print(f"to {request.source}: {request.sql} {dict(request.params)}")
    if run.merge is not None:
        print(f"then: {run.merge.sql} over {', '.join(run.merge.inputs)}")


if __name__ == "__main__":
    main()
