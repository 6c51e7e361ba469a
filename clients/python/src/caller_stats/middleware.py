"""Middleware for WSGI and ASGI applications: Flask, Django, FastAPI, Starlette and others.

A query counts once when the application has answered it with a status below 400, also if the reader leaves early. Its time is
the arrival of the request. ``HEAD`` and ``OPTIONS`` never are queries.
"""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Awaitable, Iterable, Iterator, MutableMapping
from datetime import datetime, timezone
from typing import Any, Callable, Optional

from ._reports import warn
from .callers import caller_rules_problems, detect_caller
from .recorder import Recorder

_RECORDED = "caller_stats.recorded"
"""The name in an ``environ`` or ``scope`` of the recorders that have decided about its query."""

_Request = MutableMapping[str, Any]
_Option = Optional[Callable[[Any], Any]]
_Pairs = list[tuple[bytes, bytes]]


class _Questions:
    def __init__(
        self,
        app: Any,
        recorder: Recorder,
        *,
        is_question: _Option = None,
        caller: _Option = None,
        id: _Option = None,
        **rules: Any,
    ) -> None:
        """The functions get the ``environ`` or ``scope`` when the application has answered. For ASGI they may be async.

        :param is_question: whether a request is a query to the assistant; all are, if left out
        :param caller: the caller; the one that ``detect_caller`` finds with ``rules``, if left out or if it returns nothing
        :param id: the id of the message or turn, which a retry must return again; ``X-Request-Id`` or else a random id, if
            left out or if it returns nothing
        :param rules: the keyword arguments of ``detect_caller``
        """
        problems = caller_rules_problems(**rules)
        if problems:
            raise ValueError("; ".join(problems))
        self._app = app
        self._recorder = recorder
        self._is_question = is_question
        self._options = {"caller": caller, "id": id}
        self._rules = rules
        self._has_warned = False

    def _is_first(self, request: _Request) -> bool:
        """Middleware that is used twice counts a query once: the inner one decides."""
        done = request.setdefault(_RECORDED, [])
        if self._recorder in done:
            return False
        done.append(self._recorder)
        return True

    def _finish(self, headers: _Pairs, asked_at: datetime, caller: Any, id: Any) -> None:
        if not id:
            sent = [value.decode("latin-1") for name, value in headers if name.lower() == b"x-request-id"]
            id = next(filter(None, sent), None) or str(uuid.uuid4())
        self._recorder.record(id, caller or detect_caller(headers, **self._rules), asked_at)

    def _warn(self, name: str, problem: str) -> None:
        if not self._has_warned:
            warn(f"the option {name} {problem}. The query counts with its default.")
        self._has_warned = True


class WsgiQuestions(_Questions):
    """Wraps a WSGI application: ``app.wsgi_app = WsgiQuestions(app.wsgi_app, recorder)``."""

    def __call__(self, environ: _Request, start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ.get("REQUEST_METHOD") in ("HEAD", "OPTIONS"):
            answer: Iterable[bytes] = self._app(environ, start_response)
            return answer
        asked_at = datetime.now(timezone.utc)
        status = [999]

        def start(line: str, *rest: Any) -> Any:
            status[0] = int(line[:3])
            return start_response(line, *rest)

        def answered() -> None:
            if status[0] < 400 and self._is_first(environ):
                self._record(environ, asked_at)

        return _Body(self._app(environ, start), answered)

    def _record(self, environ: _Request, asked_at: datetime) -> None:
        try:
            if self._is_question and not self._is_question(environ):
                return
        except Exception as error:
            return warn(f"the option is_question failed: {error!r}. The query is not counted.")
        caller, id = (self._call(name, environ) for name in ("caller", "id"))
        self._finish(_environ_headers(environ), asked_at, caller, id)

    def _call(self, name: str, environ: _Request) -> Any:
        option = self._options[name]
        try:
            value = option(environ) if option else None
            if option and not value and name == "id":
                self._warn(name, "returned nothing")
            return value
        except Exception as error:
            self._warn(name, f"failed: {error!r}")
            return None


class _Body:
    """The body of an answer. The server closes it at its end, or when the reader has left."""

    def __init__(self, body: Iterable[bytes], answered: Callable[[], None]) -> None:
        self._body = body
        self._answered: Callable[[], None] | None = answered

    def __iter__(self) -> Iterator[bytes]:
        began = False
        try:
            for part in self._body:
                began = began or bool(part)
                yield part
        except Exception:
            # Headers go out with the first part, so the server can still answer with an error.
            if not began:
                self._answered = None
            raise

    def close(self) -> None:
        close = getattr(self._body, "close", None)
        try:
            if close:
                close()
        finally:
            answered, self._answered = self._answered, None
            if answered:
                answered()


def _environ_headers(environ: _Request) -> _Pairs:
    return [
        (name[5:].replace("_", "-").encode("latin-1", "replace"), str(value).encode("latin-1", "replace"))
        for name, value in environ.items()
        if name.startswith("HTTP_")
    ]


_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]


class AsgiQuestions(_Questions):
    """Wraps an ASGI application, and sends what is left when the server shuts down: ``AsgiQuestions(app, recorder)``."""

    async def __call__(self, scope: _Request, receive: _Receive, send: _Send) -> None:
        if scope["type"] == "lifespan":
            return await self._live(scope, receive, send)
        if scope["type"] != "http" or scope["method"] in ("HEAD", "OPTIONS"):
            await self._app(scope, receive, send)
            return None
        asked_at = datetime.now(timezone.utc)
        status = 999

        async def note(message: _Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, note)
        finally:
            if status < 400 and self._is_first(scope):
                await self._record(scope, asked_at)
        return None

    async def _live(self, scope: _Request, receive: _Receive, send: _Send) -> None:
        has_spoken = False

        async def note(message: _Message) -> None:
            nonlocal has_spoken
            has_spoken = True
            if message["type"].startswith("lifespan.shutdown."):
                await self._recorder.aflush()
            await send(message)

        heard: list[_Message] = []

        async def hear() -> _Message:
            heard.append(await receive())
            return heard[-1]

        try:
            return await self._app(scope, hear, note)  # type: ignore[no-any-return]
        except Exception:
            if has_spoken:
                raise
        # The application does not know the protocol, as Django's.
        for name in ("startup", "shutdown"):
            if not heard:
                await hear()
            heard.pop()
            await note({"type": f"lifespan.{name}.complete"})

    async def _record(self, scope: _Request, asked_at: datetime) -> None:
        try:
            if self._is_question and not await _result(self._is_question(scope)):
                return
        except Exception as error:
            return warn(f"the option is_question failed: {error!r}. The query is not counted.")
        caller, id = [await self._call(name, scope) for name in ("caller", "id")]
        self._finish(scope["headers"], asked_at, caller, id)

    async def _call(self, name: str, scope: _Request) -> Any:
        option = self._options[name]
        try:
            value = await _result(option(scope)) if option else None
            if option and not value and name == "id":
                self._warn(name, "returned nothing")
            return value
        except Exception as error:
            self._warn(name, f"failed: {error!r}")
            return None


async def _result(value: Any | Awaitable[Any]) -> Any:
    return await value if inspect.isawaitable(value) else value
