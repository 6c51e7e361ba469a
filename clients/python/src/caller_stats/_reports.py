"""Says what fails and what is lost: to the callbacks of the recorder's user, or else to the log, once for each cause."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Sequence
from typing import Any, Callable

from ._query import Query
from .errors import CallerStatsError

_log = logging.getLogger("caller_stats")

_QUIET = 3600.0
"""A failure that comes back is logged again after this time: a server that is sometimes busy must not fill a log."""

_REMEDIES = {
    0: "url, and that the server runs",
    200: "url",
    401: "key",
    403: "key",
    404: "project_id and url",
}
"""What to check after a response with this status. A redirect says so itself."""

OnDrop = Callable[[Sequence[Query], str, str], Any]
OnError = Callable[[Exception], Any]


class Reports:
    def __init__(self, url: str, project_id: str, on_drop: OnDrop | None, on_error: OnError | None) -> None:
        self._url = url
        self._project_id = project_id
        self._on_drop = on_drop
        self._on_error = on_error
        self._dropped_for: set[str] = set()
        self._failed_at: dict[int | None, float] = {}
        """When each kind of failure was logged."""
        self._last_failure = ""
        self._is_open = False
        """Whether the log has the failures of requests, and not yet that they are over."""
        self._expires_at = ""

    def failed(self, error: Exception, is_logged: bool = True) -> None:
        """A request failed, or the spool.

        :param is_logged: false if what is lost will be logged soon, with this reason
        """
        status = error.status if isinstance(error, CallerStatsError) else None
        if status is not None:
            self._last_failure = f"; the last request failed: {error}"
        if self._on_error:
            call_safely(self._on_error, error)
        elif is_logged and not is_rejection(error) and status not in self._failed_at:
            self._failed_at[status] = time.monotonic()
            if status is None:
                warn(f"the spool failed: {error}. Queries are sent, but a crash loses them.")
            else:
                self._is_open = True
                advice = f" Check {_REMEDIES[status]}." if status in _REMEDIES else ""
                end = "" if str(error).endswith((".", ">")) else "."
                warn(f"a request to {self._url} for project {self._project_id} failed: {error}{end}{advice} Queries wait.")

    def key_expires(self, at: str) -> None:
        """Logged once, and not for a callback, because nothing has failed yet."""
        if at and at != self._expires_at:
            self._expires_at = at
            warn(f"the key for project {self._project_id} expires at {at}.")

    def succeeded(self) -> None:
        self._last_failure = ""
        before = time.monotonic() - _QUIET
        for status, at in list(self._failed_at.items()):
            if at < before:
                del self._failed_at[status]
        if self._is_open:
            self._is_open = False
            self._dropped_for.discard("queue-full ")
            warn(f"requests to {self._url} work again.")

    def dropped(self, queries: Sequence[Query], code: str, why: str) -> None:
        message = why + self._last_failure if code in ("closed", "queue-full", "spooled") else why
        if self._on_drop:
            call_safely(self._on_drop, queries, code, message)
        # What is invalid or refused begins with the field that is wrong.
        field = re.match(r"(?:queries\[\d+\]: )?(\w+):", why)
        cause = f"{code} {field.group(1) if field else ''}"
        if (self._on_drop and code != "unconfigured") or cause in self._dropped_for:
            return
        self._dropped_for.add(cause)
        advice = ". Is the clock right?" if cause == "refused occurredAt" else ""
        subject = "1 query is" if len(queries) == 1 else f"{len(queries)} queries are"
        what = "no query is counted" if code == "unconfigured" else f"{subject} not counted ({code})"
        warn(f"{what}: {message}{advice}")


def warn(message: str) -> None:
    call_safely(_log.warning, "%s", f"caller-stats: {message}")


def is_rejection(error: Exception) -> bool:
    """Whether queries were refused for good, which is told for each of them, or the batch is too large."""
    return isinstance(error, CallerStatsError) and error.status in (400, 413)


def call_safely(run: Callable[..., Any], *arguments: Any) -> None:
    """Calls the user's code, whose errors must not stop sending."""
    try:
        run(*arguments)
    except Exception:
        pass
