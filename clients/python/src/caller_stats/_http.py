"""Requests to a caller-stats server over one connection, each within a deadline."""

from __future__ import annotations

# A process that forks during the first look-up of a name would leave the child with a locked import.
import encodings.idna  # noqa: F401
import http.client
import io
import re
import socket
import time
from typing import Any
from urllib.parse import quote, urlsplit

from ._version import VERSION
from .errors import NoResponseError, parse_answer

_ANSWER_MAX = 1 << 26
_IDLE_MAX = 30.0


def operation_url(url: str, project_id: str, operation: str) -> str:
    """The URL of an operation of a project. Raises a ``ValueError`` if ``url`` is not a server's."""
    try:
        parts = urlsplit(url)
        is_valid = re.fullmatch(r"https?://[^?#\s]+", url, re.IGNORECASE) and parts.hostname and "@" not in parts.netloc
        parts.port  # noqa: B018 - raises if it is not a port
    except ValueError:
        is_valid = None
    if not is_valid:
        raise ValueError(f"url: {url!r} is not a URL such as https://stats.example.com")
    return f"{url.rstrip('/')}/v1/analytics/{quote(project_id, safe='')}/assistant/{operation}"


def authorization(key: str) -> str:
    """The header for a key. Space around it is ignored: files usually end with a line break.

    A malformed key raises here, because the error of ``http.client`` would contain it.
    """
    bare = key.strip()
    if not re.fullmatch(r"[!-~]+", bare):
        raise ValueError("key: is not a key")
    return f"Bearer {bare}"


class Client:
    """Not for several threads at once."""

    def __init__(self, url: str, key: str) -> None:
        self._headers = {"Authorization": authorization(key), "User-Agent": f"caller-stats-python/{VERSION}"}
        parts = urlsplit(url)
        self._is_secure = parts.scheme.lower() == "https"
        self._host = parts.hostname or ""
        self._port = parts.port
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self._connection: http.client.HTTPConnection | None = None
        self._used_at = 0.0
        self.key_expires = ""
        """When the key expires, if the last answer said so."""

    def request(self, method: str, url: str, headers: dict[str, str], body: bytes | None, seconds: float) -> Any:
        """Returns the JSON of the answer. Raises a ``CallerStatsError``.

        Redirects are errors: following one drops the key if the address differs, and sends a ``POST`` as a ``GET``.
        """
        deadline = time.monotonic() + seconds
        target = url[len(self._origin) :] or "/"
        try:
            status, answer_headers, text = self._exchange(method, target, headers, body, deadline)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            late = isinstance(error, (TimeoutError, socket.timeout)) or time.monotonic() >= deadline
            described = getattr(error, "strerror", None) or str(error) or type(error).__name__
            reason = f"no answer in {seconds:g} s" if late else described
            raise NoResponseError(f"No response from {self._origin}: {reason}") from error
        self.key_expires = answer_headers.get("caller-stats-key-expires", "")
        return parse_answer(status, answer_headers, text, url=url, now=time.time())

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection:
            connection.close()

    def _exchange(
        self, method: str, target: str, headers: dict[str, str], body: bytes | None, deadline: float
    ) -> tuple[int, dict[str, str], str]:
        if self._connection and time.monotonic() - self._used_at > _IDLE_MAX:
            self.close()
        is_reused = self._connection is not None
        try:
            response = self._send(method, target, headers, body, deadline)
        except (ConnectionError, http.client.BadStatusLine):
            # The server may have closed the idle connection. All that is sent may be sent twice.
            self.close()
            if not is_reused:
                raise
            response = self._send(method, target, headers, body, deadline)
        text = response.read(_ANSWER_MAX).decode("utf-8", "replace")
        self._used_at = time.monotonic()
        if not response.isclosed():
            self.close()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, text

    def _send(
        self, method: str, target: str, headers: dict[str, str], body: bytes | None, deadline: float
    ) -> http.client.HTTPResponse:
        if self._connection is None:
            make = http.client.HTTPSConnection if self._is_secure else http.client.HTTPConnection
            connection = make(self._host, self._port, timeout=_left(deadline))
            connection.connect()
            connection.sock = _TimedSocket(connection.sock)
            self._connection = connection
        sock = self._connection.sock
        if not isinstance(sock, _TimedSocket):
            # `http.client` opens a connection again after the server announced that it closes the last one.
            self.close()
            return self._send(method, target, headers, body, deadline)
        sock.deadline = deadline
        self._connection.request(method, target, body, {**self._headers, **headers})
        return self._connection.getresponse()


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise socket.timeout("timed out")
    return left


class _TimedSocket:
    """What ``http.client`` uses of a socket, with one deadline for a whole exchange: a timeout begins anew with each byte."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._files = 0
        self._is_closed = False
        self.deadline = 0.0

    def sendall(self, data: bytes) -> None:
        self._sock.settimeout(_left(self.deadline))
        self._sock.sendall(data)

    def makefile(self, mode: str, *_: Any) -> io.BufferedReader:
        self._files += 1
        return io.BufferedReader(_Reader(self))

    def receive(self, buffer: Any) -> int:
        self._sock.settimeout(_left(self.deadline))
        return self._sock.recv_into(buffer)

    def file_closed(self) -> None:
        self._files -= 1
        if self._is_closed and self._files == 0:
            self._sock.close()

    def close(self) -> None:
        """The answer may still be read after this, as with a socket."""
        self._is_closed = True
        if self._files == 0:
            self._sock.close()


class _Reader(io.RawIOBase):
    def __init__(self, sock: _TimedSocket) -> None:
        super().__init__()
        self._timed = sock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._timed.receive(buffer)

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._timed.file_closed()
