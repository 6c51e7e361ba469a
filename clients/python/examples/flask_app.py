"""Counts the questions of an assistant in Flask: ``gunicorn flask_app:app``."""

import os

from flask import Flask, request

from caller_stats import Recorder, WsgiQuestions

recorder = Recorder(
    os.environ.get("CALLER_STATS_URL"),
    os.environ.get("CALLER_STATS_PROJECT"),
    os.environ.get("CALLER_STATS_RECORDING_KEY"),
    spool=os.environ.get("CALLER_STATS_SPOOL"),
)
app = Flask(__name__)
app.wsgi_app = WsgiQuestions(  # type: ignore[method-assign]
    app.wsgi_app,
    recorder,
    is_question=lambda environ: environ["PATH_INFO"] == "/ask",
    id=lambda environ: environ.get("docs.message_id"),
    site_origins=["https://docs.example.com"],
    caller_header="x-caller",
)


@app.post("/ask")
def ask() -> str:
    message = request.get_json()
    request.environ["docs.message_id"] = message["id"]
    return f"Answer to {message['id']}"
