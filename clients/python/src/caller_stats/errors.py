"""Errors of requests to a caller-stats server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urljoin, urlsplit

_RETRY_AFTER_MAX = 3600.0


class CallerStatsError(Exception):
    """The base class of all errors of requests. The message has the server's ``details``."""

    def __init__(self, message: str, *, status: int = 0, details: Sequence[str] = (), retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        """The HTTP status; 0 without a response."""
        self.details = tuple(details)
        """The server's ``details``: one message per problem, starting with the parameter or field it is about."""
        self.retry_after = retry_after
        """Seconds to wait before a retry, from ``Retry-After``; at most one hour."""


class InvalidRequestError(CallerStatsError):
    """400: a parameter or the body is invalid; see ``details``."""


class AuthenticationError(CallerStatsError):
    """401: the key is missing, unknown, expired, disabled, revoked or of the wrong type."""


class ForbiddenError(CallerStatsError):
    """403: the key is valid, but not from this address or not for this operation."""


class NotFoundError(CallerStatsError):
    """404: the project does not exist or belongs to another organization, or the URL is not a caller-stats server's."""


class RateLimitError(CallerStatsError):
    """429: too many requests; see ``retry_after``."""


class ServerError(CallerStatsError):
    """5xx: the server failed, is overloaded or is shutting down. A later retry is safe."""


class NoResponseError(CallerStatsError):
    """The connection was refused or reset, or timed out. ``__cause__`` is the error of the platform."""


_CLASSES: dict[int, type[CallerStatsError]] = {
    400: InvalidRequestError,
    401: AuthenticationError,
    403: ForbiddenError,
    404: NotFoundError,
    429: RateLimitError,
}


def parse_answer(status: int, headers: dict[str, str], text: str, *, url: str, now: float) -> Any:
    """The JSON of a response. Raises a ``CallerStatsError`` if the request failed or something else answered."""
    try:
        body = json.loads(text)
    except ValueError:
        body = None
    if 200 <= status < 300 and body is not None:
        return body
    if 300 <= status < 400:
        raise CallerStatsError(_redirect_message(url, headers.get("location")), status=status)
    answer = body if isinstance(body, dict) else {}
    raw = answer.get("details")
    details = [str(one.get("message")) for one in raw if isinstance(one, dict)] if isinstance(raw, list) else []
    message = " ".join(details) or answer.get("error")
    if not message:
        message = f"The server answered {status}, not as caller-stats does: {text[:200]}"
    error_class = _CLASSES.get(status, ServerError if status >= 500 else CallerStatsError)
    retry_after = _parse_retry_after(headers.get("retry-after", ""), now)
    raise error_class(str(message), status=status, details=details, retry_after=retry_after)


def _parse_retry_after(value: str, now: float) -> float | None:
    """``Retry-After`` (RFC 9110, 10.2.3) is a number of seconds or a date."""
    try:
        if value.isascii() and value.isdigit():
            seconds = float(value)
        else:
            seconds = parsedate_to_datetime(value).timestamp() - now
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    return min(max(seconds, 0.0), _RETRY_AFTER_MAX)


def _redirect_message(url: str, location: str | None) -> str:
    """Names the target without its query, which may hold secrets."""
    start, address = urlsplit(url), ""
    try:
        target = urlsplit(urljoin(url, location)) if location else None
        if target and target.hostname:
            host = f"[{target.hostname}]" if ":" in target.hostname else target.hostname
            port = f":{target.port}" if target.port else ""
            address = f"{target.scheme}://{host}{port}{target.path}"
    except ValueError:
        pass
    server, _, rest = address.partition("/v1/analytics/")
    advice = f"Use the address {server} instead." if rest else "Something else than caller-stats answers there."
    return (
        f"{start.scheme}://{start.netloc} redirects to {address or 'another address'}, and redirects are not followed. {advice}"
    )
