"""Counts questions that tasks of Celery answer: ``celery --app celery_app worker``."""

import os

from celery import Celery

from caller_stats import Recorder

app = Celery("questions", broker=os.environ.get("CELERY_BROKER_URL", "redis://127.0.0.1"))
recorder = Recorder(
    os.environ.get("CALLER_STATS_URL"),
    os.environ.get("CALLER_STATS_PROJECT"),
    os.environ.get("CALLER_STATS_RECORDING_KEY"),
)


@app.task
def answer(message_id: str, caller: str) -> None:
    recorder.record(message_id, caller)
