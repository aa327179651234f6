"""The shell without its keyboard, over a small cluster."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from shardwise.cli.shell import commands
from shardwise.cli.shell.app import prompt_of
from shardwise.cli.shell.leaving import Leave
from shardwise.cli.shell.settings import Settings
from shardwise.cli.shell.shell import Shell
from shardwise.errors import Cancelled
from tests.integration.cli.conftest import *  # noqa: F403  the cluster
from tests.integration.cli.runner import run


class Ran:
    """A shell, and what running a text in it printed."""

    def __init__(self, shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
        self.shell = shell
        self._capsys = capsys
        self.code = 0
        self.err = ""

    def __call__(self, text: str) -> str:
        self.code = self.shell.run(text)
        out, self.err = self._capsys.readouterr()
        return out


@pytest.fixture
def sh(imported: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Ran]:
    shell = Shell(imported / "cluster.sql")
    yield Ran(shell, capsys)
    shell.close()


def test_statements_run_in_order(sh: Ran) -> None:
    assert sh("SELECT 1 AS a; SELECT 2 AS b;\nSELECT 3 AS c") == (
        "a\n-\n1\n(1 row)\nb\n-\n2\n(1 row)\nc\n-\n3\n(1 row)\n"
    )
    assert sh.code == 0


def test_an_error_is_shown_and_the_rest_runs_unless_bail(sh: Ran) -> None:
    text = ".headers off\nSELECT citty FROM customers; SELECT 2;"
    assert sh(text) == "2\n(1 row)\n"
    assert sh.code == 1
    assert "     |        ^^^^^\n" in sh.err
    assert 'hint: Did you mean "city"?' in sh.err
    assert sh(".bail on\n" + text) == ""
    assert sh.code == 1


def test_modes(sh: Ran) -> None:
    sql = "SELECT id, name FROM customers WHERE id = 7;"
    assert sh(f".mode csv\n{sql}") == "id,name\n7,c7\n"
    assert sh(f".headers off\n{sql}") == "7,c7\n"
    assert sh(f".headers on\n.mode JSONL\n{sql}") == '{"id": 7, "name": "c7"}\n'
    assert sh(f".mode duckbox\n{sql}").startswith("id  name\n")
    assert sh(f"\\x\n{sql}") == "-[ RECORD 1 ]\nid   | 7\nname | c7\n"
    assert "Expanded display is on." in sh.err
    assert sh(f"\\x off\n.mode\n{sql[:-1]}\\gx") == "mode: table\n-[ RECORD 1 ]\nid   | 7\nname | c7\n"
    assert sh(sql).startswith("id  name\n")
    assert sh("\\g").startswith("id  name\n")
    sh(".mode xml")
    assert "hint: There are table, line, csv" in sh.err


def test_nullvalue(sh: Ran) -> None:
    assert sh(".headers off\n.nullvalue '(no value)'\nSELECT NULL;") == "(no value)\n(1 row)\n"
    assert sh("\\pset null ''\nSELECT NULL;") == "\n(1 row)\n"


def test_output_goes_to_files(sh: Ran, imported: Path) -> None:
    assert (
        sh(".output out.csv\nSELECT 1 AS a; SELECT 2 AS b;\n.print done\n.output\nSELECT 3 AS c;")
        == "c\n-\n3\n(1 row)\n"
    )
    assert (imported / "out.csv").read_text(encoding="utf-8") == "a\n1\nb\n2\ndone\n"
    assert sh(".once 'a b.parquet'\nSELECT id FROM customers; SELECT 1 AS x;") == "x\n-\n1\n(1 row)\n"
    assert pq.read_table(imported / "a b.parquet").num_rows == 300
    assert sh("SELECT 5 AS five \\g five.json\n") == ""
    assert (imported / "five.json").read_text(encoding="utf-8") == '[{"five": 5}]\n'
    sh(".output nope/x.csv")
    assert "cannot write nope/x.csv" in sh.err


def test_timer_tells_what_was_moved(sh: Ran) -> None:
    out = sh(".timer on\nSELECT count(*) FROM customers;")
    assert "Time: " in out.splitlines()[-1]
    assert out.splitlines()[-1].endswith("moved off 2 shards")


def test_explain(sh: Ran) -> None:
    out = sh(".explain on\nSELECT count(*) AS n FROM customers;")
    assert out.index("Fragment f1 on 2 of 2 shards") < out.index("300")
    assert "300\n" not in sh(".explain only\nSELECT count(*) AS n FROM customers;")
    assert "moved off the shards" in sh(".explain analyze\nSELECT count(*) AS n FROM customers;")
    assert "by_id" in sh("SHOW SHARDINGS;")
    assert "Fragment" not in sh(".explain off\nSELECT 1;")


def test_looking(sh: Ran) -> None:
    assert [line.split()[0] for line in sh(".tables").splitlines()[2:-1]] == ["customers", "cities"]
    assert [line.split()[0] for line in sh("\\dt c*s").splitlines()[2:-1]] == ["customers", "cities"]
    assert [line.split()[0] for line in sh(".tables CUST%").splitlines()[2:-1]] == ["customers"]
    out = sh("\\d customers")
    assert out.splitlines()[2].split() == ["id", "INTEGER", "NO", "PRI", "NULL", "NULL"]
    assert out.splitlines()[-1] == "SHARD BY by_id (id)"
    assert sh("\\d+ customers") == out
    assert "name VARCHAR NOT NULL" in sh(".schema customers")
    assert "CREATE SHARDING by_id" in sh(".schema")
    sh(".schema nothing")
    assert 'there is no table "nothing"' in sh.err
    assert "s1" in sh(".shards s1")
    assert "s0" not in sh(".shards s1")
    assert "duckdb:///s0.duckdb" in sh(".sources")
    assert "MOD 2" in sh(".shardings")
    assert sh(".route customers 7").splitlines()[2].split() == ["1", "s1", "s1", "customers"]
    assert sh(".route customers '7'") == sh(".route customers 7")
    sh(".route customers seven")  # a text, not a column
    assert "no column" not in sh.err
    assert sh("\\dn").splitlines()[2].split() == ["main", "True", "2", "0"]
    assert sh("\\dv").endswith("(0 rows)\n")


def test_read_runs_files_and_names_them_in_errors(sh: Ran, imported: Path) -> None:
    (imported / "sub").mkdir()
    text = ".headers off\n\nSELECT 1;\nSELECT oops;\n.read sub/b.sql\n"
    (imported / "sub" / "a.sql").write_text(text, encoding="utf-8")
    (imported / "sub" / "b.sql").write_text("SELECT 2", encoding="utf-8")
    assert sh("\\i sub/a.sql\nSELECT 3;") == "1\n(1 row)\n2\n(1 row)\n3\n(1 row)\n"
    assert "sub/a.sql:4\nerror: " in sh.err
    assert sh(".bail on\n.read sub/a.sql\nSELECT 3;") == "1\n(1 row)\n"
    assert sh.code == 1
    (imported / "binary.sql").write_bytes(b"SELECT '\xff';")
    sh(".read binary.sql")
    assert "binary.sql is no text in UTF-8" in sh.err
    sh(".read nothing.sql")
    assert "No such file" in sh.err
    (imported / "loop.sql").write_text(".bail on\n.read loop.sql", encoding="utf-8")
    sh(".read loop.sql")
    assert "read one another" in sh.err


def test_ctrl_c_in_a_file_stops_all(sh: Ran, imported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise Cancelled("the statement was cancelled")

    (imported / "a.sql").write_text("SELECT 1;\nSELECT 2;", encoding="utf-8")
    (imported / "b.sql").write_text(".read a.sql\n.print after", encoding="utf-8")
    monkeypatch.setattr("shardwise.cli.shell.shell.answer", interrupted)
    assert sh(".read b.sql\n.print after") == ""
    assert sh.code == 130
    assert sh.err.count("cancelled") == 1


def test_the_manual_has_all_commands() -> None:
    manual = (Path(__file__).parents[4] / "docs" / "shell.md").read_text(encoding="utf-8")
    missing = [k.names for k in commands.COMMANDS if not any(f"`{n}" in manual for n in k.names)]
    assert missing == []


def test_options(sh: Ran) -> None:
    sh(".option scatter refuse\nSELECT * FROM customers;")
    assert "allow it: .option scatter allow" in sh.err
    sh(".option scatter\n.option rows_max 10\nSELECT * FROM customers;")
    assert "Raise it by .option rows_max" in sh.err
    sh(".option deadline_s -1")
    assert "cannot be -1" in sh.err
    assert "rows_max" in sh(".option")
    sh(".option nonsense 1")
    assert 'there is no option "nonsense"' in sh.err


def test_unknown_commands_are_guessed(sh: Ran) -> None:
    for given, meant in (
        (".tabels", ".tables"),
        ("\\ds", "\\d"),
        (".hea", ".headers"),
        (".mod csv", ".mode"),
    ):
        sh(given)
        assert f"Did you mean {meant}?" in sh.err, given
    sh(".zzz")
    assert "hint: .help lists the commands" in sh.err
    sh(".read")
    assert ".read takes FILE" in sh.err
    sh(".timer maybe")
    assert '"maybe" is neither on nor off' in sh.err


def test_help(sh: Ran) -> None:
    out = sh(".help")
    for name in commands.NAMES:
        assert name in out
    assert sh("help") == out
    assert ".read \\i FILE" in sh(".help read")
    assert max(map(len, out.splitlines())) < 140


def test_open_and_cd(sh: Ran, imported: Path) -> None:
    here = Path.cwd()
    try:
        sh(".cd ..\n.open nothing.sql")
        assert "there is no catalog nothing.sql" in sh.err
        assert Path.cwd() == imported.parent
        assert sh(f".open {imported.name!r}/cluster.sql") == ""  # quotes end a word
        sh(f".open '{imported.name}/cluster.sql'")
        assert sh(".headers off\nSELECT count(*) FROM customers;") == "300\n(1 row)\n"
    finally:
        os.chdir(here)


@pytest.mark.parametrize("text", [".quit", "\\q", "exit", "QUIT;", ".exit 3"])
def test_leaving(sh: Ran, text: str) -> None:
    with pytest.raises(Leave) as left:
        sh(text)
    assert left.value.code == (3 if "3" in text else 0)


def test_echo_and_show(sh: Ran) -> None:
    assert sh(".echo on\nSELECT 1 AS a;") == "SELECT 1 AS a;\na\n-\n1\n(1 row)\n"
    out = sh(".show")
    assert "explain    off" in out
    assert "echo       on" in out


def test_edit_uses_the_editor(sh: Ran, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\necho 'SELECT 2;' >> \"$1\"\n", encoding="utf-8")
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.delenv("VISUAL", raising=False)
    sh("\\e")
    assert "no terminal" in sh.err
    sh.shell.is_interactive = True
    sh("SELECT 1, \\e")
    assert sh.shell.edited == "SELECT 1,SELECT 2;"


def prompt(sh: Ran) -> str:
    return "".join(text for _, text, *_ in prompt_of(sh.shell))


def test_the_prompt_tells_schema_and_scope(sh: Ran) -> None:
    assert prompt(sh) == "tiny> "
    sh("SET SCOPE id = 7;")
    assert prompt(sh) == "tiny[id=7]> "
    sh("SET SCOPE id IN (7, 8), shard = s1;")
    assert prompt(sh) == "tiny[id: 2, shard=s1]> "
    assert sh(".headers off\nSELECT count(*) FROM customers;") == "1\n(1 row)\n"
    sh("RESET SCOPE; USE main;")
    assert sh.code == 0
    assert prompt(sh) == "tiny> "


def test_local_results(sh: Ran) -> None:
    sh("CREATE TEMP TABLE few AS SELECT id FROM customers WHERE id < 3;")
    assert sh.code == 0
    assert sh(".headers off\nSELECT count(*) FROM few JOIN customers USING (id);") == "3\n(1 row)\n"
    assert "few" in sh(".tables f*")


@pytest.mark.usefixtures("imported")
class TestCommand:
    """`shardwise shell` where there is no terminal."""

    def test_a_text_runs_to_its_first_error(self) -> None:
        ran = run("shell", stdin=".mode csv\nSELECT 1 AS a;\nSELECT\n  oops;\nSELECT 2;\n")
        assert (ran.code, ran.text) == (1, "a\n1\n")
        assert ran.err.startswith("stdin:3\nerror: ")
        ran = run("shell", "cluster.sql", stdin=".bail off\n.mode csv\nSELECT oops;\nSELECT 2 AS a")
        assert (ran.code, ran.text) == (1, "a\n2\n")

    def test_what_is_whole_runs_before_the_text_ends(self, monkeypatch: pytest.MonkeyPatch) -> None:
        run_ = Shell.run
        seen: list[str] = []

        def running(self: Shell, text: str, *rest: object) -> int:
            seen.append(text)
            return run_(self, text, *rest)  # type: ignore[arg-type]

        monkeypatch.setattr(Shell, "run", running)
        assert run("shell", stdin="SELECT 1;\n.mode csv\nSELECT\n';'\n;\nSELECT 2").code == 0
        assert seen == ["SELECT 1;\n", ".mode csv\n", "SELECT\n';'\n;\n", "SELECT 2"]

    def test_a_script_needs_no_prompt_toolkit(self) -> None:
        code = "import sys, shardwise.cli; print('prompt_toolkit' in sys.modules)"
        root = str(Path(__file__).parents[4])
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": root},
        )
        assert done.stdout.splitlines()[-1] == "False"

    def test_codes(self, imported: Path) -> None:
        assert run("shell", stdin=".exit 7\n").code == 7
        assert run("shell", "nothing.sql").code == 2
        (imported / "s1.duckdb").unlink()
        assert run("shell", stdin="SELECT count(*) FROM customers;").code == 3


Check = Callable[[Settings], bool]


@pytest.mark.parametrize(
    ("text", "check"),
    [
        (".timer on", lambda s: s.timer),
        ("\\timing", lambda s: s.timer),
        (".maxrows 5", lambda s: s.rows_max == 5),
        (".maxrows", lambda s: s.rows_max is None),
        (".width 0", lambda s: s.width == 0),
        (".pager off", lambda s: not s.is_paged),
        ("\\pset pager off", lambda s: not s.is_paged),
        ("\\pset tuples_only on", lambda s: not s.headers),
        ("\\pset format csv", lambda s: s.form == "csv"),
        (".explain", lambda s: s.explain == "on"),
    ],
)
def test_settings(sh: Ran, text: str, check: Check) -> None:
    sh(text)
    assert sh.code == 0
    assert check(sh.shell.settings)
