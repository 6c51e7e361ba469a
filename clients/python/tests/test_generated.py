"""Clients that generators for Python, Go and TypeScript make of the OpenAPI document record and read.

Schemathesis sends what the document allows, and what it does not.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from http import HTTPStatus
from pathlib import Path
from urllib.request import urlopen

from .support import PROJECT, REPOSITORY, RecordingTest, Server, server

GO_TEST = REPOSITORY / "test" / "generated"
TYPESCRIPT_TEST = GO_TEST / "typescript"
LIMIT = 170
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

# No pattern says which dates there are, or which parameters exclude each other. To protobuf's JSON, null is an empty list.
SCHEMATHESIS = f"""
[parameters]
"path.projectId" = "{PROJECT}"
[checks]
positive_data_acceptance.enabled = false
[[operations]]
include-path-regex = "^/v1/(traces|logs|metrics)$"
checks.negative_data_rejection.enabled = false
"""


class GeneratedTest(RecordingTest):
    def setUp(self) -> None:
        super().setUp()
        self.document = self.folder / "openapi.json"
        with urlopen(server().url + "/openapi.json") as answer:
            self.document.write_bytes(answer.read())

    def run_command(self, *command: str, folder: Path | None = None) -> str:
        done = subprocess.run(
            [shutil.which(command[0], path=PATH) or command[0], *command[1:]],
            capture_output=True,
            text=True,
            timeout=LIMIT,
            cwd=folder,
            # The generator formats with ruff.
            env=self.environment(READING_KEY=server().reading_key, PATH=PATH),
        )
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        return done.stdout

    def test_openapi_python_client(self) -> None:
        package = "generated_client"
        made = str(self.folder / package)
        self.run_command(
            "openapi-python-client", "generate", "--path", str(self.document), "--output-path", made, "--meta", "none"
        )
        sys.path.insert(0, str(self.folder))
        self.addCleanup(sys.path.remove, str(self.folder))
        load = importlib.import_module
        client = load(f"{package}.client").AuthenticatedClient
        models = load(f"{package}.models")
        recording = client(base_url=server().url, token=server().key)
        reading = client(base_url=server().url, token=server().reading_key)
        for one in (recording, reading):
            self.addCleanup(one.get_httpx_client().close)
        record = load(f"{package}.api.recording.record_queries")
        at = "2026-03-28T12:00:00Z"
        queries = [models.Query(id=f"{self.caller}-{number}", caller=self.caller, occurred_at=at) for number in (1, 2)]
        for recorded, duplicates in ((2, 0), (0, 2)):
            result = record.sync("docs", client=recording, body=queries)
            self.assertEqual((result.recorded, result.duplicates), (recorded, duplicates))
        stats = load(f"{package}.api.analytics.get_caller_stats")
        self.assertEqual(stats.sync("docs", client=reading, caller=self.caller).total, 2)
        series = load(f"{package}.api.analytics.get_caller_stats_series").sync(
            "docs", client=reading, date_from="2026-03-28", date_to="2026-03-31", caller=self.caller
        )
        self.assertEqual([bucket.total for bucket in series.buckets], [2, 0, 0])
        refused = stats.sync_detailed("docs", client=reading, date_from="2026-02-30")
        self.assertEqual(refused.status_code, HTTPStatus.BAD_REQUEST)
        self.assertIsInstance(refused.parsed, models.Error)
        self.assertIn("February", refused.parsed.details[0].message)

    def test_schemathesis(self) -> None:
        """The same requests in each run. They may correct everything, so the server is another one."""
        own = Server()
        self.addCleanup(own.remove)
        key = own.command("key", "create", "--name", "test", "--type", "admin")
        document = json.loads(self.document.read_bytes())
        for operations in document["paths"].values():
            for operation in operations.values():
                content = operation.get("requestBody", {}).get("content", {})
                # It writes only JSON.
                for other in content.keys() - {"application/json"}:
                    del content[other]
        self.document.write_text(json.dumps(document))
        (self.folder / "schemathesis.toml").write_text(SCHEMATHESIS)
        headers = ("--header", f"Authorization: Bearer {key}", "--header", f"caller-stats-project: {PROJECT}")
        limits = "--max-examples 5 --generation-deterministic --suppress-health-check all --request-timeout 60".split()
        self.run_command(
            "schemathesis", "run", "openapi.json", "--url", own.url, *headers, *limits, "--no-color", folder=self.folder
        )
        own.command("verify")

    def test_oapi_codegen(self) -> None:
        folder = self.folder / "generated"
        shutil.copytree(GO_TEST, folder, ignore=shutil.ignore_patterns("typescript"))
        options = ("-generate", "types,client", "-package", "generated", "-o", "client.gen.go", str(self.document))
        self.run_command("go", "tool", "oapi-codegen", *options, folder=folder)
        self.run_command("go", "test", "-count=1", "./...", folder=folder)

    def test_openapi_typescript_and_hey_api(self) -> None:
        self.run_command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", folder=TYPESCRIPT_TEST)
        folder = self.folder / "typescript"
        folder.mkdir()
        for name in ("package.json", "tsconfig.json", "use.mjs"):
            shutil.copy(TYPESCRIPT_TEST / name, folder)
        (folder / "node_modules").symlink_to(TYPESCRIPT_TEST / "node_modules")
        tools = folder / "node_modules" / ".bin"
        self.run_command(str(tools / "openapi-typescript"), str(self.document), "--output", "schema.ts", folder=folder)
        options = ("--input", str(self.document), "--output", "hey", "--client", "@hey-api/client-fetch")
        self.run_command(str(tools / "openapi-ts"), *options, folder=folder)
        self.run_command(str(tools / "tsc"), "--project", ".", folder=folder)
        runner = (REPOSITORY / "node_modules" / "tsx" / "dist" / "loader.mjs").as_uri()
        self.run_command("node", "--import", runner, "use.mjs", folder=folder)
