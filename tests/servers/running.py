"""A server as a process: started once for a test session, found by its file, stopped by its pid."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit
from uuid import uuid4

import pytest

FOLDER = "SHARDWISE_TEST_SERVERS"
"""The environment's name of the session's folder; set by the process that began it, for all its workers."""
NEED = "SHARDWISE_NEED_SERVERS"
_START_S = 60.0
_STOP_S = 20.0


@dataclass(frozen=True)
class Server:
    """A running server: where it is, and who may do everything there."""

    product: str
    host: str
    port: int
    user: str
    password: str
    pid: int | None = None
    folder: str | None = None

    def url(self, database: str, *, user: str | None = None) -> str:
        """A source's URL, which has no password in it."""
        scheme = {"mariadb": "mysql", "postgres": "postgresql"}[self.product]
        return f"{scheme}://{user or self.user}@{self.host}:{self.port}/{database}"

    def stop(self) -> None:
        """SIGSTOP: it is there and does not answer."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        if self.pid is None:
            pytest.skip("a server that was running already is not ours to stop")
        os.kill(self.pid, number)


def running(name: str, start: Callable[[Path, int], Server]) -> Server:
    """The server of this name of the test session; `start(folder, port)` starts it for the first who asks."""
    with _locked(session_folder()) as folder:
        known = folder / f"{name}.json"
        if known.exists():
            return Server(**json.loads(known.read_text()))
        server = start(folder / name, free_port())
        known.write_text(json.dumps(asdict(server)))
        return server


def given(variable: str, product: str) -> Server | None:
    """A server that is running already, by the URL in the environment."""
    url = os.environ.get(variable)
    if not url:
        return None
    parts = urlsplit(url)
    assert parts.hostname, f"{variable} is no URL of a server"
    port = parts.port or {"mariadb": 3306, "postgres": 5432}[product]
    return Server(product, parts.hostname, port, parts.username or "root", unquote(parts.password or ""))


def missing(what: str, package: str) -> None:
    """Ends the test: the machine has no such server."""
    reason = f"{what} is not installed: run `make servers` (or apt install {package})"
    if os.environ.get(NEED):
        pytest.fail(f"{reason}; {NEED} says that it must be", pytrace=False)
    pytest.skip(reason)


def session_folder() -> Path:
    """The folder of this session's servers; users other than ours may enter it."""
    if FOLDER not in os.environ:
        folder = tempfile.mkdtemp(prefix="shardwise-servers-")
        Path(folder).chmod(0o755)
        os.environ[FOLDER] = folder
    return Path(os.environ[FOLDER])


def new_name(prefix: str) -> str:
    """A name that no other test uses."""
    return f"{prefix}_{uuid4().hex[:10]}"


def stop_all() -> None:
    """Stops what this session started, each by its pid, and removes the folder."""
    folder = os.environ.pop(FOLDER, None)
    if folder is None:
        return
    for known in Path(folder).glob("*.json"):
        pid = json.loads(known.read_text())["pid"]
        if pid is not None:
            _end(pid)
    shutil.rmtree(folder, ignore_errors=True)


def launch(
    command: Sequence[str], *, user: str | None, log: Path, environment: Mapping[str, str] | None = None
) -> int:
    """Starts a server in the background, as `user` where we are root; gives its pid."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            cwd=log.parent,
            env={**os.environ, **environment} if environment else None,
            **as_user(user),
        )
    process.returncode = 0  # nobody waits for it: it is stopped by its pid, by whoever ends the session
    return process.pid


def as_user(user: str | None) -> dict[str, str | list[int]]:
    """Arguments of `subprocess` that make it another user's, where we are root."""
    if os.geteuid() != 0 or user is None:
        return {}
    return {"user": user, "group": _group(user), "extra_groups": []}


def owned(folder: Path, user: str | None) -> Path:
    """A new folder that the server's user owns."""
    folder.mkdir(parents=True)
    if os.geteuid() == 0 and user is not None:
        shutil.chown(folder, user, _group(user))
    return folder


def wait_until(answers: Callable[[], bool], log: Path) -> None:
    """Waits for a server that has just been started."""
    end = time.monotonic() + _START_S
    while not answers():
        if time.monotonic() > end:
            raise RuntimeError(f"a test server did not start:\n{log.read_text(errors='replace')[-3000:]}")
        time.sleep(0.05)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _group(user: str) -> str:
    import grp
    import pwd

    return grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_name


@contextmanager
def _locked(folder: Path) -> Iterator[Path]:
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def _end(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGCONT)
        os.kill(pid, signal.SIGTERM)
        end = time.monotonic() + _STOP_S
        while time.monotonic() < end:
            os.kill(pid, 0)
            if _is_zombie(pid):
                return
            time.sleep(0.05)
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
