"""Sends the queries of one recorder in one process: in order, in batches, one request at a time, by a thread.

Each batch is repeated until the server acknowledges it, which is safe because recording is idempotent. A query stays in the
queue until then. ``record`` may be called by any thread, by the handler of a signal during another ``record``, and at the
end of the process, so what it does without a spool needs no lock: it appends to a deque and releases a bell.
"""

from __future__ import annotations

import _thread
import contextlib
import gzip
import random
import re
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from ._http import Client
from ._query import Query, Queued, to_json, to_query
from ._reports import Reports, is_rejection, warn
from ._spool import BEAT, Spool
from .errors import CallerStatsError

_FOREVER = sys.maxsize
_RETRY_BASE = 0.5
_RETRY_MAX = 30.0
_LAST_TRY = 1.0
"""How long before the end of ``close`` the last try begins, if the server asked to wait for longer."""
_COMPRESSED_MIN = 1024
_ENCODED_AT_ONCE = 100
_FIND_REFUSED = re.compile(r"queries\[(\d+)\]")


class Settings(NamedTuple):
    operation: str
    """The URL to which queries are posted; empty if the recorder has no configuration."""
    url: str
    project_id: str
    key: str
    delay: float
    batch_max: int
    queue_max: int
    timeout: float
    spool: str | None


def seconds_to_retry(error: CallerStatsError, failures: int, chance: float) -> float:
    """Exponential backoff with full jitter, so that clients that failed together do not retry together.

    ``Retry-After`` is respected, plus jitter. A rejected key or project takes time to fix.

    :param failures: consecutive failures, at least 1
    :param chance: a random number from 0 to 1
    """
    if error.retry_after is not None:
        return error.retry_after + chance * _RETRY_BASE
    if error.status in (0, 408, 429) or error.status >= 500:
        return chance * min(_RETRY_MAX, _RETRY_BASE * 2.0 ** min(failures - 1, 10))
    return (1 + chance) * _RETRY_MAX / 2


@contextlib.contextmanager
def _without_ends() -> Iterator[None]:
    """Blocks the signals that end processes, also in a thread that is started meanwhile: they are for the main thread.

    uWSGI ends the process in the thread that gets one, and at the same time in its main thread, which does not wait for the
    first. Python wakes nobody if its main thread sleeps while another thread gets one.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    # Read before it is changed, because a handler that is due now may raise.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM])
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Sender:
    def __init__(self, settings: Settings, reports: Reports, process: tuple[int, int]) -> None:
        """Starts nothing, because of several that are made at once only one is used."""
        self.process = process
        self.recorded = self.duplicates = self.dropped = self.failures = 0
        self.is_over = False
        """Whether what is recorded now is lost: another took what was left."""
        self._settings = settings
        self._reports = reports
        self._queue: deque[Queued | None] = deque()
        """Oldest first. None is a query that was refused before older ones were settled."""
        self._head = 0
        """The number of the oldest query in the queue."""
        self._lock = threading.RLock()
        """Held to change what is at the head of the queue, and around the spool."""
        self._spool: Spool | None = None
        self._starts: list[None] = [None]
        """Whoever removes its element starts the thread; no lock could be taken by the handler of a signal."""
        self._bell: Any = None
        """A lock that the thread waits for and others release. Made with the thread, because gevent replaces locks."""
        self._wake_at = _FOREVER
        """How many queries must wait for ``record`` to ring the bell."""
        self._waiting: list[tuple[int, Any]] = []
        """Pending ``flush`` calls: the number of the first query that each does not wait for, and its event."""
        self._finish_at: float | None = None
        """While the recorder closes: when what is left will be dropped."""
        self._client: Client | None = None
        self._batch_max = self._size = settings.batch_max
        self._failures_in_row = 0
        self._sent_at = float("-inf")

    @property
    def queued(self) -> int:
        with self._lock:
            return len(self._queue) - self._queue.count(None)

    def open_spool(self) -> None:
        """Raises an ``OSError`` if the folder is not accessible."""
        if self._settings.spool is not None:
            with self._lock:
                self._spool = self._spool or Spool(self._settings.spool, self._settings.project_id)

    def start(self) -> bool:
        """Starts the thread unless it runs. Returns whether it runs; Python does not start threads when it exits."""
        if not self._starts:
            return True
        with _without_ends():
            try:
                self._starts.pop()
            except IndexError:
                return True
            try:
                if self._bell is None:
                    self._bell = threading.Lock()
                    self._bell.acquire()
                # `threading.Thread` would wait until it runs, which takes milliseconds on a busy machine.
                _thread.start_new_thread(self._run, ())
            except RuntimeError:
                self._starts.append(None)
                return False
        return True

    def take(self, query: Queued) -> bool:
        """Queues a query. Returns false if the queue is full."""
        queue = self._queue
        if len(queue) >= self._settings.queue_max:
            return False
        if self._spool is None:
            queue.append(query)
        else:
            with self._lock:
                queue.append(query)
                self._with_spool(lambda spool: spool.append(query, self._head + len(queue) - 1))
        if self._starts:
            self.start()
        if len(queue) >= self._wake_at:
            self._ring()
        return True

    def drop(self, queries: list[Queued], code: str, why: str) -> None:
        if queries:
            self.drop_as_given([to_query(query) for query in queries], code, why)

    def drop_as_given(self, queries: list[Query], code: str, why: str) -> None:
        with self._lock:
            self.dropped += len(queries)
        self._reports.dropped(queries, code, why)

    def wait_for(self, event: Any) -> bool:
        """Sets the event when all that is queued now is settled. Returns true if it is already."""
        # If the thread removes queries in between, this waits for newer ones, or until the queue is empty.
        length = len(self._queue)
        entry = (self._head + length, event)
        self._waiting.append(entry)
        if self._is_settled(entry[0]):
            self.stop_waiting(event)
            return True
        self._ring()
        return False

    def stop_waiting(self, event: Any) -> None:
        for entry in list(self._waiting):
            if entry[1] is event:
                self._remove_waiting(entry)

    def flush(self, seconds: float) -> bool:
        if not self._queue:
            return True
        if not self.start():
            self._work(time.monotonic() + seconds)
        event = threading.Event()
        if self.wait_for(event):
            return True
        try:
            return event.wait(min(seconds, threading.TIMEOUT_MAX))
        finally:
            self.stop_waiting(event)

    def begin_finish(self, seconds: float) -> None:
        """Retries soon from now on: these may be the last chances."""
        self._finish_at = time.monotonic() + seconds
        self._ring()

    def end_finish(self, is_sent: bool) -> bool:
        """After ``begin_finish`` and a ``flush`` with this result. Drops what is left."""
        if is_sent:
            self._finish_at = None
            return True
        with self._lock:
            had_spool = self._close_spool()
            left = self._take_left()
        if had_spool:
            self.drop(left, "spooled", "sent by the next process that has the spool")
        else:
            self.drop(left, "closed", "the recorder was closed before the server responded")
        return not left

    def finish(self, seconds: float) -> bool:
        """Flushes, then drops what is left. Returns whether everything was settled."""
        self.begin_finish(seconds)
        return self.end_finish(self.flush(seconds))

    def close(self) -> None:
        """Ends the thread and the spool, after ``finish``."""
        self.drop_late()
        with self._lock:
            self._close_spool()
        self._ring()

    def drop_late(self) -> None:
        """Drops what was queued while the recorder was closed."""
        self.drop(self._take_left(), "closed", "the recorder is closed")

    def is_held_here(self) -> bool:
        """Whether a signal has interrupted this thread while it held the lock."""
        return bool(self._lock._is_owned())  # type: ignore[attr-defined]

    def wait_until_free(self) -> None:
        with self._lock:
            pass

    def abandon(self) -> None:
        """Leaves everything to the parent of this process."""
        if self._spool is not None:
            self._spool.abandon()

    def _take_left(self) -> list[Queued]:
        with self._lock:
            self.is_over = True
            left: list[Queued] = []
            while self._queue:
                query = self._queue.popleft()
                self._head += 1
                if query is not None:
                    left.append(query)
        self._tell_waiting()
        return left

    def _is_settled(self, number: int) -> bool:
        return self._head >= number or not self._queue

    def _tell_waiting(self) -> None:
        for number, event in list(self._waiting):
            if self._is_settled(number):
                self._remove_waiting((number, event))
                event.set()

    def _remove_waiting(self, entry: tuple[int, Any]) -> None:
        try:
            self._waiting.remove(entry)
        except ValueError:
            pass  # Another thread did.

    def _ring(self) -> None:
        try:
            self._bell.release()
        except (AttributeError, RuntimeError, ValueError):
            pass  # There is no thread yet, or the bell rang already.

    def _rest(self, seconds: float | None, wake_at: int, is_idle: bool = True) -> None:
        """Waits until the bell rings, and looks after the spool."""
        self._wake_at = wake_at
        try:
            is_wanted = len(self._queue) >= wake_at or (is_idle and bool(self._waiting)) or self.is_over
            if not is_wanted:
                beat = BEAT if self._spool is not None else threading.TIMEOUT_MAX
                self._bell.acquire(timeout=min(beat if seconds is None else seconds, beat))
        finally:
            self._wake_at = _FOREVER
        if self._spool is not None:
            self._look_after_spool()

    def _run(self) -> None:
        threading.current_thread().name = "caller-stats"
        while True:
            try:
                if self._spool is not None:
                    self._adopt()
                self._work(None)
                return
            except Exception as error:
                # Nothing else sends what waits.
                warn(f"an error of the client: {error!r}. It goes on.")
                time.sleep(1)
            except BaseException:
                # gevent ends its threads so.
                self._starts.append(None)
                return

    def _work(self, until: float | None) -> None:
        """Sends what is queued until the recorder is closed; with ``until``, until the queue is empty or it is that late."""
        settings = self._settings
        while not self.is_over:
            if until is not None and (not self._queue or time.monotonic() >= until):
                return
            if not self._queue:
                self._rest(None, 1)
                continue
            # The first query after a pause goes at once, and others wait for each other.
            wait = self._sent_at + settings.delay - time.monotonic()
            is_hurried = bool(self._waiting) or self._finish_at is not None or until is not None
            if wait > 0 and len(self._queue) < self._size and not is_hurried:
                self._rest(wait, self._size)
                continue
            self._sent_at = time.monotonic()
            self._deliver(until)
        if self._client is not None:
            self._client.close()

    def _deliver(self, until: float | None) -> None:
        """Sends one batch and does what the answer asks for."""
        positions, queries = self._next_batch()
        if not queries:
            return
        try:
            recorded, duplicates = self._post(queries, until)
        except CallerStatsError as error:
            if self.is_over:
                return
            self.failures += 1
            self._reports.failed(error, self._finish_at is None)
            if is_rejection(error):
                self._refuse(positions, queries, error)
            else:
                self._failures_in_row += 1
                # For a busy server that asked to wait, smaller batches would be more work.
                if error.retry_after is None:
                    self._size = (len(queries) + 1) // 2
                self._back_off(error, until)
            return
        if self._settle(positions[-1] + 1):
            self.recorded += recorded
            self.duplicates += duplicates
        self._failures_in_row = 0
        self._size = min(2 * self._size, self._batch_max)
        self._reports.succeeded()

    def _next_batch(self) -> tuple[list[int], list[Queued]]:
        """The oldest queries, with their positions in the queue."""
        positions: list[int] = []
        queries: list[Queued] = []
        with self._lock:
            for at in range(len(self._queue)):
                query = self._queue[at]
                if query is not None:
                    positions.append(at)
                    queries.append(query)
                if len(queries) == self._size:
                    break
        return positions, queries

    def _settle(self, count: int) -> bool:
        """Removes the oldest entries of the queue, and refused ones behind them. Returns false if another took all."""
        with self._lock:
            if self.is_over:
                return False
            while count > 0 or (self._queue and self._queue[0] is None):
                self._queue.popleft()
                self._head += 1
                count -= 1
            self._with_spool(lambda spool: spool.settle(self._head))
        self._tell_waiting()
        return True

    def _refuse(self, positions: list[int], queries: list[Queued], error: CallerStatsError) -> None:
        """Drops the rejected queries, or makes the batch smaller to find them, or because it is too large."""
        refused: dict[int, str] = {}
        for detail in error.details:
            found = _FIND_REFUSED.match(detail)
            if found and int(found.group(1)) < len(queries):
                refused[int(found.group(1))] = detail
        if not refused and len(queries) == 1:
            refused[0] = str(error)
        if not refused:
            self._size = (len(queries) + 1) // 2
            if error.status == 413:
                self._batch_max = self._size
            return
        with self._lock:
            if self.is_over:
                return
            for at in refused:
                self._queue[positions[at]] = None
        # Told before flush and close return: the process may end then.
        for at, why in refused.items():
            self.drop([queries[at]], "refused", why)
        self._settle(0)

    def _back_off(self, error: CallerStatsError, until: float | None) -> None:
        """Waits for the next try. A recorder that is closed in the meantime tries again at once, and then soon."""
        now = time.monotonic()
        wait = seconds_to_retry(error, self._failures_in_row, random.random())
        was_finishing = self._finish_at is not None
        retry_at = now + wait
        end = until if until is not None else self._finish_at
        if end is not None:
            last = end - _LAST_TRY
            soon = now + min(wait, 1.0) if error.retry_after is None else (last if now < last else end)
            retry_at = min(retry_at, soon)
        while not self.is_over and (was_finishing or self._finish_at is None or until is not None):
            left = retry_at - time.monotonic()
            if left <= 0:
                return
            if until is not None:
                time.sleep(left)
            else:
                self._rest(left, _FOREVER, is_idle=False)

    def _post(self, queries: list[Queued], until: float | None) -> tuple[int, int]:
        settings = self._settings
        if self._client is None:
            self._client = Client(settings.url, settings.key)
        parts: list[str] = []
        for at in range(0, len(queries), _ENCODED_AT_ONCE):
            parts.extend(map(to_json, queries[at : at + _ENCODED_AT_ONCE]))
            # Lets other threads run, which would wait for 5 ms otherwise.
            time.sleep(0)
        body = f"[{','.join(parts)}]".encode()
        headers = {"Content-Type": "application/json"}
        if len(body) >= _COMPRESSED_MIN:
            body = gzip.compress(body, 6)
            headers["Content-Encoding"] = "gzip"
        seconds = settings.timeout
        if until is not None:
            seconds = max(0.01, min(seconds, until - time.monotonic()))
        answer = self._client.request("POST", settings.operation, headers, body, seconds)
        self._reports.key_expires(self._client.key_expires)
        counts = answer if isinstance(answer, dict) else {}
        recorded, duplicates = counts.get("recorded", 0), counts.get("duplicates", 0)
        if type(recorded) is int and type(duplicates) is int and recorded + duplicates == len(queries):
            return recorded, duplicates
        raise CallerStatsError("The server answered 200, but not for these queries.", status=200)

    def _adopt(self) -> None:
        def take(queries: list[Queued]) -> int:
            self._queue.extend(queries)
            return self._head + len(self._queue)

        with self._lock:
            self._with_spool(lambda spool: spool.adopt(take))

    def _look_after_spool(self) -> None:
        is_due = False
        with self._lock:
            if self._spool is None:
                return
            try:
                is_due = self._spool.beat()
            except OSError:
                pass  # Appending reports problems of the disk.
        if is_due and len(self._queue) < self._settings.queue_max:
            self._adopt()

    def _close_spool(self) -> bool:
        """Closes the spool without removing its queries. Returns whether there was one."""
        had = self._spool is not None
        self._with_spool(lambda spool: spool.close())
        self._spool = None
        return had

    def _with_spool(self, use: Any) -> None:
        """Uses the spool. A failing spool, such as a full disk, must not stop sending."""
        if self._spool is not None:
            try:
                use(self._spool)
            except OSError as error:
                self._reports.failed(error)
