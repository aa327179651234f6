"""`shardwise demo`: a cluster of four databases, some questions, and what is done to answer each."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer
from rich.console import Console
from rich.rule import Rule
from rich.syntax import Syntax
from rich.text import Text

from shardwise.catalog import save_lock
from shardwise.cli import console as consoles
from shardwise.cli import demo_data, table
from shardwise.cli.catalog import read_off
from shardwise.cli.console import Exit, failing
from shardwise.cli.progress import watched
from shardwise.cli.textual import Rows
from shardwise.dbapi import Connection, Explanation
from shardwise.dbapi.files import writing
from shardwise.plan.wrap import bytes_text, count_text
from shardwise.session import open as open_cluster


class Question(NamedTuple):
    """What is asked, in words and in SQL, and what to see in the plan."""

    words: str
    sql: str
    look: str


QUESTIONS: Final = (
    Question(
        "What did customer 17 order last?",
        """\
SELECT o.id, o.placed, o.status, sum(i.quantity * i.price) AS total
FROM orders o
JOIN items i ON i.order_id = o.id AND i.customer_id = o.customer_id
WHERE o.customer_id = 17
GROUP BY ALL ORDER BY o.placed DESC, o.id LIMIT 3""",
        "The customer's number says which shard has the rows: that one answers the whole statement.",
    ),
    Question(
        "Which nations bring most revenue?",
        """\
SELECT n.name, count(DISTINCT c.id) AS customers,
       sum(i.quantity * i.price) AS revenue
FROM customers c
JOIN orders o ON o.customer_id = c.id
JOIN items i ON i.order_id = o.id AND i.customer_id = c.id
JOIN nations n ON n.id = c.nation_id
WHERE o.status <> 'cancelled'
GROUP BY n.name ORDER BY revenue DESC LIMIT 5""",
        "Customers, orders and items are colocated: each shard joins and sums its own, and sends its sums.",
    ),
    Question(
        "How many customers never ordered, by the year they joined?",
        """\
SELECT year(c.since) AS joined, count(*) AS customers
FROM customers c
WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)
GROUP BY joined ORDER BY joined""",
        "A subquery is no obstacle: a customer's orders are on the customer's shard.",
    ),
    Question(
        "Which products sell best? They are split by a rule of their own.",
        """\
SELECT p.category, p.name, sum(i.quantity) AS sold
FROM items i
JOIN products p ON p.id = i.product_id
GROUP BY p.category, p.name ORDER BY sold DESC, p.name LIMIT 5""",
        "Most items are on another shard than their product: the two meet here, in the columns needed.",
    ),
    Question(
        "What is the median order, gross, per quarter of 2025?",
        """\
SELECT quarter(placed) AS quarter, count(*) AS orders,
       round(median(net) * (1 + (SELECT value::INTEGER FROM settings
                                 WHERE name = 'vat_percent') / 100), 2) AS gross
FROM (SELECT o.placed, sum(i.quantity * i.price) AS net
      FROM orders o
      JOIN items i ON i.order_id = o.id AND i.customer_id = o.customer_id
      WHERE o.placed >= DATE '2025-01-01'
      GROUP BY o.id, o.customer_id, o.placed)
GROUP BY quarter ORDER BY quarter""",
        "No shard's median is of use: they send the values, and how often each is there.",
    ),
    Question(
        "Who is each nation's best customer? The top five of them.",
        """\
SELECT nation, name, spent
FROM (SELECT n.name AS nation, c.name, sum(i.quantity * i.price) AS spent
      FROM items i
      JOIN customers c ON c.id = i.customer_id
      JOIN nations n ON n.id = c.nation_id
      GROUP BY n.name, c.id, c.name)
QUALIFY row_number() OVER (PARTITION BY nation ORDER BY spent DESC) = 1
ORDER BY spent DESC LIMIT 5""",
        "A nation's customers are on all shards, so the window runs here, over one row per customer.",
    ),
)


def demo(
    directory: Annotated[
        Path, typer.Option("--dir", metavar="DIR", help="Where the shop is made; used again if it is there.")
    ] = Path("demo"),
) -> None:
    """Make a shop of four DuckDB files, and answer questions over all of them."""
    screen = consoles.paged()
    started = time.monotonic()
    with failing():
        _make(screen, directory)
        with open_cluster(directory / "cluster.sql") as cluster, cluster.connect() as connection:
            for number, question in enumerate(QUESTIONS, 1):
                _ask(screen, connection, number, question)
    _farewell(screen, directory, time.monotonic() - started)


def _make(screen: Console, directory: Path) -> None:
    screen.print(Rule("[bold]shardwise[/bold]: one question, many databases", style="cyan"))
    catalog = directory / "cluster.sql"
    if demo_data.is_built(directory):
        screen.print(
            Text(f"\nThe shop in {directory} is used again. Remove the folder to have it made anew.")
        )
    elif catalog.exists():
        consoles.stderr().print(Text(f"{catalog} is there already and is not the demo's: give another --dir"))
        raise typer.Exit(Exit.USAGE)
    else:
        with screen.status("making the shop") as status, writing(directory):
            for step in demo_data.build(directory):
                status.update(step)
        with open_cluster(catalog) as cluster:
            _, read = read_off(cluster, [], consoles.stderr())
        with writing(directory):
            save_lock(read, catalog)
        screen.print(Text(f"\nFour databases and their catalog are now in {directory}:"))
    screen.print()
    statements = [
        line
        for line in catalog.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("--")
    ]
    _print_sql(screen, "\n".join(statements[1:]))


def _ask(screen: Console, connection: Connection, number: int, question: Question) -> None:
    screen.print()
    screen.print(Rule(Text(f"{number}. {question.words}", style="bold"), align="left", style="cyan"))
    screen.print()
    _print_sql(screen, question.sql)
    screen.print()
    started = time.monotonic()
    cursor = connection.execute(question.sql)
    with watched(cursor, consoles.stderr(), keep=True):
        answer = table.read(Rows(cursor), 10)
    seconds = time.monotonic() - started
    if consoles.stderr().is_terminal:
        screen.print()
    table.show(answer, screen)
    screen.print()
    plan: Explanation = connection.explain(question.sql)
    for line in plan.text.splitlines():
        screen.print(
            Text("  " + line, style="dim"), no_wrap=True, overflow="ellipsis", crop=screen.is_terminal
        )
    screen.print()
    stats = cursor.stats
    assert stats is not None
    moved = f"{count_text(stats.rows_moved, 'row')}, {bytes_text(stats.bytes_moved)} moved"
    screen.print(Text.assemble((f"{moved}, {seconds:.2f} s. ", "bold green"), question.look))


def _farewell(screen: Console, directory: Path, seconds: float) -> None:
    catalog = directory / "cluster.sql"
    command = f"shardwise query -c '{catalog}'" if " " in str(catalog) else f"shardwise query -c {catalog}"
    if not _is_on_path():
        command = command.replace("shardwise", ".venv/bin/shardwise", 1)
    screen.print()
    screen.print(Rule(f"done in {seconds:.1f} s: now you", style="cyan"))
    screen.print()
    for what, line in (
        (
            "Ask something of your own",
            f'{command} "SELECT city, count(*) FROM customers GROUP BY city LIMIT 5"',
        ),
        (
            "See what runs where, and why",
            f'{command.replace(" query ", " explain ", 1)} "SELECT max(placed) FROM orders"',
        ),
        ("What does the catalog say?", f'{command} "SHOW TABLES"'),
        ("Where is customer 17?", f'{command} "SHOW ROUTE FOR customers KEY (17)"'),
        ("Are all rows on their shards?", f"{command.replace(' query ', ' catalog check ', 1)} --rows"),
    ):
        screen.print(Text(f"  {what}", style="dim"))
        screen.print(Text(f"    {line}"), soft_wrap=True)
    screen.print(
        Text(f"\n  From Python: shardwise.connect({str(catalog)!r}). Then read {catalog}: it is short.")
    )


def _is_on_path() -> bool:
    return shutil.which("shardwise") is not None


def _print_sql(screen: Console, text: str) -> None:
    """SQL as written, indented; in colours on a terminal."""
    for line in text.splitlines():
        if screen.is_terminal:
            shown = Syntax(line, "sql", background_color="default").highlight(line)
            shown.rstrip()
            screen.print("  ", shown, sep="", no_wrap=True, overflow="ellipsis")
        else:
            screen.out("  " + line)
