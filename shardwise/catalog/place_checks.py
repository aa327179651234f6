"""Checks of names, sources and shards."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from shardwise.catalog.checker import Checker
from shardwise.catalog.hints import did_you_mean
from shardwise.catalog.items import item_key, kind_of
from shardwise.catalog.sources import SCHEMES, Members, Shard, ShardFamily, Source, SourceFamily
from shardwise.catalog.templates import Field, Template, TemplateError, TemplateValue
from shardwise.catalog.types import DIALECTS


def check_names(checker: Checker) -> None:
    """No two declarations of a kind share a name, nor does a member of a family have another's."""
    seen: set[tuple[str, str, str]] = set()
    families: list[SourceFamily | ShardFamily] = []
    for index, item in enumerate(checker.catalog.items):
        checker.index = index
        key = item_key(item)
        if key in seen:
            checker.fail(f'{kind_of(item)} "{item.name}" is declared twice', at=item.name)
        seen.add(key)
        if isinstance(item, (SourceFamily, ShardFamily)):
            _check_family(checker, item)
            for other in families:
                if kind_of(other) == kind_of(item):
                    _check_disjoint(checker, item, other)
            families.append(item)
    for index, item in enumerate(checker.catalog.items):
        checker.index = index
        if isinstance(item, (Source, Shard)):
            for family in families:
                if kind_of(family) == kind_of(item) and family.find(item.name):
                    checker.fail(
                        f'{kind_of(item)} "{item.name}" is also a member of "{family.name}"', at=item.name
                    )


def _check_family(checker: Checker, family: SourceFamily | ShardFamily) -> None:
    template = checker.template(family.name, [family.variable], at=family.name)
    if family.variable not in template.plain_variables:
        hint = f"Write {{{family.variable}}} in it"
        checker.fail(
            f'the name "{family.name}" does not tell the members of the family apart',
            at=family.name,
            hint=hint,
        )
    members = family.members
    if members is not None:
        _check_members(checker, members, family.name)


def _check_members(checker: Checker, members: Members, name: str) -> None:
    ranges = sorted((item for item in members.items if isinstance(item, range)), key=lambda each: each.start)
    if not all(members.items):
        checker.fail(f'the family "{name}" has an empty member', at=name)
    for before, after in pairwise(ranges):
        if after.start < before.stop:
            checker.fail(f'{after.start} is twice in the family "{name}"', at=str(after.start))
    texts = [item.casefold() for item in members.items if isinstance(item, str)]
    for text in texts:
        if texts.count(text) > 1 or members.find(text) not in (text, None):
            checker.fail(f'"{text}" is twice in the family "{name}"', at=text)


def _check_disjoint(
    checker: Checker, family: SourceFamily | ShardFamily, other: SourceFamily | ShardFamily
) -> None:
    """No name is a member of both. Quick unless the names begin alike."""
    heads = [_head(family.name), _head(other.name)]
    if not heads[0].startswith(heads[1]) and not heads[1].startswith(heads[0]):
        return
    small, large = family, other
    if large.members is not None and (small.members is None or len(small.members) > len(large.members)):
        small, large = other, family
    template = Template.parse(small.name)
    for value in small.members or ("a",):  # both open: any name will do
        name = template.render({small.variable: value})
        if large.find(name):
            kind = kind_of(family)
            message = f'{kind} "{name}" is a member of "{family.name}" and of "{other.name}"'
            checker.fail(message, at=family.name)


def _head(template: str) -> str:
    return template.partition("{")[0].casefold()


# ------------------------------------------------------------------ sources and shards


def check_source(checker: Checker, source: Source) -> None:
    """A URL of a known kind without a password in it, or a dialect."""
    if "{" in source.name or "}" in source.name:
        hint = f"Add FOR variable IN … after {source.name}"
        checker.fail(
            f'the name "{source.name}" is a template, and the source is no family', at=source.name, hint=hint
        )
    _check_source(checker, source)


def _check_source(checker: Checker, source: Source) -> None:
    if source.dialect is not None and source.dialect not in DIALECTS:
        hint = did_you_mean(source.dialect, DIALECTS)
        checker.fail(f'there is no dialect "{source.dialect}"', at=source.dialect, hint=hint)
    if source.password is not None and bool(source.password.env) == bool(source.password.file):
        checker.fail(
            f'the password of source "{source.name}" is in an environment variable or in a file',
            at=source.name,
        )
    if source.url is None:
        if source.dialect is None:
            checker.fail(f'source "{source.name}" has neither URL nor DIALECT', at=source.name)
        return
    if not re.match(r"[A-Za-z][\w+.-]*:", source.url):
        checker.fail(f'the URL of source "{source.name}" has no scheme', at=source.url, hint=_SCHEMES)
    if source.scheme not in SCHEMES:
        checker.fail(f'"{source.scheme}" is no kind of source', at=source.url, hint=_SCHEMES)
    if source.is_file and ":///" not in source.url:
        path = source.url.partition(":")[2].lstrip("/")
        reads = "is read as a host" if "://" in source.url else "is no path"
        hint = f"Write {source.scheme}:///{path}; an absolute path has four slashes"
        checker.fail(f'"{path}" in the URL of source "{source.name}" {reads}', at=source.url, hint=hint)
    if _holds_password(source):
        hint = "Leave it out of the URL, and write PASSWORD ENV 'VARIABLE' or PASSWORD FILE 'path'"
        checker.fail(f'the URL of source "{source.name}" holds a password', at=source.url, hint=hint)


def _holds_password(source: Source) -> bool:
    """Whether there is one after the user, even one that should have been escaped, or as a parameter."""
    rest, _, query = (source.url or "").partition("://")[2].partition("?")
    user = rest.rpartition("@")[0]
    in_query = re.search(r"(?:^|&)(?:password|passwd|pwd)=", query, re.IGNORECASE)
    return (":" in user and source.file_path is None) or in_query is not None


_SCHEMES = f"A URL begins with one of {', '.join(f'{each}://' for each in SCHEMES)}"


def check_source_family(checker: Checker, family: SourceFamily) -> None:
    """As a source, for the pattern; its templates can be filled for the first and last member."""
    pattern = family.pattern
    _check_source(checker, pattern)
    secret = pattern.password
    texts = [pattern.url, pattern.zone, secret.env if secret else None, secret.file if secret else None]
    reads = {
        name
        for text in texts
        if text
        for name in checker.template(text, [family.variable], at=text).variables
    }
    if pattern.url is not None and family.variable not in reads:
        hint = f"Use {{{family.variable}}} in the URL"
        checker.fail(f'all members of "{family.name}" have one URL', at=pattern.url, hint=hint)
    _check_filled(checker, family.member, family.members, family.name)
    if family.members is None:
        _check_open(checker, family)


def _check_open(checker: Checker, family: SourceFamily) -> None:
    """Its members can be found: by a query, or where its URL has them in files' names. Few enough are
    open."""
    given = family.pattern.options.get("open_max")
    if given is not None and not (given.isdecimal() and int(given) > 0):
        checker.fail(f"open_max is a whole number from 1, not {given!r}", at="open_max")
    if family.listing is not None:
        _check_listing(checker, family, family.listing)
    path = family.pattern.file_path
    if path is None:
        return
    template = Template.parse(path)
    if family.listing is None and family.variable not in template.plain_variables:
        hint = f"Write {{{family.variable}}} in its path, or say how to list them: FOR EACH … FROM (SELECT …)"
        checker.fail(
            f'the files of "{family.name}" do not tell its members', at=family.pattern.url, hint=hint
        )
    formatted = [part for part in template.parts if isinstance(part, Field) and part.format]
    if formatted:
        checker.fail(
            "the members of an open family are texts, which take no format",
            at=family.pattern.url,
            hint=f"Write {{{family.variable}}}",
        )


def _check_listing(checker: Checker, family: SourceFamily, listing: str) -> None:
    """One query of one column."""
    try:
        found = sqlglot.parse_one(listing, dialect=checker.catalog.dialect)
    except SqlglotError:
        found = None
    if not isinstance(found, exp.Query):
        checker.fail(
            f'the listing of "{family.name}" is no query',
            at=family.name,
            hint="Write FROM (SELECT name FROM …)",
        )
    if len(found.selects) != 1:
        checker.fail(f'the listing of "{family.name}" has more than one column', at=family.name)


def _check_filled(
    checker: Checker, fill: Callable[[TemplateValue], object], members: Members | None, name: str
) -> None:
    samples: list[int | str] = ["a"]
    if members is not None:
        samples = [item if isinstance(item, str) else each for item in members.items for each in _ends(item)]
    for value in samples:
        try:
            fill(value)
        except TemplateError as error:
            checker.fail(f'a member of "{name}" cannot be made: {error}', at=name)


def _ends(item: range | str) -> tuple[int | str, ...]:
    return (item,) if isinstance(item, str) else (item[0], item[-1])


def check_shard(checker: Checker, shard: Shard) -> None:
    """On sources that exist, and that no other shard is on."""
    if "{" in shard.name:
        hint = f"Add FOR variable IN … after {shard.name}"
        checker.fail(
            f'the name "{shard.name}" is a template, and the shard is no family', at=shard.name, hint=hint
        )
    _check_shard(checker, shard, shard.name)


def _check_shard(checker: Checker, shard: Shard, name: str) -> None:
    catalog = checker.catalog
    own = (shard.source, *shard.replicas)
    for source in own:
        checker.need_source(source)
        if own.count(source) > 1:
            checker.fail(f'shard "{name}" uses source "{source}" twice', at=source)
        for other in catalog.shards_on(source):
            if other.name != shard.name and catalog.ordered([other.name, shard.name])[0] == other.name:
                checker.fail(f'source "{source}" belongs to shard "{other.name}" already', at=source)
    if shard.name not in own and catalog.find_source(shard.name):
        hint = "Name the shard after its own source, or otherwise"
        checker.fail(f'shard "{shard.name}" has the name of a source that is not its own', at=name, hint=hint)


def check_shard_family(checker: Checker, family: ShardFamily) -> None:
    """As a shard, for the first and last member: in between the templates only count on."""
    pattern = family.pattern
    for text in (pattern.source, *pattern.replicas):
        template = checker.template(text, [family.variable], at=text)
        if family.variable not in template.plain_variables:
            hint = f"Write {{{family.variable}}} in it"
            checker.fail(f'"{text}" does not tell the members of "{family.name}" apart', at=text, hint=hint)
    _check_filled(checker, family.member, family.members, family.name)
    for item in family.members.items:
        for value in _ends(item):
            _check_shard(checker, family.member(value), family.name)
    _check_sources_of_members(checker, family)


def _check_sources_of_members(checker: Checker, family: ShardFamily) -> None:
    """Every member's sources exist; a family of sources that covers the range is not gone through."""
    for template in (family.pattern.source, *family.pattern.replicas):
        covering = [
            item.members
            for item in checker.catalog.items
            if isinstance(item, SourceFamily)
            and _renamed(item.name, item.variable) == _renamed(template, family.variable)
        ]
        if covering and covering[0] is not None and _covers(covering[0], family.members):
            continue
        filled = Template.parse(template)
        for value in family.members:
            name = filled.render({family.variable: value})
            if checker.catalog.find_source(name) is None:
                checker.fail(f'there is no source "{name}" for a member of "{family.name}"', at=template)


def _renamed(template: str, variable: str) -> str:
    return re.sub(rf"\{{{re.escape(variable)}\b", "{", template)


def _covers(large: Members, small: Members) -> bool:
    ranges = [item for item in large.items if isinstance(item, range)]
    return all(
        item in large.items
        if isinstance(item, str)
        else any(each.start <= item.start and item.stop <= each.stop for each in ranges)
        for item in small.items
    )
