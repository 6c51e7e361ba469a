"""What the client for Python costs: bench/clients.ts."""

import gc
import json
import os
import sys
import time
import uuid

from caller_stats import Recorder

url, project, key = sys.argv[1:]
quiet = {"queue_max": 1_000_000, "on_error": lambda error: None, "on_drop": lambda *dropped: None}
rows = 100_000


def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# First, while the process is small.
away = Recorder("http://127.0.0.1:9", project, key, **quiet)
before = resident()
for _ in range(rows):
    away.record(str(uuid.uuid4()), "web")
size = resident() - before
away.close(0)

recorder = Recorder(url, project, key, **quiet)
ids = [str(uuid.uuid4()) for _ in range(rows)]
times = []
started = time.perf_counter()
for id in ids:
    at = time.perf_counter_ns()
    recorder.record(id, "web")
    times.append(time.perf_counter_ns() - at)
while not recorder.flush():
    pass
seconds = time.perf_counter() - started
times.sort()
print(json.dumps({"median": times[rows // 2], "p99": times[rows * 99 // 100], "rate": rows / seconds, "bytes": size}))
recorder.close()
