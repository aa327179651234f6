"""A finished plan and its run: requests out, batches in, no I/O.

Whoever drives a `Run` sends each `Request` to its source and reports back; the object
says what to send next and what to merge. The executor is one driver, tests and proxies others.

    run = plan.start()
    for first in run.first: …        # subqueries that run first: run their plans, then run.bind(…)
    for request in run.ready(): …    # made lazily, text and all
    run.feed(request.id, batch); run.finish(request.id); run.fail(request.id, error)
    run.merge                        # Merge(sql, inputs), or None where one shard answers whole
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, NamedTuple, Protocol

from shardwise.caching import cached_property
from shardwise.catalog.tables import IndexState, Stored
from shardwise.errors import InternalError, ProgrammingError
from shardwise.plan.choices import Choice, Foreseen
from shardwise.plan.gaps import NO_GAPS, Gaps
from shardwise.plan.holes import Written, fill
from shardwise.plan.nodes import Node
from shardwise.plan.route import Note, Route
from shardwise.plan.sent import bytes_sent, rows_sent
from shardwise.plan.tree import without_holes


class Batch(Protocol):
    """What `feed` counts: an Arrow batch, or anything with these two."""

    @property
    def num_rows(self) -> int: ...
    @property
    def nbytes(self) -> int: ...


class ExpectedColumn(NamedTuple):
    """A column as the catalog declares it; `stored` is for sources that have no type like its own."""

    name: str
    type: str
    stored: Stored | None = None


class Expected(NamedTuple):
    """A physical table that a request reads, as SQL text, and the columns it reads of it.

    What may be lacking is a gap that `Request.filled` fills, all else an error: columns whose folded names
    are in `fills`, or whose type only `widens`; the table itself where it is of a member of a DIRECTORY and
    the schema `absence` is not there either ("": a table is all that the member is; None: the table must be
    there). `of` is the logical table.
    """

    table: str
    columns: tuple[ExpectedColumn, ...]
    fills: frozenset[str] = frozenset()
    widens: bool = False
    absence: str | None = None
    of: str = ""


class TableColumn(NamedTuple):
    """A column by its logical names."""

    table: str
    column: str


class Request(NamedTuple):
    """One statement for one shard. `id` is unique in the run, `fragment` the stream its rows belong to.

    `params` are bound by name: `$p1` in `sql`. The text is right only where the tables are as `expects` says:
    of other types the shard would sort, compare and group otherwise, and nothing in its rows would show it.
    `may_be_missing`: the source is a member of an open family; where there is none of its name, the answer is
    that of the fragment's own `sql` over empty tables. `filled` gives the text for tables with gaps. `plain`
    says of which table which column a column of the answer is, where it is one as it is.
    """

    id: int
    fragment: str
    shard: str
    source: str
    sql: str
    params: Mapping[str, Any]
    expects: tuple[Expected, ...] = ()
    may_be_missing: bool = False
    filled: Callable[[Gaps], str] | None = None
    plain: Callable[[], Mapping[str, TableColumn]] = dict


class Text(Protocol):
    """From a shard, and what its tables lack, to the statement's text."""

    def __call__(self, shard: str, gaps: Gaps = NO_GAPS) -> str: ...


class Shape(NamedTuple):
    """How a stream's column is declared and read where the merge is SQLite: what follows its name, and the
    expression over it (`{}`) that has the affinity it had on the shards."""

    declared: str = ""
    read: str = "{}"


class Compared(NamedTuple):
    """How values of a sort column compare, where they do not come as Arrow's own of their type.

    Texts that a server writes: `whole` and `unsigned` numbers, `decimal` ones of so many digits after the
    point, `double`, `day` and `moment` with years of any length, `text` by its code points, `encoded` by its
    bytes in the database's encoding, which must be in the order of code points, `padded` as if blanks
    without end came after it. Cells of SQLite: `cell`, texts among them by their bytes, `nocase`, `rtrim`.
    """

    how: Literal[
        "typed",
        "whole",
        "unsigned",
        "decimal",
        "double",
        "day",
        "moment",
        "text",
        "encoded",
        "padded",
        "cell",
        "nocase",
        "rtrim",
    ] = "typed"
    argument: int = 0


class OrderKey(NamedTuple):
    """A column of a stream, by its position, that the stream is in order of."""

    column: int
    descending: bool
    nulls_first: bool
    compared: Compared = Compared()


@dataclass(frozen=True, slots=True)
class Passes:
    """A stream whose rows, one after another, are the answer: these of its columns (None: all as they are),
    and `count` rows after `offset`."""

    input: str
    columns: tuple[int, ...] | None = None
    offset: int = 0
    count: int | None = None


def _unforeseen() -> Foreseen | None:
    return None


def _nothing(_: str) -> tuple[Expected, ...]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Fragment:
    """One statement in logical names, and where it goes.

    `sql` is the text in logical names (as EXPLAIN shows it); `text(shard)` the text for one shard, in its
    physical names: both are made when first asked for. `columns` are (name, declared type or None) in
    order: the stream's names, and the types that Arrow loses (ENUM). `expects(shard)` is what the text for
    that shard takes for granted of the tables there, `plain()` which columns are a table's as they are.
    `shapes` are the columns' in the sqlite dialect.
    """

    name: str
    columns: tuple[tuple[str, str | None], ...]
    route: Route
    params: Mapping[str, Any]
    source_of: Callable[[str], str]
    make_sql: Callable[[], str]
    make_text: Callable[[], Text]
    expects: Callable[[str], tuple[Expected, ...]] = _nothing
    shapes: tuple[Shape, ...] = ()
    params_for: Callable[[str, Mapping[str, Any]], Mapping[str, Any]] | None = None
    """From a shard and `params` to what is bound there; None: `params` everywhere."""
    may_be_missing: bool = False
    order: tuple[OrderKey, ...] = ()
    """Set where each shard's rows are in this order, and the stream is to be."""
    plain: Callable[[], Mapping[str, TableColumn]] = dict
    expected: Callable[[], Foreseen | None] = _unforeseen
    """What it was expected to move."""
    sent_as: Mapping[str, str] = field(default_factory=dict)
    """The lists among `params` that came of what ran first, and under which name that ran."""
    text_for: Callable[[Mapping[str, Any]], Text] | None = None
    """Set where the texts depend on the parameters' values: each shard is sent only its own keys."""

    @cached_property
    def sql(self) -> str:
        return self.make_sql()

    @cached_property
    def text(self) -> Text:
        return self.make_text()

    def at(self, route: Route) -> Fragment:
        """The same on other shards; its texts are those that this one has for them."""
        self.text  # noqa: B018  made here once, for all that come
        after: Fragment = object.__new__(Fragment)
        after.__dict__.update(self.__dict__)
        after.__dict__["route"] = route
        after.settle()
        return after

    def settle(self) -> None:
        """Has its text made, and keeps all that is asked for a shard, if there is only one. Others' are made
        when they are asked for."""
        text, expects, source_of = self.text, self.expects, self.source_of
        if len(self.route.shards) != 1:
            return
        (one,) = self.route.shards
        made, expected, source = text(one), expects(one), source_of(one)

        def of_shard(shard: str, gaps: Gaps = NO_GAPS) -> str:
            return made if gaps is NO_GAPS and shard == one else text(shard, gaps)

        self.__dict__.update(
            text=of_shard,
            expects=lambda shard: expected if shard == one else expects(shard),
            source_of=lambda shard: source if shard == one else source_of(shard),
        )

    def with_values(self, values: Mapping[str, Any], literals: Sequence[Written]) -> Fragment:
        """The same with other values for its parameters, and the literals for the holes in its texts."""
        after: Fragment = object.__new__(Fragment)
        known = after.__dict__
        known.update(self.__dict__)
        known["params"] = {name: values[name] for name in self.params}
        if literals or self.text_for is not None:
            known.pop("text", None)
            known.pop("sql", None)
            known["make_sql"] = lambda: fill(self.sql, literals)
            known["make_text"] = lambda: _filled(self, values, literals)
        return after


def _filled(fragment: Fragment, values: Mapping[str, Any], literals: Sequence[Written]) -> Text:
    text = fragment.text if fragment.text_for is None else fragment.text_for(values)

    def filled(shard: str, gaps: Gaps = NO_GAPS) -> str:
        return fill(text(shard, gaps), literals)

    return filled if literals else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """The statement that finishes the work. It reads each stream under the fragment's name ("f1"), and each
    registered local relation under its own.

    `stored` are inputs that are joined with others, or read more than once: an engine that stores them first
    knows how large they are, and in which order to join. The other inputs are read once, as they come.
    `passes`: nothing need be computed, one input's rows are the answer as they come.
    """

    sql: str
    params: Mapping[str, Any]
    inputs: tuple[str, ...]
    locals: tuple[str, ...] = ()
    stored: tuple[str, ...] = ()
    passes: Passes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class First:
    """A subquery that runs before the rest; its rows are bound under `name`.

    `rows_max`: with more rows than this, bind None instead ("too many to send as keys").
    `is_scalar`: more than one row is the dialect's error. `is_lazy`: an error of its rows is the statement's
    only where its value is asked for; bind None then, and the engine will see. `types`: what its columns are,
    where that is not what is declared of them.
    """

    name: str
    plan: Plan
    is_scalar: bool
    rows_max: int | None = None
    is_lazy: bool = False
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What must hold of the rows that the fragments gave before they are the answer.

    The fragments are read once, and kept. `merge` runs over them; `then`, given its rows, is the plan that
    goes on: one of the very same `fragments`, whose rows are not asked for again, or another one.
    """

    merge: Merge
    then: Callable[[Sequence[tuple[Any, ...]]], Plan]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a statement will do. Immutable; may be started any number of times.

    `columns` are the result's (name, type or None where only the engine knows). If `first` is not empty
    the rest of the plan is made by `then(values)` once they have run; `root` is what it looks like before.
    """

    sql: str
    root: Node
    fragments: tuple[Fragment, ...]
    merge: Merge | None
    columns: tuple[tuple[str, str | None], ...]
    catalog_version: int
    dialect: str = "duckdb"
    first: tuple[First, ...] = ()
    then: Callable[[Mapping[str, Bound]], Plan] | None = None
    proof: Proof | None = None
    paging: str | None = None
    """How the page is found that the statement asks for, if not by moving all that is before it."""
    hidden: int = 0
    """How many of the last columns are not the answer's: the sort keys of a page's rows."""
    indexes: frozenset[IndexState] = frozenset()
    """The states of those indexes over shards that it reads, or may read once it is known what ran first."""
    notes: tuple[Note, ...] = ()
    choices: tuple[Choice, ...] = ()
    steps: tuple[tuple[str, Node], ...] = ()
    memo: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """What others found out of the statement and its values' types alone. Plans that differ only in values
    share it; threads may write the same twice."""

    @property
    def is_single_shard(self) -> bool:
        """One shard answers the whole statement."""
        return self.merge is None and not self.first

    @property
    def shards(self) -> tuple[str, ...]:
        """All shards that are asked, each once."""
        return tuple(dict.fromkeys(shard for f in self.fragments for shard in f.route.shards))

    def to_json(self) -> str:
        """The plan as JSON, in the shape of docs/explain.schema.json."""
        from shardwise.plan.as_json import explain_json  # noqa: PLC0415  it reads plans itself

        return explain_json(self)

    def with_values(self, sql: str, values: Mapping[str, Any], literals: Sequence[Written] = ()) -> Plan:
        """The plan of `sql`, which differs in values only: of its parameters, and of the literals that are
        holes in this plan's texts (in the tree they are placeholders still, until `root` is asked for)."""
        after: Plan = object.__new__(FilledPlan if literals else Plan)
        known = after.__dict__
        known.update(self.__dict__)
        known["sql"] = sql
        known["fragments"] = tuple([f.with_values(values, literals) for f in self.fragments])
        if self.merge is not None:
            params = {name: values[name] for name in self.merge.params}
            known["merge"] = replace(self.merge, sql=fill(self.merge.sql, literals), params=params)
        if literals:
            known["literals"] = literals
            known["holed"] = known.pop("root"), known.pop("steps")
        return after

    def start(self) -> Run:
        return Run(self)


class FilledPlan(Plan):
    """A plan whose literals were put back: into the texts at once, into the trees when they are looked at."""

    literals: Sequence[Written]
    holed: tuple[Node, tuple[tuple[str, Node], ...]]

    @cached_property
    def root(self) -> Node:
        return without_holes(self.holed[0], self.literals)

    @cached_property
    def steps(self) -> tuple[tuple[str, Node], ...]:
        return tuple((name, without_holes(node, self.literals)) for name, node in self.holed[1])


class Bound(NamedTuple):
    """The rows of a subquery that ran first, one tuple each, and its columns' types; rows None: too many."""

    types: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]] | None


@dataclass(slots=True)
class Progress:
    """What a fragment has moved so far, and been sent."""

    requests: int = 0
    finished: int = 0
    rows: int = 0
    bytes: int = 0
    rows_sent: int = 0
    bytes_sent: int = 0


@dataclass
class Run:
    """One execution of a plan."""

    plan: Plan
    progress: dict[str, Progress] = field(default_factory=dict)
    error: BaseException | None = None
    _bound: dict[str, Bound] = field(default_factory=dict)
    _fragment_of: dict[int, str] = field(default_factory=dict)
    _next_id: int = 0

    @property
    def first(self) -> tuple[First, ...]:
        """Subqueries whose rows are still to be bound."""
        first = self.plan.first
        return tuple(f for f in first if f.name not in self._bound) if first else first

    def bind(self, name: str, bound: Bound) -> None:
        """Binds the rows of `first` subquery `name`; after the last one, `plan` is the plan of the rest."""
        self._bound[name] = bound
        if not self.first:
            if self.plan.then is None:
                raise InternalError("a plan with subqueries that run first has no continuation")
            self.plan = self.plan.then(dict(self._bound))
            self._bound = {}

    @property
    def proof(self) -> Proof | None:
        """What is to be asked of the fragments' rows before they may be merged."""
        return self.plan.proof

    def prove(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Goes on with what the rows of `proof.merge` prove; `plan` may be another one then."""
        if self.plan.proof is None:
            raise InternalError("nothing is to be proved")
        self.plan = self.plan.proof.then(rows)

    @property
    def merge(self) -> Merge | None:
        return self.plan.merge

    def ready(self, fragment: str | None = None) -> Iterator[Request]:
        """The requests of one fragment (or of all), made one by one as they are asked for.

        A stream that the merge reads again is asked for again: the requests get new ids. Raises
        ProgrammingError while subqueries wait for `bind`: what came of the plan as it is would be no answer.
        """
        if self.first:
            raise ProgrammingError(f'the rows of "{self.first[0].name}", which runs first, are not bound yet')
        for part in self.plan.fragments:
            if fragment is None or part.name == fragment:
                for shard in part.route.shards:
                    yield self._request(part, shard)

    def _request(self, part: Fragment, shard: str) -> Request:
        self._next_id += 1
        self._fragment_of[self._next_id] = part.name
        progress = self._of(part.name)
        progress.requests += 1
        params = part.params if part.params_for is None else part.params_for(shard, part.params)
        if part.sent_as:
            progress.rows_sent += rows_sent(params, part.sent_as)
            progress.bytes_sent += bytes_sent(params, part.sent_as)
        return Request(
            self._next_id,
            part.name,
            shard,
            part.source_of(shard),
            part.text(shard),
            params,
            part.expects(shard),
            part.may_be_missing,
            partial(part.text, shard),
            part.plain,
        )

    def feed(self, request_id: int, batch: Batch) -> None:
        """Counts rows and bytes that arrived for a request."""
        progress = self._of(self._fragment_of[request_id])
        progress.rows += batch.num_rows
        progress.bytes += batch.nbytes

    def finish(self, request_id: int) -> None:
        self._of(self._fragment_of.pop(request_id)).finished += 1

    def fail(self, request_id: int, error: BaseException) -> None:
        """The first failure is the run's."""
        self._fragment_of.pop(request_id, None)
        self.error = self.error or error

    @property
    def rows_moved(self) -> int:
        return sum(p.rows for p in self.progress.values())

    @property
    def bytes_moved(self) -> int:
        return sum(p.bytes for p in self.progress.values())

    @property
    def rows_sent(self) -> int:
        """Rows and keys that ran first and were sent to shards, once for each."""
        return sum(p.rows_sent for p in self.progress.values())

    @property
    def bytes_sent(self) -> int:
        return sum(p.bytes_sent for p in self.progress.values())

    def _of(self, fragment: str) -> Progress:
        found = self.progress.get(fragment)
        if found is None:
            found = self.progress.setdefault(fragment, Progress())
        return found
