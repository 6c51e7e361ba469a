"""The cases that the clients of all languages share."""

import json
import os
import re
import time
import unittest
import uuid
from datetime import datetime, timezone
from typing import Any
from unittest.mock import patch

from caller_stats import KNOWN_CALLERS, CallerStatsError, KnownCaller, Query, Recorder, detect_caller
from caller_stats._query import to_query, to_queued
from caller_stats._reports import is_rejection
from caller_stats._sender import seconds_to_retry
from caller_stats._spool import Spool
from caller_stats.errors import parse_answer
from caller_stats.mcp import caller_of_client

from .support import PROJECT, VECTORS, Front, RecordingTest, cut, exchange, parsed, reply, server


def read(name: str) -> Any:
    return json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))


def snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda found: f"_{found.group().lower()}", name)


def known_caller(one: dict[str, str]) -> KnownCaller:
    return KnownCaller(**{snake(name): value for name, value in one.items()})


class VectorsTest(unittest.TestCase):
    def test_callers(self) -> None:
        vectors = read("callers")
        self.assertEqual(KNOWN_CALLERS, tuple(map(known_caller, vectors["known"])))
        for one in vectors["clients"]:
            self.assertEqual(caller_of_client(one["name"]), one["caller"])
        for case in vectors["cases"]:
            rules = {snake(name): value for name, value in case.get("rules", {}).items()}
            if "known" in rules:
                rules["known"] = [known_caller(one) for one in rules["known"]]
            headers = case["headers"]
            pairs = [(name.title().encode(), value.encode()) for name, value in headers.items()]
            with self.subTest(case["what"]):
                self.assertEqual([detect_caller(headers, **rules), detect_caller(pairs, **rules)], [case["caller"]] * 2)

    def test_queries(self) -> None:
        vectors = read("queries")

        def unfold(value: Any) -> Any:
            if not isinstance(value, str):
                return value
            return re.sub(r"(.)\{(\d+)\}", lambda found: found.group(1) * int(found.group(2)), value)

        for case in vectors["cases"]:
            id, caller, when = (unfold(case.get(name)) for name in ("id", "caller", "occurredAt"))
            with self.subTest(case["what"]):
                queued = to_queued(id, caller, when)
                problem = snake(case["wrong"]) if "wrong" in case else ""
                self.assertEqual(queued.split(":")[0] if isinstance(queued, str) else "", problem)
        for clock in vectors["clocks"]:
            with patch("time.time", return_value=clock["ms"] / 1000):
                self.assertEqual(to_query(to_queued("1", "web", None)).occurred_at, clock["occurredAt"])
            now = datetime.fromtimestamp(clock["ms"] / 1000, timezone.utc)
            self.assertEqual(to_query(to_queued("1", "web", now)).occurred_at, clock["occurredAt"])

    def test_answers(self) -> None:
        vectors = read("answers")
        now = datetime(2026, 6, 1, tzinfo=timezone.utc).timestamp()
        for case in vectors["cases"]:
            with self.subTest(case["what"]):
                try:
                    parse_answer(case["status"], case.get("headers", {}), case["body"], url=vectors["url"], now=now)
                    error = None
                except CallerStatsError as caught:
                    error = caught
                self.assertEqual(error is None, case["message"] is None)
                waits = None
                if error:
                    self.assertIn(case["message"], str(error))
                    self.assertEqual(error.status, case["status"])
                    if not is_rejection(error):
                        waits = [seconds_to_retry(error, case["failures"], chance) * 1000 for chance in (0, 1)]
                self.assertEqual(waits, case["waitMs"])

    def test_spools(self) -> None:
        vectors = read("spools")
        with open("/proc/sys/kernel/random/boot_id") as file:
            here = f"{file.read().strip()}/{os.readlink('/proc/self/ns/pid')}"
        names = {"A": uuid.uuid4(), "B": uuid.uuid4(), "me": os.getppid(), "dead": 2**22 + 1, "here": here}

        def fill(text: str) -> str:
            return re.sub(r"\{(\w+)\}", lambda found: str(names.get(found.group(1), found.group())), text)

        for case in vectors["cases"]:
            with self.subTest(case["what"]):
                folder = RecordingTest.enterFolder(self)
                then = time.time() - case.get("age", 0)
                for name, text in case["files"].items():
                    path = os.path.join(folder, fill(name))
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(fill(text))
                    os.utime(path, (then, then))
                spool = Spool(folder, vectors["project"])
                self.addCleanup(spool.close)
                found: list[str] = []
                spool.adopt(lambda queries: found.extend(one[0] for one in queries) or len(found))
                self.assertEqual(sorted(found), case["found"])


class DeliveriesTest(RecordingTest):
    """Against the real server, behind a front."""

    def follow(self, rule: Any, handler: Any, body: bytes) -> bool:
        sent = [one["id"][-1] for one in parsed(body)]
        if rule == "cut":
            return cut(handler)
        if rule == "lost":
            exchange(handler.path, handler.headers, body)
            return cut(handler)
        if rule is None:
            return True
        if "status" in rule:
            headers = {name.replace("-", "_"): value for name, value in rule.get("headers", {}).items()}
            return reply(handler, rule["status"], rule["body"], **headers)
        if "atMost" in rule:
            return len(sent) <= rule["atMost"] or reply(handler, 413, '{"error":"Too large."}')
        if "only" in rule:
            return rule["only"] not in sent or reply(handler, 400, '{"error":"No."}')
        details = [{"message": f"queries[{at}]: id: is bad"} for at, id in enumerate(sent) if id in rule["refuse"]]
        return not details or reply(handler, 400, json.dumps({"error": "No.", "details": details}))

    def test_deliveries(self) -> None:
        for case in read("deliveries")["cases"]:
            with self.subTest(case["what"]):
                self.setUp()
                rules = case["answers"]

                def answer(handler: Any, number: int) -> bool:
                    rule = rules[number] if number < len(rules) else case.get("always")
                    return self.follow(rule, handler, front.requests[number])

                front = Front(self, answer)
                dropped: dict[str, str] = {}

                def on_drop(queries: list[Query], code: str, _: str) -> None:
                    dropped.update({query.id[-1]: code for query in queries})

                options = {"on_drop": on_drop, "on_error": lambda error: None}
                recorder = Recorder(front.url, PROJECT, server().key, **options)
                for id in "abcd":
                    recorder.record(f"{self.caller}-{id}", self.caller)
                self.assertTrue(recorder.close(30))
                self.assertEqual(dropped, case["dropped"])
                stats = recorder.stats
                self.assertEqual(stats.recorded + stats.duplicates, len(case["recorded"]))
                self.assertEqual(self.counted(), len(case["recorded"]))
