"""The samples of the docs run as they are, with what they leave to the reader."""

from __future__ import annotations

import os
import re
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from opentelemetry.sdk.trace import TracerProvider

from caller_stats import Recorder

from .support import REPOSITORY, RecordingTest, server

PAGES = ("docs/guides/record/client.md", "clients/python/README.md")


class DocsTest(RecordingTest):
    def test_samples(self) -> None:
        texts = [(REPOSITORY / page).read_text(encoding="utf-8") for page in PAGES]
        samples = [sample for text in texts for sample in re.findall(r"```python.*?\n(.*?)```", text, re.DOTALL)]
        self.assertEqual(len(samples), 10)
        keys = {name: server().key for name in ("CALLER_STATS_RECORDING_KEY", "KEY")}
        with patch.dict(os.environ, {**keys, "CALLER_STATS_READING_KEY": server().reading_key}):
            for number, sample in enumerate(samples):
                with self.subTest(sample):
                    self.run_sample(sample, f"{self.caller}-{number}")

    def run_sample(self, sample: str, id: str) -> None:
        made = Recorder(server().url, "docs", server().key)
        names: dict[str, Any] = {
            "app": SimpleNamespace(wsgi_app=None, add_middleware=lambda kind, **options: kind(None, **options)),
            "get_asgi_application": lambda: None,
            "get_wsgi_application": lambda: None,
            "id": id,
            "is_question": None,
            "message": SimpleNamespace(id=id),
            "provider": TracerProvider(),
            "recorder": made,
            "request": SimpleNamespace(headers={"Origin": "https://docs.example.com"}),
            "rules": {},
        }
        code = sample.replace("https://stats.example.com", server().url)
        exec(code.replace("/var/lib/assistant/spool", str(self.folder / "spool")), names)
        recorder = names["recorder"]
        self.assertTrue(recorder.close() and made.close())
        if ".record(" in sample:
            self.assertEqual((recorder.stats.recorded, names.get("problems")), (1, [] if "problems" in sample else None))
