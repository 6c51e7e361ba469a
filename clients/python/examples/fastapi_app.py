"""Counts the questions of an assistant in FastAPI: ``uvicorn fastapi_app:app``."""

import os
from collections.abc import AsyncIterator

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

from caller_stats import AsgiQuestions, Recorder

recorder = Recorder(
    os.environ.get("CALLER_STATS_URL"),
    os.environ.get("CALLER_STATS_PROJECT"),
    os.environ.get("CALLER_STATS_RECORDING_KEY"),
)
app = FastAPI()
app.add_middleware(
    AsgiQuestions,  # type: ignore[arg-type]
    recorder=recorder,
    is_question=lambda scope: scope["path"] == "/ask",
    id=lambda scope: scope["state"].get("message_id"),
    site_origins=["https://docs.example.com"],
    caller_header="x-caller",
)


@app.post("/ask")
async def ask(request: Request) -> StreamingResponse:
    message = await request.json()
    request.state.message_id = message["id"]

    async def answer() -> AsyncIterator[str]:
        yield "Answer "
        yield f"to {message['id']}"

    return StreamingResponse(answer())
