"""What the assistants do. The first word of a question says which scenario it is."""

import asyncio
import os
from threading import Lock, Thread
from time import sleep
from typing import Any, Callable, Coroutine, Iterable, Iterator

from opentelemetry import trace

_loops: dict[int, asyncio.AbstractEventLoop] = {}
_lock = Lock()


def wait_for(work: Coroutine[Any, Any, Any]) -> Any:
    """Runs it on the event loop of the process, in the context of whoever calls, as the clients of SDKs stay with one loop."""
    with _lock:
        loop = _loops.get(os.getpid())
        if loop is None:
            loop = _loops[os.getpid()] = asyncio.new_event_loop()
            Thread(target=loop.run_forever, daemon=True).start()
    return asyncio.run_coroutine_threadsafe(work, loop).result()


def search(query: str = "") -> str:
    """Searches the documentation."""
    # Longer than the exporter waits: what came before is sent while the tool runs.
    sleep(int(os.environ["TOOL_MS"]) / 1000)
    return "npm install"


def answers(
    ask: Callable[[str], str],
    stream: Callable[[str], Iterable[str]],
    tool: Callable[[str], str],
    team: Callable[[str], str],
) -> Callable[[str], Iterator[str]]:
    def write_title(question: str) -> None:
        with trace.get_tracer("assistant").start_as_current_span("title", attributes={"caller_stats.ignore": True}):
            ask(f"A title for: {question}")

    def answer(question: str) -> Iterator[str]:
        scenario = question.split()[0]
        if scenario == "stream":
            yield from stream(question)
        elif scenario == "title":
            titling = Thread(target=write_title, args=[question])
            titling.start()
            yield ask(question)
            titling.join()
        else:
            yield {"tool": tool, "team": team}.get(scenario, ask)(question)

    return answer
