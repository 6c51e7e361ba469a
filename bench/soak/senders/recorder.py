"""The client for Python. Python's own handler of SIGTERM in the client closes the recorder."""

import os
import random
import signal
import sys
import time

from caller_stats import Recorder

NAME, LEDGER = os.environ["NAME"], os.environ["LEDGER"]


def write(word, ids, why=""):
    with open(LEDGER, "a") as ledger:
        ledger.write("".join(f"{word} {id} {why}".replace("\n", " ") + "\n" for id in ids))


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


def end(*_):
    recorder.close()
    sys.exit(0)


signal.signal(signal.SIGTERM, end)
number = 0
while True:
    ids = [f"{NAME}-{number + at}" for at in range(random.randint(1, 3))]
    number += len(ids)
    write("asked", ids)
    for one in ids:
        recorder.record(one, "api")
    write("kept", ids)
    time.sleep(0.7)
