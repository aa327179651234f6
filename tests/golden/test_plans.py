"""Every case of every `.plan` file gives the plan that is written below it."""

from __future__ import annotations

from functools import cache

import pytest

from shardwise.catalog import parse
from shardwise.errors import Error, InternalError
from shardwise.options import Options
from shardwise.plan.explain import explain_text
from shardwise.planner import Context, Planner, scope_of
from tests.golden.cases import HERE, Case, PlanFile, files

FILES = files()
CASES = [
    pytest.param(file, case, id=str(case), marks=[pytest.mark.xfail(reason=case.todo)] if case.todo else [])
    for file in FILES
    for case in file.cases
]


@cache
def planner(catalog: str) -> Planner:
    return Planner(parse((HERE / "catalogs" / f"{catalog}.sql").read_text(encoding="utf-8")))


def planned(case: Case) -> tuple[str, set[str]]:
    """The plan's text, and the passes that changed it."""
    try:
        with_catalog = planner(case.catalog)
        context = Context(scope=scope_of(with_catalog.catalog, case.scope))
        options = Options(verify_passes=True, force=case.force, **case.options)
        plan = with_catalog.prepare(case.sql).plan(case.params, context=context, options=options)
        text = explain_text(plan)
    except InternalError:
        raise
    except Error as error:
        return f"error: {error}", set()
    assert "" not in text.splitlines(), "a plan with a blank line cannot be read back"
    return text, {name for name, _ in plan.steps}


@pytest.mark.parametrize(("file", "case"), CASES)
def test_plan(file: PlanFile, case: Case, accept: bool) -> None:
    text, fired = planned(case)
    assert set(case.expect) <= fired, f"did not fire: {set(case.expect) - fired}; did: {sorted(fired)}"
    assert not set(case.never) & fired, f"must not fire: {set(case.never) & fired}"
    if accept and not case.todo:
        case.plan = text
        file.write()
    assert text == case.plan
