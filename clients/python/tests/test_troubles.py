"""What fails on the way to the server loses nothing, is named once, and holds nobody up."""

import asyncio
import logging
import os
import socket
import threading
import time
import uuid
from datetime import date, datetime, timedelta, timezone
from typing import Any

from caller_stats import CallerStatsError, Query, Recorder
from caller_stats.errors import NoResponseError

from .support import PROJECT, Front, RecordingTest, Server, cut, exchange, free_port, parsed, reply, server

# Troubles last as long as in practice, instead of as short as the tests' patience asks for.
DEEP = os.environ.get("CALLER_STATS_TEST_DEEP") == "1"


class RefusalsTest(RecordingTest):
    def make(self, url: str = "", **options: Any) -> Recorder:
        recorder = Recorder(url or server().url, PROJECT, server().key, **options)
        self.addCleanup(recorder.close, 0)
        return recorder

    def test_invalid_options(self) -> None:
        for name, value in (
            ("url", "stats.test"),
            ("url", "file:///stats"),
            ("url", "http://stats.test/?a"),
            ("url", "http://stats.test:99999"),
            ("url", "http://user:secret@stats.test"),
            ("key", "two keys"),
            ("key", "kéy"),
            ("batch_max", 0),
            ("batch_max", 10_001),
            ("queue_max", 0),
            ("delay", -1),
            ("delay", "1"),
            ("timeout", float("nan")),
            ("close_timeout", float("inf")),
            ("close_timeout", True),
        ):
            with self.subTest(name, value=value), self.assertRaisesRegex(ValueError, f"^{name}: ") as caught:
                Recorder(**{"url": "http://stats.test", "project_id": "docs", "key": "key", name: value})
            self.assertNotIn("secret", str(caught.exception)) if name == "key" else None

    def test_a_malformed_key_is_in_no_traceback(self) -> None:
        with self.assertRaises(ValueError) as caught:
            Recorder("http://stats.test", "docs", "cs_recording_\nsecret")
        self.assertNotIn("secret", str(caught.exception))

    def test_a_line_break_behind_the_key_is_ignored(self) -> None:
        with Recorder(server().url + "/", PROJECT, f"{server().key}\n") as recorder:
            recorder.record(f"{self.caller}-1", self.caller)
        self.assertEqual(self.counted(), 1)

    def test_missing_configuration_warns_once(self) -> None:
        drops: list[tuple[Any, str, str]] = []
        with self.assertLogs("caller_stats", "WARNING") as logged:
            recorder = Recorder(None, "", "key", on_drop=lambda *all: drops.append(all))
            for id in "abc":
                recorder.record(id, "web")
            self.assertTrue(recorder.flush() and recorder.close())
        message = "Recorder was given no url, project_id"
        self.assertEqual([one.getMessage() for one in logged.records], [f"caller-stats: no query is counted: {message}"])
        self.assertEqual([(code, why) for _, code, why in drops], [("unconfigured", message)] * 3)
        self.assertEqual(recorder.stats, (0, 0, 0, 3, 0))

    def test_ids(self) -> None:
        drops: list[Query] = []
        with self.make(on_drop=lambda queries, code, _: drops.extend(queries)) as recorder:
            for good in (7, uuid.UUID(int=1), f"{self.caller}-a"):
                recorder.record(good, self.caller)
            for bad in (None, True, 1.5, b"1", "", "a" * 129, "\ud800", 10**5000, object()):
                recorder.record(bad, self.caller)  # type: ignore[arg-type]
        self.assertEqual(recorder.stats[1:4], (3, 0, 9))
        self.assertEqual(len(drops), 9)
        self.assertEqual(self.counted(), 3)

    def test_times(self) -> None:
        drops: list[str] = []
        front = Front(self, lambda *_: True)
        zone = timezone(timedelta(hours=2))
        with self.make(front.url, on_drop=lambda _, code, why: drops.append(why), delay=0) as recorder:
            for at, when in enumerate((datetime(2026, 1, 1, 2, tzinfo=zone), "2026-01-01T00:00:00+01:00", None)):
                recorder.record(f"{self.caller}-{at}", self.caller, when)
                recorder.flush()
            recorder.record("naive", self.caller, datetime(2026, 1, 1))
            recorder.record("date", self.caller, date(2026, 1, 1))  # type: ignore[arg-type]
            recorder.record("number", self.caller, 1767225600)  # type: ignore[arg-type]
        sent = [query["occurredAt"] for body in front.requests for query in parsed(body)]
        self.assertEqual(sent[:2], ["2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00+01:00"])
        self.assertAlmostEqual(datetime.fromisoformat(sent[2].replace("Z", "+00:00")).timestamp(), time.time(), delta=60)
        self.assertEqual([why.split(" ")[0] for why in drops], ["occurred_at:"] * 3)
        self.assertIn("has no time zone", drops[0])

    def test_after_close(self) -> None:
        drops: list[str] = []
        recorder = self.make(on_drop=lambda _, code, why: drops.append(code))
        recorder.record(f"{self.caller}-1", self.caller)
        self.assertTrue(recorder.close())
        self.assertTrue(recorder.close())
        recorder.record(f"{self.caller}-2", self.caller)
        self.assertEqual((drops, recorder.stats[:4]), (["closed"], (0, 1, 0, 1)))

    def test_drops_are_told_before_flush_returns(self) -> None:
        held = threading.Event()
        told: list[int] = []

        def refuse(handler: Any, _: int) -> bool:
            held.wait()
            return reply(handler, 400, '{"error":"No.","details":[{"message":"queries[0]: id: is bad"}]}')

        front = Front(self, refuse)
        recorder = self.make(front.url, on_drop=lambda *_: told.append(waiting()))

        def waiting() -> int:
            sender = recorder._sender
            return 0 if sender is None else len(sender._waiting)

        recorder.record(f"{self.caller}-1", self.caller)
        flushing = threading.Thread(target=recorder.flush)
        flushing.start()
        while waiting() == 0:
            time.sleep(0)
        held.set()
        flushing.join()
        self.assertEqual(told, [1])

    def test_callbacks_that_raise(self) -> None:
        def fail(*_: Any) -> None:
            raise RuntimeError

        front = Front(self, lambda handler, number: number > 0 or cut(handler))
        with self.make(front.url, on_drop=fail, on_error=fail) as recorder:
            recorder.record("", self.caller)
            recorder.record(f"{self.caller}-1", self.caller)
        self.assertEqual(recorder.stats[:4], (0, 1, 0, 1))

    def test_a_full_queue(self) -> None:
        front = Front(self, lambda handler, _: reply(handler, 503, retry_after="3600"))
        drops: list[str] = []
        recorder = self.make(front.url, queue_max=10, on_drop=lambda q, code, why: drops.extend([code] * len(q)))
        for number in range(15):
            recorder.record(f"{self.caller}-{number}", self.caller)
        self.assertEqual((drops, recorder.stats.queued), (["queue-full"] * 5, 10))
        self.assertFalse(recorder.close(0.2))
        self.assertEqual(drops, ["queue-full"] * 5 + ["closed"] * 10)


class TroublesTest(RecordingTest):
    def program(self, url: str, seconds: float) -> str:
        """Asks 20 questions, a part of them while there is trouble."""
        code = f"""
recorder = make()
for number in range(20):
    recorder.record(f"{{CALLER}}-{{number}}", CALLER)
    time.sleep({seconds} / 20)
print(recorder.close())
"""
        return self.run_program(code, url)

    def trouble(self, seconds: float, answer: Any) -> str:
        """Runs the program behind a front that answers so for some seconds, 6 in the deep run."""
        seconds = 6 if DEEP else seconds
        begun: list[float] = []

        def meet(handler: Any, _: int) -> bool:
            # From the first request on: a busy machine starts the program late.
            begun.append(time.monotonic())
            return begun[-1] - begun[0] > seconds or answer(handler)

        front = Front(self, meet)
        return self.program(front.url, seconds + 0.5)

    def test_busy(self) -> None:
        logged = self.trouble(1.5, lambda handler: reply(handler, 503, "<h1>Busy</h1>", retry_after="1"))
        self.assertRegex(logged, "True\n.* failed: The server answered 503.* Queries wait.\n.* work again.\n$")
        self.assertEqual(self.counted(), 20)

    def test_limited_for_longer_than_close_waits(self) -> None:
        logged = self.trouble(2, lambda handler: reply(handler, 429, '{"error":"Slow down."}', retry_after="3600"))
        self.assertRegex(logged, "True\n.* failed: Slow down. Queries wait.\n.* work again.\n$")
        self.assertEqual(self.counted(), 20)

    def test_connections_that_are_cut(self) -> None:
        logged = self.trouble(1.5, cut)
        self.assertRegex(
            logged,
            "True\n.*No response from .* Check url, and that the server runs. Queries wait.\n.* work again.\n$",
        )
        self.assertEqual(self.counted(), 20)

    def test_answers_that_are_lost(self) -> None:
        front = Front(self, lambda handler, number: number % 2 == 1 or lose(handler, front.requests[number]))
        self.program(front.url, 1)
        self.assertEqual(self.counted(), 20)

    def test_a_wrong_key_for_a_while(self) -> None:
        logged = self.trouble(2, lambda handler: reply(handler, 401, '{"error":"The key is revoked."}'))
        self.assertRegex(logged, "True\n.* failed: The key is revoked. Check key. Queries wait.\n.* work again.\n$")
        self.assertEqual(self.counted(), 20)

    def test_a_sign_in_page_for_a_while(self) -> None:
        logged = self.trouble(1.5, lambda handler: reply(handler, 200, "<html>Log in</html>"))
        self.assertRegex(logged, "True\n.*answered 200, not as caller-stats does: <html>.* Check url. Queries wait.\n")
        self.assertEqual(self.counted(), 20)

    def test_a_redirect_for_a_while(self) -> None:
        logged = self.trouble(1.5, lambda handler: reply(handler, 301, location="https://new.test/v1/analytics/x"))
        self.assertIn("redirects to https://new.test/v1/analytics/x, and redirects are not followed. Use the", logged)
        self.assertEqual(self.counted(), 20)

    def test_a_server_that_starts_late(self) -> None:
        away = 30 if DEEP else 0
        own = Server()
        self.addCleanup(own.remove)
        own.stop()
        process = self.start(
            """
recorder = make()
record(recorder, 50)
print("ready", flush=True)
time.sleep(float(os.environ["AWAY"]) + 1)
record(recorder, 50, "more")
""",
            own.url,
            KEY=own.key,
            AWAY=str(away),
        )
        self.wait_for(process, "ready")
        time.sleep(away)
        own.start()
        self.assertEqual(process.wait(60), 0)
        self.assertEqual(own.count(self.caller), 100)

    def test_connections_are_kept_and_may_be_closed_by_the_server(self) -> None:
        def close_silently(handler: Any, number: int) -> bool:
            # Without `Connection: close`, as when the time for idle connections is over.
            handler.close_connection = number % 3 == 2
            return True

        front = Front(self, close_silently)
        errors: list[Exception] = []
        with Recorder(front.url, PROJECT, server().key, delay=0, on_error=errors.append) as recorder:
            for number in range(9):
                recorder.record(f"{self.caller}-{number}", self.caller)
                self.assertTrue(recorder.flush())
        self.assertEqual((front.connections, errors), (3, []))
        self.assertEqual(self.counted(), 9)

    def test_the_first_query_after_a_pause_goes_at_once_and_others_wait(self) -> None:
        front = Front(self, lambda *_: True)
        with Recorder(front.url, PROJECT, server().key, delay=1000) as recorder:
            recorder.record(f"{self.caller}-first", self.caller)
            while recorder.stats.queued:
                time.sleep(0.01)
            for number in range(1500):
                recorder.record(f"{self.caller}-{number}", self.caller)
            while recorder.stats.queued > 500:
                time.sleep(0.01)
            self.assertEqual(len(front.requests), 2)
        self.assertEqual([len(parsed(body)) for body in front.requests], [1, 1000, 500])
        self.assertEqual(self.counted(), 1501)


def lose(handler: Any, body: bytes) -> bool:
    exchange(handler.path, handler.headers, body)
    return cut(handler)


class BoundsTest(RecordingTest):
    """What never answers is named, and `close` ends within its time."""

    def close_within(self, url: str, message: str, **options: Any) -> None:
        with self.assertLogs("caller_stats", "WARNING") as logged:
            recorder = Recorder(url, PROJECT, server().key, close_timeout=1, **options)
            recorder.record("1", self.caller)
            # Nothing else ends this.
            self.assertFalse(recorder.close())
        self.assertRegex(" ".join(one.getMessage() for one in logged.records), message)

    def listen(self, serve: Any = None) -> str:
        sock = socket.socket()
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        self.addCleanup(sock.close)
        if serve:

            def accept() -> None:
                with sock.accept()[0] as connection:
                    serve(connection)

            threading.Thread(target=accept, daemon=True).start()
        return f"http://127.0.0.1:{sock.getsockname()[1]}"

    def test_a_server_that_never_answers(self) -> None:
        self.close_within(self.listen(), r"not counted \(closed\).*No response from .*: no answer in 0.3 s", timeout=0.3)

    def test_a_server_that_never_answers_in_the_time_of_close(self) -> None:
        self.close_within(
            self.listen(), r"1 query is not counted \(closed\): the recorder was closed before the server responded$"
        )

    def test_a_server_that_sends_byte_after_byte(self) -> None:
        def drip(sock: socket.socket) -> None:
            try:
                for _ in range(200):
                    sock.sendall(b"H")
                    time.sleep(0.05)
            except OSError:
                pass

        self.close_within(self.listen(drip), r"no answer in 0.3 s", timeout=0.3)

    def test_a_name_without_an_address(self) -> None:
        self.close_within("http://stats.invalid", r"No response from http://stats.invalid: .*known|not|failure")

    def test_a_server_that_speaks_no_http(self) -> None:
        self.close_within(self.listen(lambda sock: sock.sendall(b"SSH-2.0\r\n")), "No response from")

    def test_https_to_a_server_without_it(self) -> None:
        self.close_within(server().url.replace("http:", "https:"), "No response from https://.*SSL")

    def test_the_event_loop_goes_on_while_aclose_waits(self) -> None:
        async def main() -> int:
            recorder = Recorder(self.listen(), PROJECT, server().key)
            recorder.record("1", self.caller)
            closing = asyncio.ensure_future(recorder.aclose(1))
            turns = 0
            while not closing.done():
                await asyncio.sleep(0.01)
                turns += 1
            self.assertFalse(closing.result())
            return turns

        with self.assertLogs("caller_stats", "WARNING"):
            self.assertGreater(asyncio.run(main()), 10)

    def test_the_end_of_a_process(self) -> None:
        logged = self.run_program("record(make(close_timeout=.5), 5)", self.listen())
        self.assertIn("5 queries are not counted (closed)", logged)


class LogTest(RecordingTest):
    def test_each_cause_is_logged_once(self) -> None:
        answers = [503, 503, 500, 503, 500]
        front = Front(self, lambda handler, number: number >= 5 or reply(handler, answers[number], retry_after="0"))
        with self.assertLogs("caller_stats", "WARNING") as logged:
            with Recorder(front.url, PROJECT, server().key) as recorder:
                recorder.record(f"{self.caller}-1", self.caller)
                for bad in ("", "", None):
                    recorder.record(bad, "web")  # type: ignore[arg-type]
                recorder.record("1", "Web")
                self.assertTrue(recorder.flush(30))
        messages = sorted(one.getMessage() for one in logged.records)
        self.assertEqual([message.split(":")[1].split(" ")[1] for message in messages], ["1", "1", "a", "a", "requests"])

    def test_a_key_that_expires_soon_is_logged_once(self) -> None:
        made = server().command(
            "key", "create", "--project", PROJECT, "--name", "short", "--type", "recording", "--expires", "2d"
        )
        with self.assertLogs("caller_stats", "WARNING") as logged:
            with Recorder(server().url, PROJECT, made) as recorder:
                for number in range(2):
                    recorder.record(f"{self.caller}-{number}", self.caller)
                    self.assertTrue(recorder.flush(30))
        self.assertEqual(len(logged.output), 1)
        self.assertRegex(logged.output[0], r"the key for project docs expires at 20\d\d-.*\.$")

    def test_a_log_handler_that_fails(self) -> None:
        class Failing(logging.Handler):
            def handle(self, record: logging.LogRecord) -> bool:
                raise RuntimeError

        log, handler = logging.getLogger("caller_stats"), Failing()
        log.addHandler(handler)
        self.addCleanup(log.removeHandler, handler)
        recorder = Recorder(None, None, None)
        recorder.record("1", "web")
        self.assertEqual(recorder.stats.dropped, 1)

    def test_errors(self) -> None:
        errors: list[Exception] = []
        failed = threading.Event()
        url = f"http://127.0.0.1:{free_port()}"
        recorder = Recorder(
            url, PROJECT, "key", on_error=lambda error: (errors.append(error), failed.set()), on_drop=lambda *_: None
        )
        recorder.record("1", "web")
        self.assertTrue(failed.wait(60))
        self.assertFalse(recorder.close(0.2))
        self.assertIsInstance(errors[0], NoResponseError)
        self.assertIsInstance(errors[0], CallerStatsError)
