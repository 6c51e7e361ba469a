"""What the reader asks for and gets."""

from __future__ import annotations

from datetime import date, datetime, timezone

from caller_stats import AuthenticationError, InvalidRequestError, NotFoundError, Reader, Recorder

from .support import PROJECT, RecordingTest, server


class ReaderTest(RecordingTest):
    def reader(self, project: str = PROJECT, key: str = "") -> Reader:
        return Reader(server().url, project, key or server().reading_key)

    def test_refusals(self) -> None:
        for arguments in (("stats.test", "docs", "key"), ("http://stats.test", "docs", "two keys")):
            with self.assertRaises(ValueError):
                Reader(*arguments)
        with self.assertRaisesRegex(InvalidRequestError, "period.*not one of|period") as caught:
            self.reader().counts(period="last-moon")
        self.assertEqual((caught.exception.status, len(caught.exception.details)), (400, 1))
        with self.assertRaises(AuthenticationError):
            self.reader(key="wrong").counts()
        with self.assertRaises(NotFoundError):
            self.reader("other").counts()

    def test_counts(self) -> None:
        with Recorder(server().url, PROJECT, server().key) as recorder:
            for number, day in enumerate((1, 1, 2)):
                recorder.record(f"{self.caller}-{number}", self.caller, datetime(2025, 3, day, 12, tzinfo=timezone.utc))
        reader = self.reader()
        self.assertEqual(reader.counts(caller=self.caller), {"web": 0, "api": 0, "other": 3, "total": 3})
        ours = {"date_from": date(2025, 3, 1), "date_to": date(2025, 3, 3)}
        compared = reader.counts(**ours, caller=self.caller, compare="previous")
        self.assertEqual((compared["total"], compared["previous"]["total"]), (3, 0))
        rows = reader.series(**ours, caller=self.caller, compare="previous", time_zone="Europe/Berlin")
        self.assertEqual(
            [(row["start"][:10], row["total"], row["previous_total"]) for row in rows],
            [("2025-03-01", 2, 0), ("2025-03-02", 1, 0)],
        )
        long = [row for row in reader.series(**ours, by="caller") if row["caller"] in (self.caller, None)]
        self.assertEqual(
            [(row["caller"], row["count"]) for row in long], [(self.caller, 2), (self.caller, 1), (None, 0), (None, 0)]
        )
        callers = [
            row for row in reader.callers(date_from="2025-03-01", date_to=datetime(2025, 3, 2)) if row["caller"] == self.caller
        ]
        self.assertEqual(callers, [{"caller": self.caller, "type": "other", "count": 2}])
