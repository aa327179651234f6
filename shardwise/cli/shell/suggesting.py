"""What may stand at the cursor, from the text around it and the names there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from shardwise.cli.shell import vocabulary
from shardwise.cli.shell.lexing import Kind, Token, tokens
from shardwise.cli.shell.names import Names, Relation
from shardwise.cli.shell.scope import Item, Scope, columns_of, scope_at

_MENU_MAX: Final = 200
_TABLES_FOR_COLUMNS_MAX: Final = 50  # without a FROM yet, the columns of all tables are offered: of so many


class Candidate(NamedTuple):
    """A text to put in, what it is matched by (else itself), and what it is, in a word."""

    text: str
    meta: str = ""
    match: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """Candidates, the likeliest first. `is_eager`: they are offered before a letter of them is typed."""

    candidates: Iterable[Candidate]
    is_eager: bool = False


def complete(text: str, cursor: int, names: Names, *, is_asked: bool = True) -> list[tuple[Candidate, int]]:
    """What may be put in at the cursor, and how many characters before it that replaces.

    With `is_asked` also where nothing is typed yet; else only where a name must follow.
    """
    place = _place(text, cursor, names.dialect)
    if place is None:
        return []
    offer = _offer(place, names)
    if not place.prefix and not (is_asked or offer.is_eager):
        return []
    prefix = place.prefix.lstrip('"`')
    ranked = []
    for order, candidate in enumerate(offer.candidates):
        fit = rank(candidate.match or candidate.text.strip('"`'), prefix)
        if fit == 0 or (fit is not None and candidate.meta not in ("keyword", "function")):
            ranked.append((fit, order, _cased(candidate, place.prefix)))
    ranked.sort(key=lambda each: each[:2])
    found = list(dict.fromkeys(candidate for _, _, candidate in ranked))[:_MENU_MAX]
    if not is_asked and [c.text for c in found] == [place.prefix]:
        return []  # it is typed already
    return [(candidate, len(place.prefix)) for candidate in found]


def rank(text: str, prefix: str) -> int | None:
    """How well a text fits: it begins so, a word in it does, it holds it; None if not at all."""
    text, prefix = text.casefold(), prefix.casefold()
    if text.startswith(prefix):
        return 0
    at = text.find(prefix)
    if at < 0 or len(prefix) < 2:
        return None
    return 1 if text[at - 1] in "_ ." else 2


def _cased(candidate: Candidate, prefix: str) -> Candidate:
    """Keywords as the user types them."""
    if candidate.meta == "keyword" and prefix and prefix == prefix.lower():
        return candidate._replace(text=candidate.text.lower())
    return candidate


class _Place(NamedTuple):
    """The statement around the cursor without the word that is being typed, which is `prefix`.

    `before` are the tokens before it, `qualifier` the names that it hangs on by dots.
    """

    found: Sequence[Token]
    before: Sequence[Token]
    prefix: str
    qualifier: tuple[str, ...]
    cursor: int

    def word(self, index: int) -> str:
        """A word before the cursor in lower case, -1 the last; empty if there is none."""
        return self.before[index].text.lower() if -len(self.before) <= index < len(self.before) else ""


def _place(text: str, cursor: int, dialect: str) -> _Place | None:
    """None within a string, a comment or a number."""
    before, prefix = list[Token](), ""
    found = []
    around = _tokens_around(text, cursor, dialect)
    if around and around[-1].kind is Kind.QUOTED and around[-1].is_open and around[-1].start < cursor:
        # A name in quotes is being typed, which are not closed yet: what follows is no part of it.
        start = around[-1].start
        prefix = text[start:cursor]
        around = _tokens_around(text[:start] + " " * len(prefix) + text[cursor:], cursor, dialect)
    for token in around:
        touches = token.start < cursor <= token.end
        if touches and token.kind is Kind.WORD:
            prefix = token.text[: cursor - token.start]
            continue
        if touches and (token.kind is Kind.NUMBER or (token.is_open or token.end > cursor)):
            return None
        found.append(token)
        if token.end <= cursor:
            before.append(token)
    qualifier: tuple[str, ...] = ()
    names_before = before
    while len(names_before) > 1 and names_before[-1].text == ".":
        if names_before[-2].kind not in (Kind.WORD, Kind.QUOTED):
            break
        qualifier = (names_before[-2].name, *qualifier)
        names_before = names_before[:-2]
    return _Place(found, before, prefix, qualifier, cursor)


def _tokens_around(text: str, cursor: int, dialect: str) -> list[Token]:
    """The tokens of the statement that the cursor is in; of an open comment one, which stops all."""
    current: list[Token] = []
    for token in tokens(text, dialect):
        if token.text == ";" and token.kind is Kind.SYMBOL:
            if token.start >= cursor:
                break
            current = []
        elif token.kind is Kind.COMMENT:
            is_closed = token.text.endswith("*/")
            if token.start < cursor <= token.end and not (is_closed and cursor == token.end):
                return [token._replace(is_open=True, kind=Kind.STRING)]
        elif token.kind is not Kind.BLANK:
            current.append(token)
    return current


# -- what may stand there ---------------------------------------------------------------------------


def _offer(place: _Place, names: Names) -> Offer:
    if not place.before:
        return Offer(_keywords(vocabulary.STARTS))
    if place.qualifier:
        return Offer(_members(place, names), is_eager=True)
    special = _in_statements_of_ours(place, names)
    return special if special is not None else _in_a_query(place, names)


def _in_statements_of_ours(place: _Place, names: Names) -> Offer | None:
    """SHOW, SET SCOPE, USE, DESCRIBE, EXPLAIN, DROP."""
    words = [token.text.lower() for token in place.before]
    match words:
        case ["show"]:
            return Offer(_keywords(vocabulary.SHOW_FORMS), is_eager=True)
        case (
            ["show", "columns", "from" | "in"]
            | ["show", "route", "for"]
            | ["show", "create", "table" | "view"]
            | ["describe" | "desc"]
        ):
            return Offer(relations(names), is_eager=True)
        case ["show", "route", "for", _]:
            return Offer(_keywords(("KEY",)))
        case ["show", _] | ["show", "columns", "from" | "in", *_]:
            return Offer(_keywords(("LIKE", "WHERE")))
        case ["show", *_]:
            return Offer(())
        case ["set" | "reset"]:
            return Offer(_keywords(("SCOPE",)), is_eager=True)
        case ["set", "scope"]:
            return Offer([*_scope_names(names), *_keywords(("shard",))], is_eager=True)
        case ["set", "scope", "shard", "=" | "in"] | ["set", "scope", "shard", "in", "(" | ","]:
            return Offer([Candidate(names.quoted(name), "shard") for name in names.shards], is_eager=True)
        case ["set", "scope", "shard", "in", *_] if words[-1] in ("(", ","):
            return Offer([Candidate(names.quoted(name), "shard") for name in names.shards], is_eager=True)
        case ["use"]:
            return Offer([Candidate(names.quoted(name), "schema") for name in names.schemas], is_eager=True)
        case ["drop", "table" | "view"]:
            return Offer((c for c in relations(names) if c.meta.startswith("local")), is_eager=True)
        case ["explain"]:
            return Offer(_keywords(vocabulary.STARTS))
        case ["explain", "(", *rest] if ")" not in rest:
            return Offer(_keywords(vocabulary.EXPLAIN_OPTIONS))
        case ["create", *_, "as"]:
            return Offer(_keywords(("SELECT", "WITH", "FROM")))
    return None


def _scope_names(names: Names) -> Iterator[Candidate]:
    """What a scope's keys are known by: shard keys, and the shardings themselves."""
    keys = {key.casefold(): key for relation in names.relations for key in relation.keys}
    yield from (Candidate(names.quoted(key), "shard key") for key in keys.values())
    yield from (Candidate(names.quoted(name), "sharding") for name in names.shardings)


_TAKES_RELATION: Final = ("from", "join", "table", "into", "lateral")
_TAKES_NOTHING: Final = ("as", "limit", "offset", "interval")
_CLAUSES: Final = ("select", "where", "by", "having", "qualify", "on", "set", "values")
_ENDS_OPERAND: Final = (")", "]")
_BEFORE_OPERAND: Final = vocabulary.words(
    """select distinct all where and or not on having qualify by when then else case in between like ilike is
    over filter with union except intersect values using set returning escape from join exists any some"""
)


def _in_a_query(place: _Place, names: Names) -> Offer:
    last = place.before[-1]
    word = place.word(-1)
    scope = scope_at(place.found, place.cursor, names)
    clause = _clause(place.before)
    if last.is_word(*_TAKES_RELATION) or (clause == "from" and last.text == ","):
        return Offer([*_ctes(scope, names), *relations(names), *_schemas(names)], is_eager=True)
    if last.is_word("on"):
        return Offer([*_conditions(scope, names), *_expression(place, scope, names)], is_eager=True)
    if word == "(" and place.word(-2) == "using":
        return Offer(_common(scope, names), is_eager=True)
    if last.is_word(*_TAKES_NOTHING):
        return Offer(())
    literals = (Kind.STRING, Kind.NUMBER, Kind.QUOTED, Kind.PARAMETER)
    is_operand = last.kind in literals or last.text in _ENDS_OPERAND
    is_name = last.kind is Kind.WORD and word not in _BEFORE_OPERAND
    if is_operand or is_name:
        return Offer(_keywords(vocabulary.CLAUSES))
    return Offer(_expression(place, scope, names))


def _clause(before: Sequence[Token]) -> str:
    """The clause that the last token is in, within its parentheses."""
    depth = 0
    for token in reversed(before):
        if token.text == ")":
            depth += 1
        elif token.text == "(":
            if depth == 0:
                return ""
            depth -= 1
        elif depth == 0 and token.is_word("from", "join"):
            return "from"
        elif depth == 0 and token.is_word(*_CLAUSES):
            return token.text.lower()
    return ""


def _keywords(words: Iterable[str]) -> list[Candidate]:
    return [Candidate(word, "keyword") for word in words]


def relations(names: Names) -> Iterator[Candidate]:
    for relation in names.relations:
        schema = f"{names.quoted(relation.schema)}." if relation.schema else ""
        yield Candidate(schema + names.quoted(relation.name), relation.kind, relation.name)


def _schemas(names: Names) -> Iterator[Candidate]:
    return (Candidate(names.quoted(name), "schema") for name in names.schemas)


def _ctes(scope: Scope, names: Names) -> Iterator[Candidate]:
    return (Candidate(names.quoted(name), "CTE") for name in scope.ctes)


def _members(place: _Place, names: Names) -> Iterator[Candidate]:
    """What follows a dot: the columns of an alias or table, the tables of a schema."""
    *outer, last = place.qualifier
    item = scope_at(place.found, place.cursor, names).find(last) if not outer else None
    relation = names.relation(last, outer[-1] if outer else "")
    columns: Sequence[str] = ()
    if item is not None:
        columns = item.columns
    elif relation is not None:
        columns = relation.columns or (columns_of(relation.sql, names) if relation.sql else ())
    yield from (Candidate(names.quoted(column), "column") for column in columns)
    if not outer:
        for each in names.relations:
            if each.schema is not None and each.schema.casefold() == last.casefold():
                yield Candidate(names.quoted(each.name), each.kind)


def _expression(place: _Place, scope: Scope, names: Names) -> Iterator[Candidate]:
    yield from _columns(scope, names)
    for item in scope.items:
        yield Candidate(names.quoted(item.alias), item.relation.name if item.relation else "alias")
    yield from (Candidate(word, "keyword") for word in vocabulary.OPERANDS)
    if place.prefix:
        yield from (Candidate(name, "function") for name in names.functions)


def _columns(scope: Scope, names: Names) -> Iterator[Candidate]:
    """Of the tables in the FROM; a name that several have is written with its alias."""
    owners: dict[str, list[Item]] = {}
    for item in scope.items:
        for column in item.columns:
            owners.setdefault(column, []).append(item)
    for column, items in owners.items():
        if len(items) == 1:
            yield Candidate(names.quoted(column), items[0].alias, column)
        else:
            for item in items:
                yield Candidate(f"{names.quoted(item.alias)}.{names.quoted(column)}", "column", column)
    if not scope.items:
        for relation in names.relations[:_TABLES_FOR_COLUMNS_MAX]:
            yield from (Candidate(names.quoted(c), relation.name, c) for c in relation.columns)


def _conditions(scope: Scope, names: Names) -> Iterator[Candidate]:
    """How the table joined last is joined to those before: by the shard keys that put their rows together."""
    if len(scope.items) < 2:
        return
    *others, last = scope.items
    for other in others:
        for mine, theirs in _colocated(last.relation, other.relation):
            left = f"{names.quoted(last.alias)}.{names.quoted(mine)}"
            right = f"{names.quoted(other.alias)}.{names.quoted(theirs)}"
            yield Candidate(f"{left} = {right}", "same shard")


def _colocated(left: Relation | None, right: Relation | None) -> Iterator[tuple[str, str]]:
    if left is None or right is None:
        return
    if left.sharding is not None and left.sharding == right.sharding:
        yield from zip(left.keys[:1], right.keys[:1], strict=True)
    if left.parent is not None and left.parent[1].casefold() == right.name.casefold():
        yield left.parent[0], left.parent[2]
    if right.parent is not None and right.parent[1].casefold() == left.name.casefold():
        yield right.parent[2], right.parent[0]


def _common(scope: Scope, names: Names) -> Iterator[Candidate]:
    if len(scope.items) > 1:
        *others, last = scope.items
        there = {column.casefold() for item in others for column in item.columns}
        yield from (Candidate(names.quoted(c), "column") for c in last.columns if c.casefold() in there)
