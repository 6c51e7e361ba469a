"""Records queries in the background."""

from __future__ import annotations

import asyncio
import os
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from . import _processes
from ._http import authorization, operation_url
from ._query import Query, Queued, to_queued
from ._reports import OnDrop, OnError, Reports
from ._sender import Sender, Settings

_SECONDS_MAX = 1e6


class RecorderStats(NamedTuple):
    """Counts of this process. Each call of ``record`` and each query from the spool is in exactly one of the first four."""

    queued: int
    """Queries waiting to be acknowledged, including those in the current request."""
    recorded: int
    """Queries that the server counted."""
    duplicates: int
    """Queries that the server had already recorded."""
    dropped: int
    """Dropped queries; each was passed to ``on_drop``."""
    failures: int
    """Requests that failed."""


class Recorder:
    """Records queries: queues them, and sends them in batches by a thread of each process that records.

    Only the constructor raises, and only ``flush`` and ``close`` wait for the server.
    """

    def __init__(
        self,
        url: str | None,
        project_id: str | None,
        key: str | None,
        *,
        delay: float = 1.0,
        batch_max: int = 1000,
        queue_max: int = 100_000,
        timeout: float = 10.0,
        close_timeout: float = 10.0,
        on_drop: OnDrop | None = None,
        on_error: OnError | None = None,
        spool: str | os.PathLike[str] | None = None,
    ) -> None:
        """Raises a ``ValueError`` if an argument is invalid, but not if ``url``, ``project_id`` or ``key`` is missing.

        :param url: the server's URL, such as ``https://stats.example.com``
        :param key: a recording key of the project, or an admin key with the scope ``write``
        :param delay: seconds to wait for more queries before another batch that is not full
        :param batch_max: queries per request, 1 to 10,000
        :param queue_max: the maximum length of the queue; further queries are dropped
        :param timeout: seconds until a request without an answer is repeated
        :param close_timeout: seconds that ``flush``, ``close`` and the end of the process wait for the server
        :param on_drop: called with dropped queries, a code and a message; without it, the log has the first of each cause
        :param on_error: called with the error of each failed request, and if the spool fails; without it, the log has the
            first of each kind, and that requests work again
        :param spool: a folder that keeps queries until they are acknowledged; made if its parent exists
        """
        _check("delay", delay, 0, _SECONDS_MAX)
        _check("batch_max", batch_max, 1, 10_000)
        _check("queue_max", queue_max, 1, 2**31 - 1)
        _check("timeout", timeout, 0.001, _SECONDS_MAX)
        _check("close_timeout", close_timeout, 0, _SECONDS_MAX)
        named = {"url": url, "project_id": project_id, "key": key}
        self._missing = ", ".join(name for name, value in named.items() if not value)
        operation = ""
        if url and project_id and key:
            operation = operation_url(url, project_id, "queries")
            authorization(key)
        self._settings = Settings(
            operation,
            url or "",
            project_id or "",
            key or "",
            delay,
            int(batch_max),
            int(queue_max),
            timeout,
            None if spool is None or not operation else os.fspath(spool),
        )
        self._close_timeout = close_timeout
        self._reports = Reports(url or "", project_id or "", on_drop, on_error)
        self._is_closed = False
        self._senders: dict[Any, Sender] = {}
        self._sender: Sender | None = None
        _processes.hook_term()
        if self._settings.spool is not None:
            sender = self._current()
            sender.open_spool()
            sender.start()

    def record(self, id: str | int | UUID, caller: str, occurred_at: datetime | str | None = None) -> None:
        """Queues a query and returns at once. Invalid queries, and queries that do not fit, are dropped and reported.

        :param id: your id of the message or turn; the same id counts once
        :param caller: ``web``, ``api``, or the name of an integration or SDK: 1 to 64 of ``a-z 0-9 . _ -``
        :param occurred_at: a ``datetime`` with a time zone or an RFC 3339 date-time; now if left out
        """
        try:
            query = to_queued(id, caller, occurred_at)
        except Exception as error:
            query = f"id: cannot be read: {type(error).__name__}"
        sender = self._sender
        if sender is None or sender.process != _processes.current_process():
            sender = self._current()
        if type(query) is not tuple:
            given: Any = (id, caller, occurred_at)
            sender.drop_as_given([Query(*given)], "invalid", str(query))
        elif self._missing or self._is_closed or sender.is_over:
            self._drop(sender, query)
        elif not sender.take(query):
            sender.drop([query], "queue-full", f"{self._settings.queue_max} queries are waiting already")
        else:
            if sender.is_over:
                sender.drop_late()
            if _processes.is_ending():
                sender.finish(_processes.seconds_left(self._close_timeout))

    def flush(self, timeout: float | None = None) -> bool:
        """Sends queued queries without delay. Returns whether everything recorded before is acknowledged or dropped in time."""
        sender = self._here()
        return sender is None or sender.flush(self._seconds(timeout))

    def close(self, timeout: float | None = None) -> bool:
        """Stops accepting queries and flushes. Queries that remain are dropped or stay in the spool; it returns false then."""
        self._is_closed = True
        sender = self._here()
        if sender is None:
            return True
        is_sent = sender.finish(self._seconds(timeout))
        self._end(sender)
        return is_sent

    async def aflush(self, timeout: float | None = None) -> bool:
        """Like ``flush``, without blocking the event loop."""
        sender = self._here()
        return sender is None or await _flush(sender, self._seconds(timeout))

    async def aclose(self, timeout: float | None = None) -> bool:
        """Like ``close``, without blocking the event loop."""
        self._is_closed = True
        sender = self._here()
        if sender is None:
            return True
        seconds = self._seconds(timeout)
        sender.begin_finish(seconds)
        is_sent = sender.end_finish(await _flush(sender, seconds))
        self._end(sender)
        return is_sent

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    async def __aenter__(self) -> Recorder:
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.aclose()

    @property
    def stats(self) -> RecorderStats:
        sender = self._here()
        if sender is None:
            return RecorderStats(0, 0, 0, 0, 0)
        return RecorderStats(sender.queued, sender.recorded, sender.duplicates, sender.dropped, sender.failures)

    def _here(self) -> Sender | None:
        """The sender of this process, if it has recorded."""
        sender = self._sender
        return sender if sender is not None and sender.process == _processes.current_process() else None

    def _current(self) -> Sender:
        """The sender of this process, which is made if there is none: the first time, and in the child of a fork."""
        process = _processes.current_process()
        inherited = self._sender
        sender = Sender(self._settings, self._reports, process)
        chosen = self._senders.setdefault(process, sender)
        self._sender = chosen
        if chosen is sender:
            for other in list(self._senders):
                if other != process:
                    self._senders.pop(other, None)
            if inherited is not None:
                inherited.abandon()
            if not self._missing:
                _processes.watch(sender, self._close_timeout)
        if inherited is not None:
            try:
                chosen.open_spool()
            except OSError as error:
                self._reports.failed(error)
        return chosen

    def _drop(self, sender: Sender, query: Queued) -> None:
        if self._missing:
            sender.drop([query], "unconfigured", f"Recorder was given no {self._missing}")
        else:
            sender.drop([query], "closed", "the recorder is closed")

    def _end(self, sender: Sender) -> None:
        sender.close()
        _processes.forget(sender)

    def _seconds(self, timeout: float | None) -> float:
        return self._close_timeout if timeout is None else max(0.0, timeout)


async def _flush(sender: Sender, seconds: float) -> bool:
    if not sender.start():
        return sender.flush(seconds)
    loop = asyncio.get_running_loop()
    event = _AsyncEvent(loop)
    if sender.wait_for(event):
        return True
    try:
        await asyncio.wait_for(event.future, seconds)
        return True
    except asyncio.TimeoutError:
        return False
    finally:
        sender.stop_waiting(event)


class _AsyncEvent:
    """Like ``threading.Event``, for an event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.future: asyncio.Future[None] = loop.create_future()

    def set(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._finish)
        except RuntimeError:
            pass  # The loop was closed.

    def _finish(self) -> None:
        if not self.future.done():
            self.future.set_result(None)


def _check(name: str, value: Any, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise ValueError(f"{name}: {value!r} is not a number from {low:g} to {high:g}")
