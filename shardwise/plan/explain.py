"""EXPLAIN: a plan as a person reads it, and as programs do.

    Limit 3
    └─ Sort revenue DESC
       └─ Aggregate by city: revenue = sum(p0)
          └─ Gather
             └─ Fragment f1 on 4 of 4 shards: s0, s1, s2, s3
                  SELECT c.city, SUM(o.total) AS p0 FROM …
                  all shards    nothing compares orders.customer_id or customers.id with a value
                  pushed        filter, colocated join (by_customer), partial sum
                  not pushed    ORDER BY … LIMIT: a city's groups span shards

What is above a Gather runs in the merge, what is below it on the shards. docs/explain.md explains all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from shardwise.plan.as_json import explain_json
from shardwise.plan.choices import STRATEGIES, Choice
from shardwise.plan.gaps import Gap
from shardwise.plan.nodes import Gather, Node, Raw
from shardwise.plan.phrases import Phrases, is_renaming
from shardwise.plan.pushed import pushed
from shardwise.plan.reasons import OF_INDEX
from shardwise.plan.route import Note
from shardwise.plan.run import Fragment, Plan
from shardwise.plan.sql.text import text_of
from shardwise.plan.statistics import Statistics, total
from shardwise.plan.wrap import aligned, bytes_text, count_text, labelled, seconds_text, shard_list, sql_lines

__all__ = ["explain_json", "explain_text", "route_rows", "sources_text", "steps_text"]

_FIGURES_COLUMN = 60
_SHARD_LINES_MAX = 16

# A source's own EXPLAIN text, by fragment and shard.
SourceTexts = Mapping[tuple[str, str], str]


@dataclass
class _Block:
    """A line of the tree (with figures at its right), the lines that explain it, and what is below it."""

    title: str
    figures: str = ""
    details: list[str] = field(default_factory=list)
    below: list[_Block] = field(default_factory=list)


def explain_text(plan: Plan, stats: Statistics | None = None) -> str:
    """The plan's tree; with `stats`, what its run measured beside it (EXPLAIN ANALYZE)."""
    return "\n".join(_plan_lines(plan, stats, None))


def sources_text(plan: Plan, answers: SourceTexts) -> str:
    """The plan's tree, each source's own EXPLAIN text (by fragment and shard) below its fragment.

    Shards that answer alike are told together.
    """
    return "\n".join(_plan_lines(plan, None, answers))


def steps_text(plan: Plan) -> str:
    """The tree after each pass that changed something, under the pass's name."""
    lines = []
    for name, root in plan.steps:
        lines.append(f"-- {name}")
        lines += _drawn(_TreeOf({}, None, None, every_node=True, dialect=plan.dialect).block(root, ()))
    return "\n".join(lines)


def route_rows(plan: Plan) -> Iterator[tuple[str, str, str]]:
    """(shard, source, SQL as it is sent) for each shard of each fragment, what runs first before the rest.

    Made lazily, text and all: a fragment may go to thousands of shards.
    """
    for first in plan.first:
        yield from route_rows(first.plan)
    for fragment in plan.fragments:
        for shard in fragment.route.shards:
            yield shard, fragment.source_of(shard), fragment.text(shard)


def _plan_lines(plan: Plan, stats: Statistics | None, answers: SourceTexts | None) -> list[str]:
    lines = []
    for first in plan.first:
        lines.append(f"Runs first: ${first.name}{', one value' * first.is_scalar}")
        lines += ["  " + line for line in _plan_lines(first.plan, None, None)]
    for done in stats.first if stats else ():
        lines.append(f"Ran first: ${done.name}")
        lines += ["  " + line for line in _plan_lines(done.plan, done.statistics, None)]
    tree = _TreeOf(
        {f.name: f for f in plan.fragments},
        stats,
        answers,
        is_open=bool(plan.first),
        dialect=plan.dialect,
    )
    if plan.merge is None and plan.fragments:
        for part in plan.fragments:
            lines += _drawn(tree.fragment(part.name, ["the whole statement"], ()))
    else:
        lines += _drawn(tree.block(plan.root, ()))
    lines += labelled([("page", plan.paging)] if plan.paging is not None else [])
    lines += labelled([("strategy", sentence) for choice in plan.choices for sentence in _chosen(choice)])
    lines += labelled([(_label(note), note.sentence) for note in plan.notes])
    return lines + (_totals(stats) if stats else [])


def _label(note: Note) -> str:
    return "index" if note.slug in OF_INDEX else "not pushed"


@dataclass
class _TreeOf:
    """Makes the blocks of one plan; holds what has been said already."""

    fragments: Mapping[str, Fragment]
    stats: Statistics | None
    answers: SourceTexts | None
    every_node: bool = False
    is_open: bool = False  # values that are not known yet may still narrow routes
    dialect: str = "duckdb"
    shown: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.phrases = Phrases(self.dialect)

    def block(self, node: Node, above: tuple[Node, ...]) -> _Block:
        at_top = all(is_renaming(n, at_top=True) for n in above)
        if is_renaming(node, at_top=at_top) and not self.every_node:
            return self.block(node.inputs[0], (*above, node))
        title, subqueries = self.phrases.node(node)
        block = _Block(title)
        if isinstance(node, Raw):
            block.details = sql_lines(text_of(node.sql, self.dialect))
        if isinstance(node, Gather) and node.fragment in self.fragments:
            block.figures = self._moved(node.fragment)
            not_pushed = [note.sentence for note in node.notes]
            block.below = [self.fragment(node.fragment, list(pushed(node, above)), not_pushed)]
            return block
        block.below = [self.block(below, (*above, node)) for below in node.inputs]
        for name, subplan in subqueries:
            block.below.append(_Block(name, below=[self.block(subplan, ())]))
        return block

    def fragment(self, name: str, done: list[str], not_done: list[str] | tuple[str, ...]) -> _Block:
        """A fragment: where it goes, its SQL, and the reasons."""
        fragment = self.fragments[name]
        route = fragment.route
        where = f"on {'at most ' * self.is_open}{len(route.shards):,} of {count_text(route.total, 'shard')}"
        names = f": {shard_list(route.shards)}" if route.shards else ""
        block = _Block(f"Fragment {name} {where}{names}")
        if name in self.shown:
            block.details = ["as above; its rows are read again"]
            return block
        self.shown.add(name)
        label = "all shards" if len(route.shards) == route.total else where.removeprefix("on ")
        rows = [(label, sentence) for sentence in _joined(route.why)]
        rows += [("pushed", ", ".join(done))] if done else []
        rows += [("not pushed", sentence) for sentence in not_done]
        block.details = sql_lines(fragment.sql) + labelled(rows)
        block.details += self._measured(name) + self._answered(fragment)
        return block

    def _moved(self, name: str) -> str:
        foreseen = self.fragments[name].expected()
        is_told = foreseen is not None and not foreseen.is_guess
        about = f"about {_expected_rows(foreseen.rows)}" if foreseen is not None and is_told else ""
        if self.stats is None:
            return f"{about}, {bytes_text(round(foreseen.bytes))}" if foreseen is not None and about else ""
        sent = total(self.stats.fragments.get(name, {}))
        figures = f"{count_text(sent.rows, 'row')}, {bytes_text(sent.bytes)} moved"
        return f"{figures} (expected: {about})" if about else figures

    def _measured(self, name: str) -> list[str]:
        """One aligned line per shard, the slowest only where there are many."""
        if self.stats is None:
            return []
        of = self.stats.fragments.get(name, {})
        shards = list(of)
        if len(shards) > _SHARD_LINES_MAX:
            slowest = sorted(shards, key=lambda s: (-of[s].seconds, s))
            shards = slowest[: _SHARD_LINES_MAX // 2]
        lines = aligned(
            [
                (
                    shard,
                    count_text(of[shard].rows, "row"),
                    bytes_text(of[shard].bytes),
                    seconds_text(of[shard].seconds),
                )
                for shard in shards
            ]
        )
        if len(of) > len(shards):
            lines.append(f"and {len(of) - len(shards):,} shards that were faster")
        return lines + labelled([("filled", sentence) for sentence in self._filled(name)])

    def _filled(self, name: str) -> Iterator[str]:
        """What read as its default, and where: the shards that lack the same in one line."""
        shards: dict[tuple[str, Gap], list[str]] = {}
        for shard, gaps in (self.stats.filled.get(name, {}) if self.stats else {}).items():
            for table, gap in gaps.items():
                shards.setdefault((table, gap), []).append(shard)
        for (table, gap), on in shards.items():
            where = f"{table} on {shard_list(tuple(on))}"
            if gap.is_whole:
                yield f"{where} is not there: no rows"
            if gap.missing:
                yield f"{where} lacks {', '.join(sorted(gap.missing))}: read as the default"
            if gap.narrower:
                yield f"{where} has narrower {', '.join(sorted(gap.narrower))}: widened"

    def _answered(self, fragment: Fragment) -> list[str]:
        if self.answers is None:
            return []
        shards_by_text: dict[str, list[str]] = {}
        for shard in fragment.route.shards:
            if (text := self.answers.get((fragment.name, shard))) is not None:
                shards_by_text.setdefault(text, []).append(shard)
        lines = []
        for text, shards in shards_by_text.items():
            lines.append(f"{shard_list(tuple(shards))}:")
            lines += ["  " + line for line in text.rstrip().splitlines()]
        return lines


def _chosen(choice: Choice) -> Iterator[str]:
    """The strategy that was taken, and those that lost, with what was expected of each."""
    if len(choice.alternatives) > 1:
        taken, *lost = (
            f"{STRATEGIES[a.strategy]}, {_expected_rows(a.moved)} moved, {_expected(a.sent)} sent"
            for a in choice.alternatives
        )
        *others, last = choice.sides
        sides = f"{', '.join(others)} and {last}" if others else last
        yield f"{sides} by {taken}; not by {'; not by '.join(lost)}"
        if choice.unmeasured:
            tables = ", ".join(choice.unmeasured)
            yield f"nothing was measured of {tables}: ANALYZE {tables} would tell"


def _expected(rows: float) -> str:
    return f"{rows:,.0f}" if rows < 1000 else f"{float(f'{rows:.3g}'):,.0f}"


def _expected_rows(rows: float) -> str:
    number = _expected(rows)
    return f"{number} row{'s' * (number != '1')}"


def _joined(notes: Sequence[Note]) -> list[str]:
    """The sentences; those of one reason that differ in one word become one, with "or" between the words."""
    told: list[tuple[str, list[list[str]]]] = []
    for note in notes:
        words = note.sentence.split()
        for slug, said in told:
            if slug != note.slug or len(said) != len(words):
                continue
            differing = [i for i, word in enumerate(words) if word not in said[i]]
            if len(differing) <= 1:
                for i in differing:
                    said[i].append(words[i])
                break
        else:
            told.append((note.slug, [[word] for word in words]))
    return [" ".join(" or ".join(choices) for choices in said) for _, said in told]


def _totals(stats: Statistics) -> list[str]:
    answer = f"{count_text(stats.rows_out, 'row')} in {seconds_text(stats.seconds)}"
    moved = f"{count_text(stats.rows_moved, 'row')}, {bytes_text(stats.bytes_moved)} moved off the shards"
    where = f" on source {stats.merged_on}" if stats.merged_on is not None else ""
    spilled = f", {bytes_text(stats.bytes_spilled)} spilled to disk" if stats.bytes_spilled else ""
    sent = f"{count_text(stats.rows_sent, 'row')}, {bytes_text(stats.bytes_sent)} sent to them"
    told = f"{moved}, {sent}" if stats.rows_sent else moved
    return [f"{answer}, merge {seconds_text(stats.merge_seconds)}{where}{spilled}; {told}"]


def _drawn(block: _Block, first: str = "", rest: str = "") -> list[str]:
    """The block's lines; `first` stands before its title, `rest` before all else."""
    title = first + block.title
    lines = [f"{title.ljust(_FIGURES_COLUMN)}  {block.figures}" if block.figures else title]
    bar = "│" if block.below else " "
    lines += [f"{rest}{bar} {line}".rstrip() for line in block.details]
    for i, below in enumerate(block.below):
        is_last = i == len(block.below) - 1
        lines += _drawn(below, rest + ("└─ " if is_last else "├─ "), rest + ("   " if is_last else "│  "))
    return lines
