"""Templates: filled, matched, refused."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardwise.catalog.templates import Template, TemplateError


@pytest.mark.parametrize(
    ("text", "values", "filled"),
    [
        ("db_{n // 8:02}", {"n": 24}, "db_03"),
        ("{n % 16:x}", {"n": 27}, "b"),
        ("{ (n + 1) * 2 - 3 }", {"n": 4}, "7"),
        ("{n - 1 - 1}", {"n": 4}, "2"),
        ("{a[0:4]}|{a[-2:]}|{a[:1]}", {"a": "abcdefg"}, "abcd|fg|a"),
        ("logins_{m:%Y%m}", {"m": date(2025, 3, 1)}, "logins_202503"),
        ("{m}", {"m": date(2025, 3, 1)}, "2025-03-01"),
        ("{{{n}}}", {"n": 1}, "{1}"),
        ("plain", {}, "plain"),
        ("", {}, ""),
    ],
)
def test_filled(text, values, filled):
    assert Template.parse(text).render(values) == filled


@pytest.mark.parametrize(
    ("text", "message", "offset"),
    [
        ("a{n", "without its }", 1),
        ("a}", "without its {", 1),
        ("a{}", "expected a variable or a number in a template, found '}'", 2),
        ("a{n +}", "expected a variable or a number", 5),
        ("a{(n}", "expected ')'", 4),
        ("a{n[0]}", "':' of a slice", 5),
        ("a{n[0:1}", "expected ']'", 7),
        ("a{n[-:1]}", "expected a number", 5),
        ("a{n!r}", "expected an operator", 3),
        ("a{n // 0}", "by zero", 7),
        ("a{n % 0}", "by zero", 6),
        ("a{n:>3}", "is not a format", 4),
        ("a{n:%Y%Q}", "is not a format", 4),
        ("a{n.real}", "expected an operator", 3),
        ("a{f(n)}", "expected an operator", 3),
    ],
)
def test_refused(text, message, offset):
    with pytest.raises(TemplateError) as caught:
        Template.parse(text)
    assert message in str(caught.value)
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    ("text", "values", "message"),
    [
        ("{x}", {"n": 1}, "unknown variable 'x' in a template (known: n)"),
        ("{n + 1}", {"n": "a"}, "whole numbers on both sides"),
        ("{n // (n - n)}", {"n": 1}, "by zero"),
        ("{n[0:1]}", {"n": date(2025, 1, 1)}, "no slice"),
        ("{n:02}", {"n": "a"}, "does not fit a value of type str"),
        ("{n:02}", {"n": date(2025, 1, 1)}, "does not fit a value of type date"),
        ("{n:%Y}", {"n": 3}, "does not fit a value of type int"),
    ],
)
def test_not_filled(text, values, message):
    with pytest.raises(TemplateError) as caught:
        Template.parse(text).render(values)
    assert message in str(caught.value)


def test_what_it_reads():
    template = Template.parse("{a}_{b + c:02}_{d[0:1]}")
    assert template.variables == {"a", "b", "c", "d"}
    assert template.plain_variables == {"a"}
    assert not template.is_constant
    assert Template.parse("x{{y}}").is_constant


def test_matched():
    template = Template.parse("m{n}_r")
    assert template.match("m3_r") == {"n": "3"}
    assert template.match("m3") is None
    assert template.match("M3_R") is None
    assert template.match("M3_R", ignore_case=True) == {"n": "3"}
    assert Template.parse("{n}-{n}").match("3-4") is None
    assert Template.parse("a.{n // 2}.{n}").match("a.1.3") == {"n": "3"}
    assert Template.parse("a.{n}").match("ab1") is None  # the dot is a dot


@given(st.text(alphabet="ab{}_", max_size=6), st.integers(0, 10**6))
def test_escaped_text_and_a_number_read_back(text, number):
    template = Template.parse(text.replace("{", "{{").replace("}", "}}") + "{n:03}")
    filled = template.render({"n": number})
    assert filled == f"{text}{number:03}"
    found = template.match(filled)
    assert found is not None
    assert template.render({"n": int(found["n"])}) == filled
