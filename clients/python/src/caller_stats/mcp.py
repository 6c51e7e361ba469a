"""Records the questions that MCP clients ask with tools, for servers of the packages ``mcp`` and ``fastmcp``, any version."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
import weakref
from collections.abc import Awaitable, Iterable, Sequence
from datetime import datetime, timezone
from typing import Any, Callable

from .callers import KNOWN_CALLERS, KnownCaller, caller_rules_problems, detect_caller
from .recorder import Recorder

_CALLER = "mcp"
_CALL = "tools/call"


def record_questions(
    server: Any,
    recorder: Recorder,
    *,
    tools: Iterable[str],
    caller_header: str | None = None,
    site_origins: Sequence[str] = (),
    known: Sequence[KnownCaller] = KNOWN_CALLERS,
    fallback: str = _CALLER,
) -> None:
    """Records a question when one of these tools has answered without an error. Raises a ``ValueError`` if a rule is invalid.

    A call that the client repeats in its session counts once.

    :param server: a ``FastMCP``, an ``MCPServer`` or a low-level ``Server``, whose tools may be added later
    :param tools: the names of the tools that answer questions
    :param fallback: the caller of clients without a name; see ``detect_caller`` for the other rules
    """
    if isinstance(tools, str):
        raise ValueError("tools: is one text, not a list of names")
    problems = caller_rules_problems(site_origins=site_origins, known=known, fallback=fallback)
    if problems:
        raise ValueError("; ".join(problems))
    rules = {"caller_header": caller_header, "site_origins": site_origins, "known": known, "api_headers": ()}
    questions = _Questions(recorder, frozenset(tools), rules, fallback)
    if hasattr(server, "add_middleware"):  # fastmcp
        server.add_middleware(questions.of_fastmcp)
    elif hasattr(server, "middleware"):  # mcp 2
        server.middleware.append(questions.of_mcp)
    else:
        questions.wrap(getattr(server, "_mcp_server", server))


class _Questions:
    def __init__(self, recorder: Recorder, tools: frozenset[str], rules: dict[str, Any], fallback: str) -> None:
        self._recorder = recorder
        self._tools = tools
        self._rules = rules
        self._fallback = fallback
        # Sessions without a name of their own, such as those of processes over stdin.
        self._sessions: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()

    async def of_fastmcp(self, context: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        if context.method != _CALL:
            return await call_next(context)
        request = getattr(context.fastmcp_context, "request_context", None)
        return await self._answer(context.message.name, request, lambda: call_next(context))

    async def of_mcp(self, context: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        if context.method != _CALL or context.request_id is None:
            return await call_next(context)
        return await self._answer((context.params or {}).get("name"), context, lambda: call_next(context))

    def wrap(self, server: Any) -> None:
        """Version 1 of mcp has no middleware."""
        from mcp.types import CallToolRequest

        handlers = server.request_handlers
        if CallToolRequest not in handlers:
            raise ValueError("server: has no handler of tools yet")
        call = handlers[CallToolRequest]

        async def called(request: Any) -> Any:
            return await self._answer(request.params.name, server.request_context, lambda: call(request))

        handlers[CallToolRequest] = called

    async def _answer(self, tool: Any, context: Any, call: Callable[[], Awaitable[Any]]) -> Any:
        if tool not in self._tools or context is None:
            return await call()
        asked_at = datetime.now(timezone.utc)
        # Read before the tool runs: a connection that has ended does not know its client any more.
        id, caller = self._id(context), self._caller(context)
        result = await call()
        if _is_answer(result):
            self._recorder.record(id, caller, asked_at)
        return result

    def _caller(self, context: Any) -> str:
        headers = getattr(context.request, "headers", None) or {}
        detected = detect_caller(headers, fallback=_CALLER, **self._rules)
        if detected != _CALLER:
            return detected
        params = getattr(context.session, "client_params", None)
        info = getattr(params, "clientInfo", None) or getattr(params, "client_info", None)
        return caller_of_client(getattr(info, "name", "")) or self._fallback

    def _id(self, context: Any) -> str:
        request = context.request
        headers = getattr(request, "headers", None) or {}
        session = headers.get("mcp-session-id") or getattr(request, "query_params", {}).get("session_id")
        if session is None and request is None:
            # Version 2 makes a session for each call, of one connection.
            connection = getattr(context.session, "_connection", context.session)
            session = self._sessions.setdefault(connection, uuid.uuid4().hex)
        if session is None:
            return headers.get("x-request-id") or str(uuid.uuid4())
        # A session's name lets anybody continue it: only a hash of it leaves the process.
        text = json.dumps([session, context.request_id], separators=(",", ":"), ensure_ascii=False)
        return f"mcp-{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def caller_of_client(name: str) -> str:
    """The caller that the name of an MCP client means: ``Claude Desktop`` is ``claude-desktop``. Empty if nothing can be kept."""
    return re.sub("[^A-Za-z0-9._-]+", "-", name)[:64].lower().strip("-")


def _is_answer(result: Any) -> bool:
    """A tool that raises gives an error, too. One that asks the client back has not answered yet."""
    result = getattr(result, "root", result)

    def read(*names: str) -> Any | None:
        found = [result.get(name) if isinstance(result, dict) else getattr(result, name, None) for name in names]
        return next((one for one in found if one is not None), None)

    return read("isError", "is_error") is not True and read("resultType", "result_type") != "input_required"
