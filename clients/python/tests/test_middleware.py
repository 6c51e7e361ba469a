"""Which requests are queries, in WSGI and ASGI."""

from __future__ import annotations

import asyncio
import unittest
from typing import Any, Callable

from caller_stats import AsgiQuestions, WsgiQuestions


class Recordings:
    """In the place of a recorder."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []
        self.flushed = 0

    def record(self, id: Any, caller: str, occurred_at: Any = None) -> None:
        assert occurred_at.tzinfo is not None
        self.seen.append((id, caller))

    async def aflush(self) -> bool:
        self.flushed += 1
        return True


class WsgiTest(unittest.TestCase):
    def ask(self, app: Any, wraps: int = 1, method: str = "POST", parts: int = 99, **options: Any) -> list[tuple[str, str]]:
        """What is recorded of a request, of whose answer the reader reads so many parts."""
        recorder = Recordings()
        for _ in range(wraps):
            app = WsgiQuestions(app, recorder, **options)  # type: ignore[arg-type]
        environ = {"REQUEST_METHOD": method, "HTTP_X_REQUEST_ID": "r1", "HTTP_ORIGIN": "https://docs.test"}
        body = app(environ, lambda *_: None)
        try:
            for _, _ in zip(range(parts), body):
                pass
        except RuntimeError:
            pass
        finally:
            getattr(body, "close", lambda: None)()
        return recorder.seen

    def app(self, status: str = "200 OK", fails_at: int = -1) -> Callable[..., Any]:
        def run(_: Any, start: Callable[..., Any]) -> Any:
            start(status, [])
            for at in range(3):
                if at == fails_at:
                    raise RuntimeError
                yield b"part"

        return run

    def test_answered(self) -> None:
        self.assertEqual(self.ask(self.app()), [("r1", "unknown")])
        self.assertEqual(self.ask(self.app(), site_origins=["https://docs.test"]), [("r1", "web")])
        self.assertEqual(self.ask(self.app("399 Odd")), [("r1", "unknown")])

    def test_not_answered(self) -> None:
        for what, seen in (
            ("an error", self.ask(self.app("400 Bad Request"))),
            ("HEAD", self.ask(self.app(), method="HEAD")),
            ("OPTIONS", self.ask(self.app(), method="OPTIONS")),
            ("an exception before the answer", self.ask(self.app(fails_at=0))),
            ("not a question", self.ask(self.app(), is_question=lambda environ: False)),
        ):
            self.assertEqual(seen, [], what)

    def test_interrupted(self) -> None:
        self.assertEqual(self.ask(self.app(fails_at=2)), [("r1", "unknown")])
        self.assertEqual(self.ask(self.app(), parts=1), [("r1", "unknown")])

    def test_twice(self) -> None:
        self.assertEqual(self.ask(self.app(), wraps=2), [("r1", "unknown")])

    def test_options(self) -> None:
        seen = self.ask(self.app(), id=lambda environ: "m1", caller=lambda environ: "slack")
        self.assertEqual(seen, [("m1", "slack")])
        with self.assertLogs("caller_stats", "WARNING") as logged:
            self.assertEqual(self.ask(self.app(), id=lambda environ: None), [("r1", "unknown")])
            self.assertEqual(self.ask(self.app(), caller=lambda environ: environ["none"]), [("r1", "unknown")])
        self.assertEqual(len(logged.output), 2)

    def test_invalid_rules(self) -> None:
        with self.assertRaisesRegex(ValueError, "site_origins"):
            WsgiQuestions(self.app(), Recordings(), site_origins=["docs.test"])  # type: ignore[arg-type]


class AsgiTest(unittest.TestCase):
    def ask(self, app: Any, wraps: int = 1, method: str = "POST", **options: Any) -> list[tuple[str, str]]:
        recorder = Recordings()
        for _ in range(wraps):
            app = AsgiQuestions(app, recorder, **options)  # type: ignore[arg-type]
        headers = [(b"x-request-id", b"r1"), (b"origin", b"https://docs.test")]

        async def send(message: Any) -> None:
            pass

        async def run() -> None:
            try:
                await app({"type": "http", "method": method, "headers": headers}, None, send)
            except RuntimeError:
                pass

        asyncio.run(run())
        return recorder.seen

    def app(self, status: int = 200, fails: str = "") -> Callable[..., Any]:
        async def run(_: Any, receive: Any, send: Any) -> None:
            if fails == "before":
                raise RuntimeError
            await send({"type": "http.response.start", "status": status})
            await send({"type": "http.response.body", "body": b"part", "more_body": True})
            if fails == "while":
                raise RuntimeError

        return run

    def test_answered(self) -> None:
        self.assertEqual(self.ask(self.app()), [("r1", "unknown")])
        self.assertEqual(self.ask(self.app(), site_origins=["https://docs.test"]), [("r1", "web")])
        self.assertEqual(self.ask(self.app(fails="while")), [("r1", "unknown")])
        self.assertEqual(self.ask(self.app(), wraps=2), [("r1", "unknown")])

    def test_not_answered(self) -> None:
        self.assertEqual(self.ask(self.app(400)), [])
        self.assertEqual(self.ask(self.app(fails="before")), [])
        self.assertEqual(self.ask(self.app(), method="HEAD"), [])
        self.assertEqual(self.ask(self.app(), method="OPTIONS"), [])

    def test_async_options(self) -> None:
        async def id(scope: Any) -> str:
            return "m1"

        self.assertEqual(self.ask(self.app(), id=id, is_question=lambda scope: True), [("m1", "unknown")])

    def live(self, app: Any) -> None:
        recorder = Recordings()
        incoming, outgoing = ["startup", "shutdown"], []

        async def receive() -> Any:
            return {"type": f"lifespan.{incoming.pop(0)}"}

        async def send(message: Any) -> None:
            outgoing.append((message["type"], recorder.flushed))

        asyncio.run(AsgiQuestions(app, recorder)({"type": "lifespan"}, receive, send))  # type: ignore[arg-type]
        self.assertEqual(outgoing, [("lifespan.startup.complete", 0), ("lifespan.shutdown.complete", 1)])

    def test_lifespan(self) -> None:
        async def app(_: Any, receive: Any, send: Any) -> None:
            for name in ("startup", "shutdown"):
                self.assertEqual((await receive())["type"], f"lifespan.{name}")
                await send({"type": f"lifespan.{name}.complete"})

        self.live(app)

    def test_lifespan_of_applications_that_do_not_know_it(self) -> None:
        async def app(_: Any, receive: Any, send: Any) -> None:
            raise ValueError

        async def app_that_listens(_: Any, receive: Any, send: Any) -> None:
            await receive()
            raise ValueError

        self.live(app)
        self.live(app_that_listens)
