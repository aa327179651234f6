"""Hostile values as literals and parameters, hostile names in the catalog and as aliases: see `worlds`.

What is wrong is gathered, so that one run shows all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import shardwise
from tests.injection.corpus import BYTES, CANARY, NAMES, NUL, TEXTS
from tests.injection.worlds import WORLDS, World

DIALECTS = [
    pytest.param(name, marks=pytest.mark.servers if name in ("mysql", "postgres", "mixed") else ())
    for name in WORLDS
]
STYLES = {"qmark": "?", "named": ":x", "format": "%s", "pyformat": "%(x)s"}


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], World]]:
    made: dict[str, World] = {}

    def get(name: str) -> World:
        if name not in made:
            made[name] = WORLDS[name](tmp_path_factory.mktemp(name))
        return made[name]

    yield get
    for world in made.values():
        world.check()
        world.close()


@pytest.fixture(params=DIALECTS)
def world(request: pytest.FixtureRequest, worlds: Callable[[str], World]) -> World:
    return worlds(request.param)


class Asking:
    """Statements on one connection; what is not as wanted is noted."""

    def __init__(self, world: World, style: str = "qmark") -> None:
        self.connection = world.cluster.connect(paramstyle=style)
        self.wrong: list[object] = []

    def expect(self, wanted: list[tuple[Any, ...]], sql: str, params: Any = None) -> None:
        try:
            with self.connection.cursor() as cursor:
                found = [tuple(row) for row in cursor.execute(sql, params).fetchall()]
        except shardwise.Error as error:
            self.wrong.append((sql, params, error))
            return
        if found != wanted:
            self.wrong.append((sql, params, found, wanted))

    def __enter__(self) -> Asking:
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        self.connection.close()
        if kind is None:
            assert not self.wrong, "\n".join(repr(each)[:300] for each in self.wrong)


def held(world: World) -> tuple[str, ...]:
    """Texts that the dialect has: PostgreSQL's hold no NUL, and none can be written in SQLite's SQL."""
    return TEXTS if world.dialect in ("postgres", "sqlite") else (*TEXTS, *NUL)


def ids(world: World, text: str) -> list[tuple[int]]:
    return [(row[0],) for row in world.rows if row[1] == text]


def test_texts_as_literals(world: World) -> None:
    with Asking(world) as asking:
        for text in held(world):
            literal = world.literal(text)
            asking.expect(ids(world, text), f"SELECT id FROM v WHERE s = {literal}")
            asking.expect([(text,)], f"SELECT {literal} FROM v WHERE id = 0")
            asking.expect([(text, len(world.rows))], f"SELECT max({literal}), count(*) FROM v")
            asking.expect([(0, text), (1, text)], f"SELECT id, {literal} FROM v WHERE id < 2 ORDER BY id")


def test_texts_written_in_other_ways(world: World) -> None:
    """They may be refused, but mean nothing else."""
    with world.cluster.connect() as connection:
        for text in held(world):
            for literal in world.more_literals(text):
                try:
                    found = connection.execute(f"SELECT {literal} FROM v WHERE id = 0").fetchall()
                except shardwise.Error:
                    continue
                assert found == [(text,)], literal


@pytest.mark.parametrize("style", STYLES)
def test_texts_as_parameters(world: World, style: str) -> None:
    """All by question marks, in each of the other styles every third by turns."""
    mark, is_named = STYLES[style], style in ("named", "pyformat")
    texts = (*TEXTS, *(NUL if world.takes_nul else ()))
    turn = list(STYLES).index(style)
    with Asking(world, style) as asking:
        for text in texts[turn - 1 :: 3] if turn else texts:
            one: Any = {"x": text} if is_named else [text]
            both: Any = {"x": text} if is_named else [text, text]
            others = sum(row[1] not in (None, text) for row in world.rows)
            asking.expect(ids(world, text), f"SELECT id FROM v WHERE s = {mark}", one)
            asking.expect([(others,)], f"SELECT count(*) FROM v WHERE s <> {mark}", one)
            found = text if ids(world, text) else None
            asking.expect([(found,)], f"SELECT max(s) FROM v WHERE s = {mark} OR s = {mark}", both)
            asking.expect([(text,)], f"SELECT max({mark}) FROM v WHERE s IS NOT NULL OR s = {mark}", both)


@pytest.mark.servers
@pytest.mark.parametrize("name", ["postgres", "mixed"])
def test_a_nul_is_no_text_of_postgresql(worlds: Callable[[str], World], name: str) -> None:
    """An error that says so; as a constant in DuckDB's dialect it is not sent there (see the literals)."""
    with worlds(name).cluster.connect() as connection:
        for text in NUL:
            with pytest.raises(shardwise.DataError, match="NUL"):
                connection.execute("SELECT id FROM v WHERE s = ?", [text]).fetchall()
            if name == "postgres":
                with pytest.raises(shardwise.Error) as caught:
                    connection.execute(f"SELECT '{text}' FROM v").fetchall()
                assert not isinstance(caught.value, shardwise.InternalError)


def test_lists_of_texts(world: World) -> None:
    texts = [text for text in world.texts if "%" in text or "'" in text]
    wanted = sorted((row[0],) for row in world.rows if row[1] in texts)
    for mark, style in (("(?)", "qmark"), ("%s", "format")):
        with Asking(world, style) as asking:
            asking.expect(wanted, f"SELECT id FROM v WHERE s IN {mark} ORDER BY id", [texts])


def test_a_pattern_finds_its_own_text(world: World) -> None:
    """`|` takes a pattern's own characters their meaning."""
    with Asking(world) as asking:
        for text in held(world):
            pattern = text.replace("|", "||").replace("%", "|%").replace("_", "|_") + "%"
            # SQLite's LIKE takes no heed of the case of ASCII letters.
            folded = _folded if world.dialect == "sqlite" else str
            rows = [(row[0],) for row in world.rows if row[1] and folded(row[1]).startswith(folded(text))]
            sql = "SELECT id FROM v WHERE s LIKE {} ESCAPE '|' ORDER BY id"
            asking.expect(rows, sql.format("?"), [pattern])
            asking.expect(rows, sql.format(world.literal(pattern)))


def _folded(text: str) -> str:
    return "".join(each.lower() if each.isascii() else each for each in text)


def test_bytes_are_found_and_come_back(world: World) -> None:
    with Asking(world) as asking:
        for value in BYTES:
            rows = [(row[0],) for row in world.rows if row[2] == value]
            asking.expect(rows, "SELECT id FROM v WHERE b = ? ORDER BY id", [value])
            asking.expect(rows, f"SELECT id FROM v WHERE b = {world.blob(value)} ORDER BY id")
            asking.expect([(value,)], "SELECT b FROM v WHERE id = ?", [rows[0][0]])


def test_all_come_back(world: World) -> None:
    texts = [row[1] for row in world.rows if row[1] is not None]
    with Asking(world) as asking:
        asking.expect(sorted(world.rows), "SELECT id, s, b FROM v ORDER BY id")
        groups = "SELECT s, count(*) AS n FROM v WHERE s IS NOT NULL GROUP BY s"
        asking.expect([(len(texts), len(texts))], f"SELECT count(*), sum(n) FROM ({groups}) AS q")


def test_any_name_may_be_an_alias(world: World) -> None:
    wrong = []
    with world.cluster.connect() as connection:
        for name in NAMES:
            x = world.quoted(name)
            if name != name.rstrip() and not world.name_may_end_blank:
                continue
            for sql in (
                f"SELECT id AS {x} FROM v WHERE id = 1",
                f"SELECT count(*) AS {x} FROM v",
                f"SELECT {x}.id AS {x} FROM v AS {x} ORDER BY {x}.id LIMIT 3",
                f"WITH {x} AS (SELECT id AS {x} FROM v) SELECT {x} FROM {x} WHERE {x} < 3",
                f"SELECT {x}, count(*) FROM (SELECT id % 2 AS {x} FROM v) AS q GROUP BY {x}",
            ):
                try:
                    with connection.cursor() as cursor:
                        cursor.execute(sql)
                        assert cursor.description is not None
                        names, rows = cursor.description[0][0], cursor.fetchall()
                except shardwise.Error as error:
                    wrong.append((sql, error))
                    continue
                if names != name or not rows:
                    wrong.append((sql, names))
    assert not wrong, "\n".join(repr(each)[:300] for each in wrong)


def test_names_in_the_catalog(world: World) -> None:
    """A table and a column of each name, on each shard; no name of MySQL's ends with a blank."""
    names = [name for name in NAMES if world.name_may_end_blank or name == name.rstrip()]
    for shard in range(world.count):
        for name in names:
            own = world.name(shard, name)
            world.run(
                shard,
                f"CREATE TABLE {own} (id BIGINT, {own} BIGINT)",
                f"INSERT INTO {own} VALUES ({shard}, 10), ({shard + world.count}, 20)",
            )
    tables = [
        f"ATTACH TABLE {_in_catalog(name)} (id BIGINT, {_in_catalog(name)} BIGINT) SHARD BY by_id (id);"
        for name in names
    ]
    count = world.count
    with world.opened("".join(tables)) as other:
        asking = Asking(world)
        asking.connection = other.connect()
        with asking:
            for name in names:
                x = world.quoted(name)
                asking.expect([(10,)], f"SELECT {x} FROM {x} WHERE id = 1")
                asking.expect([(30 * count,)], f"SELECT sum({x}.{x}) AS n FROM {x}")
                groups = f"SELECT {x}, count(*) FROM {x} GROUP BY {x} ORDER BY {x}"
                asking.expect([(10, count), (20, count)], groups)
                pairs = f"SELECT count(*) FROM {x} AS a JOIN {x} AS b ON a.{x} < b.{x}"
                asking.expect([(count**2,)], pairs)


def _in_catalog(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def test_marks_inside_what_is_no_mark(world: World) -> None:
    """A backslash ends no string but MySQL's: the `%s` after it is where the server sees it."""
    if world.dialect == "mysql":
        found = [("\\' %s", "x")]
        sql = "SELECT '\\\\\\' %%s', %s FROM v WHERE id = 0"
    else:
        found = [("\\", "x")]
        sql = "SELECT '\\', %s FROM v WHERE id = 0"
    with Asking(world, "format") as asking:
        asking.expect(found, sql, ["x"])
    if world.dialect != "mysql":
        with world.cluster.connect(paramstyle="format") as connection, pytest.raises(shardwise.Error):
            connection.execute("SELECT '\\' || '%s', %s FROM v WHERE id = 0", ["x"]).fetchall()


def test_the_corpus_would_be_noticed() -> None:
    """Each that is to run something speaks the canary's name."""
    assert sum(CANARY in text for text in (*TEXTS, *NUL)) >= 15
