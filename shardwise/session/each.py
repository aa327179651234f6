"""Who is asked by `con.each(…)`: a DIRECTORY's members, or a sharding's shards, each with its scope."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from shardwise.catalog.model import Catalog, Sharding
from shardwise.catalog.shardings import key_text
from shardwise.errors import ProgrammingError, Reason
from shardwise.executor.guard import Guard
from shardwise.planner import Scope, scope_of
from shardwise.planner.scopes.members import (
    directory_key,
    member_value,
    members_in,
    scope_of_member,
    shards_of,
)
from shardwise.planner.scopes.scope import SHARD
from shardwise.planner.scopes.values import plain
from shardwise.session.each_result import EachResult, Member, Question
from shardwise.session.shared_plan import SharedPlan, can_be_shared


def each(question: Question, by: str, given: Iterable[Any] | None, scope: Scope, guard: Guard) -> EachResult:
    """The answers of all members of sharding `by`, or of those `given`, in the connection's scope."""
    sharding = question.cluster.catalog.sharding(by)
    if sharding.is_open:
        question, members = _of_directory(question, sharding, given, scope)
    else:
        question = replace(question, column=(SHARD, "VARCHAR"))
        members = _shards(question, sharding, given, scope)
    return EachResult(question, members, _shared(question, sharding, members), guard)


def _of_directory(
    question: Question, sharding: Sharding, given: Iterable[Any] | None, scope: Scope
) -> tuple[Question, list[Member]]:
    """The members there are, or those given, as far as the scope has them; listed at most once."""
    catalog = question.cluster.catalog
    if given is None:
        texts: Iterable[str] = question.cluster.members(sharding.name)
    else:
        what = f'member of "{sharding.name}"'
        texts = dict.fromkeys(key_text(member_value(catalog, sharding, plain(v, what))) for v in given)
    seen = members_in(scope, catalog, sharding)
    texts = tuple(text for text in texts if seen is None or text in seen)
    key = directory_key(catalog, sharding)
    normal_type = question.cluster.describer(question.options.time_zone).normal_type
    of_type = (key and normal_type(key[1].type)) or "VARCHAR"
    members = []
    for text in texts:
        value = member_value(catalog, sharding, text)
        shard = shards_of(sharding, [text])[0] if sharding.shards_are_sources else None
        if shard is None or scope.shards is None or shard in scope.shards:
            alone = None if shard is None else replace(scope, shards=(shard,))
            members.append(Member(value, scope_of_member(scope, sharding, value), shard, alone))
    listed = {sharding.name: tuple(texts)}
    return replace(question, column=(sharding.levels[0], of_type), members=listed), members


def _shards(
    question: Question, sharding: Sharding, given: Iterable[Any] | None, scope: Scope
) -> list[Member]:
    """The sharding's shards, as far as the scope has them, in the catalog's order."""
    catalog = question.cluster.catalog
    known = sharding.shards()
    wanted = known if given is None else tuple(given)
    for name in wanted:
        if name not in known:
            raise ProgrammingError(
                f'sharding "{sharding.name}" has no shard "{name}"',
                hint=f"Its shards are {', '.join(known[:20])}{', …' if len(known) > 20 else ''}",
                reason=Reason.SCOPE,
            )
    seen = [s for s in catalog.ordered(wanted) if scope.shards is None or s in scope.shards]
    return [_on_shard(catalog, shard, scope) for shard in dict.fromkeys(seen)]


def _on_shard(catalog: Catalog, shard: str, scope: Scope) -> Member:
    alone = scope_of(catalog, {SHARD: shard}, before=scope)
    return Member(shard, alone, shard, alone)


def _shared(question: Question, sharding: Sharding, members: Sequence[Member]) -> SharedPlan | None:
    """One plan for all of them, if there is one."""
    shards = tuple(member.shard for member in members if member.shard is not None)
    first = members[0].alone if len(members) > 1 else None
    if first is None or len(shards) < len(members):
        return None
    cluster = question.cluster
    plan = question.plan(first)
    catalog = cluster.catalog.with_members(question.members)
    if not can_be_shared(plan, catalog, shards, of=sharding.name if sharding.is_open else None):
        return None
    columns = cluster.columns_of_plan(plan, question.params, question.options, question.locals)
    return SharedPlan(plan, shards, columns)
