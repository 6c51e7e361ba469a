"""What every sender writes down before anything can end it: a line for each query that it was asked, kept or lost."""

import os
import random
import signal
import sys
import time

NAME, LEDGER = os.environ["NAME"], os.environ["LEDGER"]


def write(word, ids, why=""):
    with open(LEDGER, "a") as ledger:
        ledger.write("".join(f"{word} {id} {why}".replace("\n", " ") + "\n" for id in ids))


def run(ask, end):
    """Asks until SIGTERM, and then ends."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    number = 0
    try:
        while True:
            ids = [f"{NAME}-{number + at}" for at in range(random.randint(1, 3))]
            number += len(ids)
            write("asked", ids)
            for one in ids:
                ask(one)
            write("kept", ids)
            time.sleep(0.7)
    finally:
        end()
