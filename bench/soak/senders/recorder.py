"""The client for Python."""

import os

from caller_stats import Recorder
from ledger import run, write


def dropped(queries, code, message):
    # The next process has it.
    if code != "spooled":
        write("lost", [query.id for query in queries], f"{code}: {message}")


recorder = Recorder(
    os.environ["URL"],
    os.environ["PROJECT"],
    os.environ["KEY"],
    on_drop=dropped,
    on_error=lambda error: None,
    spool=os.environ.get("SPOOL"),
)
run(lambda id: recorder.record(id, "api"), recorder.close)
