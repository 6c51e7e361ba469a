"""Checks queries before they are queued, by the rules of the server: the shared vectors compare them."""

from __future__ import annotations

import json
import re
import time
from datetime import datetime, timezone
from typing import Any, NamedTuple, Union
from uuid import UUID


class Query(NamedTuple):
    id: str
    caller: str
    occurred_at: str
    """RFC 3339."""


Queued = tuple[str, str, Union[float, str]]
"""Id, caller and time: seconds since 1970 or a text. A plain tuple takes the least time and memory."""

_ID = re.compile("[^\0\ud800-\udfff]{1,128}", re.DOTALL)
_CALLER = re.compile(r"[a-z0-9._-]{1,64}")
_KNOWN_MAX = 1000
_known_callers: set[str] = set()
"""Callers that were checked."""


def to_queued(id: Any, caller: Any, occurred_at: Any) -> Queued | str:
    """Returns a message if the query is invalid."""
    if type(id) is not str:
        if isinstance(id, str):
            id = str.__str__(id)
        elif isinstance(id, UUID) or (isinstance(id, int) and not isinstance(id, bool)):
            id = str(id)
        else:
            return f"id: {_show(id)} is not a string of 1 to 128 characters, an int or a UUID"
    if not _ID.fullmatch(id):
        return f"id: {_show(id)} is not a string of 1 to 128 characters"
    if type(caller) is not str or caller not in _known_callers:
        if not isinstance(caller, str) or not _CALLER.fullmatch(caller):
            return f'caller: {_show(caller)} is not "web", "api" or a name of 1 to 64 of a-z 0-9 . _ -'
        caller = str.__str__(caller)
        if len(_known_callers) < _KNOWN_MAX:
            _known_callers.add(caller)
    if occurred_at is None:
        return (id, caller, time.time())
    if isinstance(occurred_at, datetime):
        if occurred_at.utcoffset() is None:
            return f"occurred_at: {occurred_at} has no time zone; use datetime.now(timezone.utc)"
        return (id, caller, _format(occurred_at))
    # Only limits the memory of a query; the server parses the time.
    if isinstance(occurred_at, str) and 1 <= len(occurred_at) <= 64:
        return (id, caller, str.__str__(occurred_at))
    return f"occurred_at: {_show(occurred_at)} is neither a datetime with a time zone nor an RFC 3339 date-time"


def to_query(queued: Queued) -> Query:
    id, caller, when = queued
    if not isinstance(when, str):
        when = _format(datetime.fromtimestamp(when, timezone.utc))
    return Query(id, caller, when)


def to_json(queued: Queued) -> str:
    id, caller, when = to_query(queued)
    return json.dumps({"id": id, "caller": caller, "occurredAt": when}, separators=(",", ":"))


def _format(when: datetime) -> str:
    return when.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _show(value: Any) -> str:
    """A value for a message."""
    return json.dumps(value[:64]) if isinstance(value, str) else str(value)[:64]
