"""The samples of the docs for pandas, polars and DuckDB, with callers that are named like columns."""

from __future__ import annotations

import os
import re
from typing import Any
from unittest.mock import patch
from urllib.request import Request, urlopen

import duckdb
import pandas
import polars

from caller_stats import Recorder

from .support import REPOSITORY, RecordingTest, server

SERIES = "/v1/analytics/docs/assistant/caller-stats/series"
DAYS = f"{SERIES}?interval=day&by=caller&timeZone=Europe/Berlin&dateFrom=2026-03-28&dateTo=2026-03-31"
# The clocks of Berlin change on the 29th.
STARTS = ["2026-03-28T00:00:00+01:00", "2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00"]
NAMES = ("start", "end", "total", "caller", "previous.total")


def sample(page: str, pattern: str) -> str:
    text = (REPOSITORY / "docs" / "guides" / "read" / page).read_text(encoding="utf-8")
    found = re.search(pattern + r"\n(.*?)```", text, re.DOTALL)
    assert found, pattern
    return found[1]


class TablesTest(RecordingTest):
    def setUp(self) -> None:
        super().setUp()
        recorder = Recorder(server().url, "docs", server().key)
        for day in ("28", "29", "30"):
            for name in NAMES:
                recorder.record(id=f"table-{day}-{name}", caller=name, occurred_at=f"2026-03-{day}T12:00:00Z")
        self.assertTrue(recorder.close())

    def download(self) -> str:
        """The report in a file, as the sample for DuckDB reads one."""
        headers = {"Authorization": f"Bearer {server().reading_key}", "Accept": "text/csv"}
        path = self.folder / "counts.csv"
        with urlopen(Request(server().url + DAYS, headers=headers)) as answer:
            path.write_bytes(answer.read())
        return str(path)

    def expect(self, starts: list[Any], columns: dict[str, list[int]]) -> None:
        self.assertEqual([start.isoformat() for start in starts], STARTS)
        for name in NAMES:
            self.assertEqual(columns[f"caller.{name}"], [1, 1, 1])
        parts = [counts for column, counts in columns.items() if column.startswith("caller.") or column == "(rest)"]
        self.assertEqual(columns["total"], [sum(row) for row in zip(*parts)])

    def test_pandas(self) -> None:
        code = sample("reading.md", r"<!-- pandas -->\n```py \[pandas\]")
        names: dict[str, Any] = {}
        exec(re.sub(r'"https:.*?"', repr(self.download()), code), names)
        counts = names["counts"]
        self.expect(list(counts["start"]), {name: list(counts[name]) for name in counts.columns if name not in ("start", "end")})
        self.assertEqual(str(counts["start"].dtype).split(", ")[1], "Europe/Berlin]")

    def test_polars(self) -> None:
        code = sample("reading.md", r"<!-- polars -->\n```py \[polars\]")
        names: dict[str, Any] = {}
        exec(re.sub(r'"https:.*?"', repr(self.download()), code), names)
        counts = names["counts"]
        self.expect(list(counts["start"]), {name: list(counts[name]) for name in counts.columns if name not in ("start", "end")})

    def test_duckdb(self) -> None:
        code = sample("reading.md", r"<!-- duckdb -->\n```sql \[DuckDB, of a download\]")
        with duckdb.connect() as connection:
            answer = connection.execute(code.replace("counts.csv", self.download()))
            columns = [name for name, *_ in answer.description or []]
            rows = answer.fetchall()
        table = {name: [row[at] for row in rows] for at, name in enumerate(columns)}
        self.expect(table.pop("start"), {name: counts for name, counts in table.items() if name != "end"})

    def test_pandas_with_a_key(self) -> None:
        code = sample("reading.md", r"```py \[Python with pandas\]")
        code = code.replace("https://stats.example.org", server().url).replace("/demo/", "/docs/")
        for key in (server().reading_key, "cs_reading_x"):
            names: dict[str, Any] = {}
            with patch.dict(os.environ, {"CALLER_STATS_KEY": key}):
                if key == server().reading_key:
                    exec(code, names)
                    self.assertGreaterEqual(names["counts"]["total"].sum(), 3 * len(NAMES))
                    self.assertEqual(names["counts"]["start"].iloc[0].hour, 0)
                    continue
                with self.assertRaisesRegex(SystemExit, "API key"):
                    exec(code, names)

    def test_readers_see_all_columns(self) -> None:
        path = self.download()
        columns = list(pandas.read_csv(path).columns)
        self.assertEqual(columns, polars.read_csv(path).columns)
        self.assertEqual(len(columns), len(set(columns)))
