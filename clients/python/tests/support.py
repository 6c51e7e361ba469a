"""A real server, a front that fails as networks and proxies do, and programs that record."""

from __future__ import annotations

import atexit
import functools
import gzip
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Callable
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

REPOSITORY = Path(__file__).resolve().parents[3]
MAIN = REPOSITORY / "dist" / "main.js"
VECTORS = REPOSITORY / "clients" / "vectors"
PROJECT = "docs"
HANGS = 60


class Server:
    """A caller-stats server with one project, in a folder of its own."""

    def __init__(self, project: str = PROJECT) -> None:
        if not MAIN.exists():
            raise RuntimeError(f"{MAIN} is missing; make it with: npm run build")
        self._folder = tempfile.TemporaryDirectory()
        self.database = f"sqlite:{self._folder.name}/test.db"
        self.command("project", "create", "Docs", "--id", project)
        make_key = ["key", "create", "--project", project, "--name", "test", "--type"]
        self.key = self.command(*make_key, "recording")
        self.reading_key = self.command(*make_key, "reading")
        self._process: subprocess.Popen[str] | None = None
        self.url = ""
        self.start(0)

    def command(self, *arguments: str) -> str:
        done = subprocess.run(
            ["node", MAIN, *arguments, "--database", self.database], capture_output=True, text=True, timeout=HANGS
        )
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        return done.stdout.strip()

    def start(self, port: int | None = None) -> None:
        """Starts on the same port as before unless another is given."""
        port = urlsplit(self.url).port if port is None else port
        command = ["node", MAIN, "serve", "--port", str(port), "--database", self.database]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert self._process.stdout
        for line in self._process.stdout:
            if line.startswith("{") and "url" in json.loads(line):
                self.url = json.loads(line)["url"]
                break
        else:
            raise RuntimeError("the server did not start")
        # A pipe that is full would stop the server.
        threading.Thread(target=drain, args=(self._process.stdout,), daemon=True).start()

    def stop(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def remove(self) -> None:
        self.stop()
        self._folder.cleanup()

    def count(self, caller: str) -> int:
        """How many queries of a caller the server has counted. Each test has a caller of its own."""
        headers = {"Authorization": f"Bearer {self.reading_key}"}
        address = f"{self.url}/v1/analytics/{PROJECT}/assistant/callers"
        with urlopen(Request(address, headers=headers), timeout=HANGS) as response:
            callers = json.load(response)["callers"]
        return sum(one["count"] for one in callers if one["caller"] == caller)


def drain(stream: Any) -> None:
    with stream:
        for _ in stream:
            pass


@functools.cache
def server() -> Server:
    """The server of all tests."""
    made = Server()
    owner = os.getpid()
    atexit.register(lambda: os.getpid() == owner and made.remove())
    return made


class Front:
    """Forwards requests to the server, unless ``answer`` does something else with one.

    It gets the handler and the number of the request, and returns whether the request is to be forwarded.
    """

    def __init__(self, test: unittest.TestCase, answer: Callable[[Any, int], bool]) -> None:
        self.requests: list[bytes] = []
        self.connections = 0
        front = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                front.connections += 1
                super().setup()

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                front.requests.append(body)
                if answer(self, len(front.requests) - 1):
                    forward(self, body)

            def log_message(self, *_: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()
        test.addCleanup(self._http.server_close)
        test.addCleanup(self._http.shutdown)


def forward(handler: Any, body: bytes) -> None:
    status, headers, text = exchange(handler.path, handler.headers, body)
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(text)))
    if "retry-after" in headers:
        handler.send_header("Retry-After", headers["retry-after"])
    handler.end_headers()
    handler.wfile.write(text)


def parsed(body: bytes) -> Any:
    """The queries of a request."""
    return json.loads(gzip.decompress(body) if body[:1] == b"\x1f" else body)


def exchange(path: str, headers: Any, body: bytes) -> Any:
    connection = http.client.HTTPConnection(urlsplit(server().url).netloc, timeout=HANGS)
    try:
        sent = {name: value for name, value in headers.items() if name.lower() not in ("host", "connection")}
        connection.request("POST", path, body, sent)
        response = connection.getresponse()
        return response.status, dict(response.getheaders()), response.read()
    finally:
        connection.close()


def reply(handler: Any, status: int, text: str = "", **headers: str) -> bool:
    """Answers a request itself."""
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(text.encode())))
    handler.end_headers()
    handler.wfile.write(text.encode())
    return False


def cut(handler: Any) -> bool:
    """Resets the connection."""
    handler.close_connection = True
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    handler.connection.close()
    return False


PRELUDE = """
import os, sys, time, signal, threading, asyncio, logging
from caller_stats import Recorder
def make(**options):
    return Recorder(os.environ["URL"], os.environ["PROJECT"], os.environ["KEY"], **options)
CALLER = os.environ["CALLER"]
def record(recorder, count, name="query"):
    for number in range(count):
        recorder.record(f"{CALLER}-{name}-{os.getpid()}-{number}", CALLER)
"""


class RecordingTest(unittest.TestCase):
    """Has a caller of its own, so that the server's count of it is the count of the test."""

    maxDiff = None

    def setUp(self) -> None:
        self.caller = "".join(one if one.isalnum() else "-" for one in self.id().lower())[-50:] + f".{time.time_ns() % 10**8}"
        self.folder = Path(self.enterFolder())

    def enterFolder(self) -> str:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return folder.name

    def counted(self) -> int:
        return server().count(self.caller)

    def environment(self, url: str | None = None, **more: str) -> dict[str, str]:
        named = {"URL": url or server().url, "PROJECT": PROJECT, "KEY": server().key, "CALLER": self.caller}
        return {**os.environ, **named, "SPOOL": str(self.folder / "spool"), **more}

    def start(self, code: str, url: str | None = None, **more: str) -> subprocess.Popen[str]:
        """Starts a program, as a file because ``multiprocessing`` needs one."""
        file = self.folder / f"program{time.time_ns()}.py"
        file.write_text(PRELUDE + code)
        process = subprocess.Popen(
            [sys.executable, file],
            env=self.environment(url, **more),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.addCleanup(end, process)
        return process

    def run_program(self, code: str, url: str | None = None, status: int = 0, **more: str) -> str:
        """Runs a program to its end. Returns what it writes."""
        process = self.start(code, url, **more)
        out, errors = process.communicate(timeout=HANGS)
        self.assertEqual(process.returncode, status, errors)
        return out + errors

    def wait_for(self, process: subprocess.Popen[str], word: str) -> None:
        """Until a program has printed this line."""
        assert process.stdout
        for line in process.stdout:
            if line.strip() == word:
                return
        self.fail(process.stderr.read() if process.stderr else "")


def end(process: subprocess.Popen[str]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream:
            stream.close()


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]
