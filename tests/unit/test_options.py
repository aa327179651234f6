"""Options refuse what they cannot be, and name themselves."""

from __future__ import annotations

from typing import Any

import pytest

from shardwise import Options, ProgrammingError


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("scatter", "no", "'allow' or 'refuse'"),
        ("scatter", None, "'allow' or 'refuse'"),
        ("deadline_s", 0, "a number of seconds above 0"),
        ("deadline_s", float("nan"), "a number of seconds above 0"),
        ("deadline_s", "10", "a number of seconds above 0"),
        ("time_zone", 1, "an IANA name"),
        ("rows_max", -1, "a whole number, 0 or more"),
        ("bytes_max", "1 GB", "a whole number, 0 or more"),
        ("threads", 0, "a whole number, 1 or more"),
        ("requests_max", True, "a whole number, 1 or more"),
        ("time_zone", "Mars/Olympus", "an IANA name"),
        ("time_zone", "Europe", "an IANA name"),
        ("time_zone", "", "an IANA name"),
        ("force", "keys", "the names of passes"),
    ],
)
def test_a_value_that_cannot_be(name: str, value: Any, allowed: str) -> None:
    with pytest.raises(ProgrammingError) as caught:
        Options(**{name: value})
    assert f"the option {name} cannot be {value!r}: it is {allowed}" in str(caught.value)


def test_values_that_can_be() -> None:
    options = Options(rows_max=0, bytes_max=0, deadline_s=0.5, time_zone="Europe/Berlin", scatter="refuse")
    assert options.rows_max == 0


@pytest.mark.parametrize("name", ["disable_passes", "force"])
def test_passes_may_be_a_list(name: str) -> None:
    """Options are a part of the plan cache's keys."""
    options = Options(**{name: ["push_distinct"]})
    assert options == Options(**{name: ("push_distinct",)})
    assert hash(options) == hash(Options(**{name: ("push_distinct",)}))
    with pytest.raises(ProgrammingError, match=name):
        Options(**{name: "push_distinct"})


def test_what_may_be_forced_is_listed() -> None:
    with pytest.raises(ProgrammingError, match=r"'push_limit': it is of these: broadcast, .*, seek_pages"):
        Options(force=("keys", "push_limit"))
