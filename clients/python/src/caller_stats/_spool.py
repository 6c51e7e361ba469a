"""Stores queued queries in a folder until the server acknowledges them, so that they survive a crash.

The format of the folder is the one of all clients: ``clients/spool.md`` of the repository describes it.

An owner's queries are in segments. One whose queries are all settled is removed, or emptied if it is the current one.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
import uuid
from collections import deque
from typing import Callable, NamedTuple
from urllib.parse import quote

from ._query import Queued, to_json

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

BEAT = 10.0
_RENEW = 30.0
_GONE = 60.0
_SEGMENT_MAX = 10_000
_NAME = re.compile(r"([\da-f-]{36})\.(?:lock|\d+\.([^.]*)\.ndjson)")


class _Segment(NamedTuple):
    path: str
    end: int
    """The number of the query behind its last one."""


class Spool:
    """Not for several threads at once. Queries have consecutive numbers, from the oldest to the newest."""

    def __init__(self, folder: str, project_id: str) -> None:
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            pass
        self._folder = os.path.realpath(folder)
        self._project = quote(project_id, safe="-_!~*'()").replace(".", "%2E")
        self._owner = ""
        self._number = 0
        self._lock_file: int | None = None
        self._file: int | None = None
        """The file to which queries are appended, once there is one: the last of the segments."""
        self._segments: deque[_Segment] = deque()
        self._lines = 0
        """How many lines the current file has."""
        self._is_cut = False
        """Whether the last line may be incomplete, because writing it failed, such as on a full disk."""
        self._beat_at = 0.0
        self._write_lock()

    def append(self, query: Queued, number: int) -> None:
        if time.monotonic() - self._beat_at > _RENEW:
            self._write_lock()
        if self._file is None or self._lines >= _SEGMENT_MAX:
            self._begin_segment()
        file = self._file
        assert file is not None
        line = ("\n" if self._is_cut else "") + to_json(query) + "\n"
        self._is_cut = True
        _write(file, line.encode())
        self._is_cut = False
        self._lines += 1
        self._segments[-1] = self._segments[-1]._replace(end=number + 1)

    def settle(self, first: int) -> None:
        """All queries before this number are settled."""
        while self._segments and self._segments[0].end <= first:
            if len(self._segments) == 1 and self._file is not None:
                if self._lines:
                    os.ftruncate(self._file, 0)
                self._lines = 0
                return
            _unlink(self._segments.popleft().path)

    def adopt(self, take: Callable[[list[Queued]], int]) -> None:
        """Passes the queries of owners that are gone to ``take``, which queues them and returns the number behind the last.

        Even if one file cannot be taken, the others are. Raises its error then.
        """
        now = self._write_lock()
        problem: OSError | None = None
        gone: dict[str, bool] = {self._owner: False}
        for name in os.listdir(self._folder):
            found = _NAME.fullmatch(name)
            if not found:
                continue
            owner, project = found.groups()
            try:
                if owner not in gone:
                    gone[owner] = self._remove_if_gone(owner, now)
                if gone[owner] and project in (self._project, ""):
                    self._take(name, take)
            except OSError as error:
                problem = problem or error
        if problem:
            raise problem

    def beat(self) -> bool:
        """Writes the lock anew if it is time for that. Returns whether it was."""
        if time.monotonic() - self._beat_at < BEAT:
            return False
        self._write_lock()
        return True

    def close(self) -> None:
        """Leaves queries that are not settled to others."""
        is_empty = self._file is not None and self._lines == 0
        current = self._segments[-1].path if self._segments else ""
        self.abandon()
        if is_empty:
            _unlink(current)
        _unlink(self._lock_path(self._owner))

    def abandon(self) -> None:
        """Closes the files, as the child of a fork must, without a change for the parent."""
        self._close_file()
        lock, self._lock_file = self._lock_file, None
        if lock is not None:
            os.close(lock)

    def _lock_path(self, owner: str) -> str:
        return os.path.join(self._folder, f"{owner}.lock")

    def _new_path(self) -> str:
        self._number += 1
        return os.path.join(self._folder, f"{self._owner}.{self._number}.{self._project}.ndjson")

    def _close_file(self) -> None:
        file, self._file = self._file, None
        self._lines = 0
        self._is_cut = False
        if file is not None:
            os.close(file)

    def _begin_segment(self) -> None:
        self._close_file()
        path = self._new_path()
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._segments.append(_Segment(path, 0))

    def _write_lock(self) -> float:
        """Returns the time of this moment by the clock of the disk, which all owners share."""
        try:
            lock = os.open(self._lock_path(self._owner), os.O_WRONLY) if self._owner else self._new_owner()
        except FileNotFoundError:
            # Others have taken the files.
            self.abandon()
            self._segments.clear()
            lock = self._new_owner()
        try:
            _write(lock, f"{os.getpid()} {_place()}{' flock' if self._lock_file is not None else ''}".encode())
            self._beat_at = time.monotonic()
            return os.fstat(lock).st_mtime
        finally:
            if lock != self._lock_file:
                os.close(lock)

    def _new_owner(self) -> int:
        self._owner = str(uuid.uuid4())
        lock = os.open(self._lock_path(self._owner), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        if _flock(lock):
            self._lock_file = lock
        return lock

    def _remove_if_gone(self, owner: str, now: float) -> bool:
        path = self._lock_path(owner)
        try:
            lock = os.open(path, os.O_RDWR)
        except FileNotFoundError:
            return True
        try:
            pid, place, word = (os.read(lock, 4096).decode("utf-8", "replace").split(" ") + ["", ""])[:3]
            is_here = place != "" and place == _place()
            is_gone = (
                (is_here and not _is_running(pid)) or now - os.fstat(lock).st_mtime > _GONE or (word == "flock" and _flock(lock))
            )
            if is_gone:
                _unlink(path)
            return is_gone
        finally:
            os.close(lock)

    def _take(self, name: str, take: Callable[[list[Queued]], int]) -> None:
        """Renames a file to a name of this owner, unless another has done that."""
        path, old = self._new_path(), os.path.join(self._folder, name)
        try:
            os.rename(old, path)
        except FileNotFoundError:
            return
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                queries = [query for query in map(_parse, file) if query]
        except OSError:
            # Whoever can read it takes it later.
            os.rename(path, old)
            raise
        # What is appended from now on is newer than what was adopted.
        self._close_file()
        self._segments.append(_Segment(path, take(queries)))


def _parse(line: str) -> Queued | None:
    try:
        query = json.loads(line)
        id, caller, when = query["id"], query["caller"], query["occurredAt"]
    except (ValueError, KeyError, TypeError):
        return None
    return (id, caller, when) if all(isinstance(one, str) for one in (id, caller, when)) else None


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def _flock(file: int) -> bool:
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _place() -> str:
    """Where the id of this process means this process. Empty if that is not known: on Linux, containers have ids of their own."""
    if sys.platform == "win32":
        return ""
    if not sys.platform.startswith("linux"):
        return sys.platform
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return f"{file.read().strip()}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _is_running(pid: str) -> bool:
    # 0 and negative numbers mean groups of processes.
    if not re.fullmatch(r"[1-9]\d{0,9}", pid):
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except OverflowError:
        return False
    except OSError:
        return True
    return True
