"""What the documents show is run: Python, SQL and shell blocks, in the order of the page.

A page's blocks share a folder and a Python namespace. An SQL block that begins with `-- name.sql` is that
file; any other is run statement by statement. Of a `console` block each `$ shardwise …` line is run, and the
lines below it, if any, must be what it prints.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from typing import Any, NamedTuple

import pytest

import shardwise
from shardwise.cli import main
from shardwise.cli.demo_data import build
from shardwise.planner import PASSES

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    "docs/how-to-files.md",
    "docs/how-to-tenants.md",
    "docs/dbapi.md",
    "docs/cli.md",
    "docs/scope.md",
    "docs/plan-cache.md",
]
IN_AN_EMPTY_FOLDER = ("README.md", "docs/how-to-files.md", "docs/how-to-tenants.md")
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    line: int
    language: str
    text: str


def blocks(page: str) -> Iterator[Block]:
    contents = (ROOT / page).read_text(encoding="utf-8")
    for match in _FENCE.finditer(contents):
        yield Block(contents.count("\n", 0, match.start()) + 1, match[1], match[2])


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's shop."""
    folder = tmp_path_factory.mktemp("a shop")
    for _ in build(folder):
        pass
    assert run(["catalog", "import", "-c", str(folder / "cluster.sql")])[0] == 0
    return folder


def run(arguments: list[str]) -> tuple[int, str]:
    """A command's exit code, and what it says."""
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = main(arguments)
    return code, raw.getvalue().decode()


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_shows_is_so(
    page: str, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path if page in IN_AN_EMPTY_FOLDER else shop
    if page == "README.md":
        copytree(shop, folder / "demo")  # as `make demo` leaves it
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")
    names: dict[str, Any] = {}
    for block in blocks(page):
        where = f"{page}:{block.line}"
        if block.language == "python":
            exec(compile(block.text, where, "exec"), names)
        elif block.language == "console":
            so = run_console(block.text, where)
            if so != block.text and os.environ.get("SHARDWISE_ACCEPT"):
                accept(page, block, so)
            else:
                assert block.text == so, f"{where}: SHARDWISE_ACCEPT=1 rewrites it"
        elif block.language == "sql":
            run_sql(block.text, folder)
    for name in ("con", "cluster"):
        if name in names:
            names[name].close()


def run_sql(text: str, folder: Path) -> None:
    first = re.match(r"-- (\S+\.sql)\n", text)
    if first:
        (folder / first[1]).write_text(text, encoding="utf-8")
        return
    with shardwise.connect(folder / "cluster.sql") as con:
        for statement in text.split(";"):
            if statement.strip():
                con.execute(statement).fetchall()


def run_console(text: str, where: str) -> str:
    """The block as it should be: what each command prints, where the block shows what it prints."""
    shown = ""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        program, *arguments = shlex.split(command)
        assert program == "shardwise", where
        code, said = run(arguments)
        assert code == 0, f"{where}: {command}: {said}"
        shown += f"$ {command}\n" + (said if expected.strip() else expected)
    return shown


def accept(page: str, block: Block, text: str) -> None:
    """Writes what is so into the page."""
    path = ROOT / page
    contents = path.read_text(encoding="utf-8")
    assert contents.count(block.text) == 1
    path.write_text(contents.replace(block.text, text), encoding="utf-8")


def test_links_lead_somewhere() -> None:
    for page in ("README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))):
        contents = (ROOT / page).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", contents):
            assert ((ROOT / page).parent / target).exists(), f"{page} leads to {target}"


READMES = sorted((ROOT / "shardwise").rglob("README.md"))


@pytest.mark.parametrize("readme", READMES, ids=lambda path: str(path.parent.relative_to(ROOT)))
def test_a_packages_readme_names_its_files(readme: Path) -> None:
    """By name, or by how a name ends: `…_reading.py`. The planner's passes are known by their order."""
    contents = readme.read_text(encoding="utf-8")
    endings = tuple(re.findall(r"`…(\w+\.py)`", contents))
    passes = {each.__name__ for each in PASSES}
    files = [path.name for path in readme.parent.glob("*.py") if not path.name.startswith("__")]
    named = {name for name in files if re.search(rf"\b{name.removesuffix('.py')}\b", contents)}
    missing = [f for f in files if f not in named and not f.endswith(endings) and f[:-3] not in passes]
    assert not missing


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_run(example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(example.read_text(encoding="utf-8"), str(example), "exec"), {"__name__": "__main__"})
    assert out.getvalue()
