"""Questions that MCP clients ask with tools of real servers."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
import unittest
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import mcp.types
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from caller_stats import Recorder
from caller_stats.mcp import record_questions

from .support import HANGS, RecordingTest, free_port, server

PROGRAM = Path(__file__).with_name("mcp_server.py")
OFFICIAL = f"mcp {version('mcp').split('.')[0]}"
KINDS = ("fastmcp", OFFICIAL)
REVISION = "2025-06-18"


class RefusalsTest(unittest.TestCase):
    def test_refusals(self) -> None:
        recorder = Recorder(None, None, None)
        for what, given in (
            ("one name", {"tools": "ask"}),
            ("an origin", {"tools": ["ask"], "site_origins": ["docs.test"]}),
            ("a fallback", {"tools": ["ask"], "fallback": "Some One"}),
        ):
            with self.subTest(what), self.assertRaises(ValueError):
                record_questions(object(), recorder, **given)


class McpTest(RecordingTest):
    """Each test has a caller of its own: the name of its client."""

    def serve(self, kind: str, stateless: bool = False) -> str:
        port = free_port()
        environment = self.environment(KIND=kind, PORT=str(port), STATELESS="1" if stateless else "")
        process = subprocess.Popen(
            [sys.executable, PROGRAM], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        url = f"http://127.0.0.1:{port}/mcp"
        until = time.monotonic() + HANGS
        while True:
            try:
                urlopen(Request(url, method="HEAD"), timeout=HANGS)
            except URLError as error:
                if not isinstance(error.reason, OSError):
                    return url
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError("the MCP server did not start")
            time.sleep(0.05)

    def comes_to(self, count: int, caller: str | None = None) -> None:
        until = time.monotonic() + HANGS
        while (counted := server().count(caller or self.caller)) < count and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual(counted, count)

    async def ask(self, place: Any) -> None:
        """Lists the tools, and asks: two questions that are answered, and all kinds that are not."""
        async with Client(place, client_info=mcp.types.Implementation(name=self.caller.upper(), version="1")) as client:
            self.assertEqual({tool.name for tool in await client.list_tools()}, {"ask", "search"})
            for tool, question, is_answered in (
                ("search", "not a question", True),
                ("ask", "fails", False),
                ("ask", 7, False),
                ("none", "a", False),
                ("ask", "install", True),
                ("ask", "install", True),
            ):
                result = await client.call_tool(tool, {"question": question}, raise_on_error=False)
                self.assertEqual(result.is_error, not is_answered, (tool, question))

    def test_over_http(self) -> None:
        for at, kind in enumerate(KINDS):
            with self.subTest(kind):
                asyncio.run(self.ask(self.serve(kind)))
                self.comes_to(2 * (at + 1))

    def test_over_stdin(self) -> None:
        for at, kind in enumerate(KINDS):
            with self.subTest(kind):
                environment = self.environment(KIND=kind)
                for _ in range(2):
                    process = StdioTransport(sys.executable, [str(PROGRAM)], env=environment, keep_alive=False)
                    asyncio.run(self.ask(process))
                self.comes_to(4 * (at + 1))

    def post(self, url: str, message: dict[str, Any], headers: dict[str, str]) -> Any:
        sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        with urlopen(Request(url, body, sent), timeout=HANGS) as response:
            return response.headers, response.read().decode()

    def session(self, url: str) -> Any:
        """Opens a session with plain JSON-RPC, and returns a function that calls the tool."""
        info = {"name": self.caller, "version": "1"}
        given = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": info}
        opened, _ = self.post(url, {"id": 0, "method": "initialize", "params": given}, {})
        named = {"Mcp-Protocol-Version": REVISION}
        if "Mcp-Session-Id" in opened:
            named["Mcp-Session-Id"] = opened["Mcp-Session-Id"]
        self.post(url, {"method": "notifications/initialized"}, named)

        def call(id: Any, **headers: str) -> None:
            headers = {name.replace("_", "-"): value for name, value in headers.items()}
            asked = {"name": "ask", "arguments": {"question": "install"}}
            _, answer = self.post(url, {"id": id, "method": "tools/call", "params": asked}, {**named, **headers})
            self.assertIn("About install", answer)

        return call

    def test_a_call_that_is_repeated_counts_once_in_its_session(self) -> None:
        for at, kind in enumerate(KINDS):
            with self.subTest(kind):
                url = self.serve(kind)
                for _ in range(2):
                    call = self.session(url)
                    for id in (1, 1, "a", 2, 1):
                        call(id)
                # The server records in order.
                call(3)
                self.comes_to(7 * (at + 1))

    def test_without_sessions(self) -> None:
        """Nothing names the client, so that headers tell the caller: here, a page of the site."""
        for at, kind in enumerate(KINDS):
            with self.subTest(kind):
                before = server().count("web")
                call = self.session(self.serve(kind, stateless=True))
                for headers in ({"X_Request_Id": f"{self.caller}{at}"}, {"X_Request_Id": f"{self.caller}{at}"}, {}, {}):
                    call(1, Referer="https://docs.test/page", **headers)
                self.comes_to(before + 3, "web")


if os.environ.get("CALLER_STATS_TEST_DEEP"):

    class FirstVersionTest(RecordingTest):
        def test_with_version_1(self) -> None:
            """The same tests with version 1 of the official package, in an environment of its own."""
            python = self.folder / "bin" / "python"
            subprocess.run([sys.executable, "-m", "venv", self.folder], check=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", "mcp<2", "fastmcp<4"], check=True)
            here = Path(__file__).resolve().parents[1]
            environment = {**os.environ, "PYTHONPATH": str(here / "src"), "CALLER_STATS_TEST_DEEP": ""}
            command = [python, "-m", "unittest", "tests.test_mcp"]
            done = subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
