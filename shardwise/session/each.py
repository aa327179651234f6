"""Who is asked by `con.each(…)`: a DIRECTORY's members, or a sharding's shards, each with its scope."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from shardwise.catalog.model import Sharding
from shardwise.errors import ProgrammingError, Reason
from shardwise.executor.guard import Guard
from shardwise.planner import Scope, scope_of
from shardwise.planner.scope import SHARD
from shardwise.session.each_result import EachResult, Member, Question
from shardwise.session.shared_plan import SharedPlan, can_be_shared


def each(question: Question, by: str, given: Iterable[Any] | None, scope: Scope, guard: Guard) -> EachResult:
    """The answers of all members of sharding `by`, or of those `given`, in the connection's scope."""
    sharding = question.cluster.catalog.sharding(by)
    question = replace(question, column=(SHARD, "VARCHAR"))
    members = _shards(question, sharding, given, scope)
    return EachResult(question, members, _shared(question, members), guard)


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
    return [Member(s, scope_of(catalog, {SHARD: s}, before=scope), s) for s in dict.fromkeys(seen)]


def _shared(question: Question, members: Sequence[Member]) -> SharedPlan | None:
    """One plan for all of them, if there is one."""
    shards = tuple(member.shard for member in members if member.shard is not None)
    if len(members) < 2 or len(shards) < len(members):
        return None
    cluster = question.cluster
    plan = question.plan(members[0].scope)
    if not can_be_shared(plan, cluster.catalog, shards):
        return None
    columns = cluster.columns_of_plan(plan, question.params, question.options, question.locals)
    return SharedPlan(plan, shards, columns)
