"""A plan as JSON, in the shape that docs/explain.schema.json describes. Keys are added, never renamed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from shardwise.plan.choices import Choice
from shardwise.plan.nodes import Gather, Node
from shardwise.plan.phrases import Phrases
from shardwise.plan.pushed import pushed
from shardwise.plan.route import Note
from shardwise.plan.run import Fragment, Plan
from shardwise.plan.statistics import Statistics, total

FORMAT = 1


def explain_json(plan: Plan, stats: Statistics | None = None) -> str:
    """The plan, and with `stats` what its run measured, as one JSON object. No parameter's value is in it."""
    return json.dumps(_plan(plan, stats), ensure_ascii=False, indent=2)


def _plan(plan: Plan, stats: Statistics | None) -> dict[str, Any]:
    gathers: dict[str, tuple[Gather, tuple[Node, ...]]] = {}
    tree = _tree(plan.root, (), Phrases(plan.dialect), gathers)
    out: dict[str, Any] = {
        "format": FORMAT,
        "sql": plan.sql,
        "catalog_version": plan.catalog_version,
        "is_single_shard": plan.is_single_shard,
        "shards": list(plan.shards),
        "columns": [{"name": name, "type": type_} for name, type_ in plan.columns],
        "first": [
            {"name": f.name, "is_scalar": f.is_scalar, "plan": _plan(f.plan, None)} for f in plan.first
        ],
        "tree": tree,
        "fragments": [_fragment(f, gathers.get(f.name), plan, stats) for f in plan.fragments],
        "merge": None if plan.merge is None else _merge(plan),
        "notes": _notes(plan.notes),
        "choices": [_choice(choice) for choice in plan.choices],
    }
    if stats is not None:
        out["statistics"] = {
            "rows": stats.rows_out,
            "seconds": stats.seconds,
            "merge_seconds": stats.merge_seconds,
            "merged_on": stats.merged_on,
            "rows_moved": stats.rows_moved,
            "bytes_moved": stats.bytes_moved,
            "bytes_spilled": stats.bytes_spilled,
            "rows_sent": stats.rows_sent,
            "bytes_sent": stats.bytes_sent,
        }
        out["ran_first"] = [{"name": f.name, "plan": _plan(f.plan, f.statistics)} for f in stats.first]
    return out


def _choice(choice: Choice) -> dict[str, Any]:
    return {
        "sides": list(choice.sides),
        "alternatives": [
            {
                "strategy": a.strategy,
                "rows_moved": round(a.moved),
                "rows_sent": round(a.sent),
                "bytes": round(a.bytes),
                "is_taken": number == 0,
            }
            for number, a in enumerate(choice.alternatives)
        ],
        "unmeasured": list(choice.unmeasured),
    }


def _tree(
    node: Node, above: tuple[Node, ...], phrases: Phrases, gathers: dict[str, tuple[Gather, tuple[Node, ...]]]
) -> dict[str, Any]:
    text, subqueries = phrases.node(node)
    out: dict[str, Any] = {"node": type(node).__name__, "text": text}
    if isinstance(node, Gather):
        gathers.setdefault(node.fragment, (node, above))
        out["fragment"] = node.fragment
    out["inputs"] = [_tree(below, (*above, node), phrases, gathers) for below in node.inputs]
    out["subqueries"] = [
        {"name": name, "tree": _tree(plan, (), phrases, gathers)} for name, plan in subqueries
    ]
    return out


def _fragment(
    fragment: Fragment, gather: tuple[Gather, tuple[Node, ...]] | None, plan: Plan, stats: Statistics | None
) -> dict[str, Any]:
    out: dict[str, Any] = {
        "name": fragment.name,
        "sql": fragment.sql,
        "columns": [{"name": name, "type": type_} for name, type_ in fragment.columns],
        "shards": list(fragment.route.shards),
        "shards_total": fragment.route.total,
        "why": _notes(fragment.route.why),
        "pushed": ["the whole statement"] if plan.merge is None else list(pushed(*gather)) if gather else [],
        "not_pushed": _notes(gather[0].notes) if gather and plan.merge is not None else [],
    }
    foreseen = fragment.expected()
    if foreseen is not None:
        out["expected"] = {
            "rows": round(foreseen.rows),
            "bytes": round(foreseen.bytes),
            "is_guess": foreseen.is_guess,
        }
    if stats is not None:
        of = stats.fragments.get(fragment.name, {})
        out["statistics"] = {
            "rows": total(of).rows,
            "bytes": total(of).bytes,
            "seconds": total(of).seconds,
            "shards": {
                shard: {"rows": s.rows, "bytes": s.bytes, "seconds": s.seconds} for shard, s in of.items()
            },
        }
        filled = stats.filled.get(fragment.name, {})
        out["statistics"]["filled"] = {
            shard: [
                {
                    "table": table,
                    "missing": sorted(gap.missing),
                    "narrower": sorted(gap.narrower),
                    "is_absent": gap.is_whole,
                }
                for table, gap in gaps.items()
            ]
            for shard, gaps in filled.items()
        }
    return out


def _merge(plan: Plan) -> dict[str, Any]:
    assert plan.merge is not None
    return {"sql": plan.merge.sql, "inputs": list(plan.merge.inputs), "locals": list(plan.merge.locals)}


def _notes(notes: Iterable[Note]) -> list[dict[str, str]]:
    return [{"reason": note.slug, "sentence": note.sentence} for note in notes]
