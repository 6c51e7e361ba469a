"""Beginnings and ends of processes: forks, and all the ways in which Python's processes end.

``atexit`` does not run in the children of ``multiprocessing`` and Celery, at ``SIGTERM``, and in workers of uWSGI with threads.
"""

from __future__ import annotations

import _thread
import atexit
import os
import signal
import sys
import threading
import time
from typing import Any, NoReturn

from ._reports import call_safely, warn
from ._sender import Sender

_forks = 0
"""How many forks led to this process. The child of a fork may have the process id of its parent in another container."""
_senders: list[tuple[Sender, float]] = []
"""The senders of this process that may have something to send, and for how long each may take at the end."""
_ending_since: float | None = None
_hooked: Any = None
"""The process in which the hooks for its end are set."""


def current_process() -> tuple[int, int]:
    """Differs in each process. The id is compared as well, because uWSGI runs no hooks for forks."""
    return (os.getpid(), _forks)


def is_ending() -> bool:
    return _ending_since is not None


def seconds_left(seconds: float) -> float:
    """What is left of the seconds that the end may take."""
    return seconds if _ending_since is None else max(0.0, _ending_since + seconds - time.monotonic())


def watch(sender: Sender, seconds: float) -> None:
    """Lets the sender send what is left when the process ends."""
    _senders.append((sender, seconds))
    # Again, because the child of a fork has none.
    hook_term()
    _hook_ends()


def forget(sender: Sender) -> None:
    _senders[:] = [entry for entry in _senders if entry[0] is not sender]


def finish_all() -> None:
    """Sends what is left. Called at each end that is known, so it may be called twice."""
    global _ending_since
    if _ending_since is None:
        _ending_since = time.monotonic()
    here = current_process()
    senders = [entry for entry in list(_senders) if entry[0].process == here]
    for sender, seconds in senders:
        sender.begin_finish(seconds_left(seconds))
    for sender, seconds in senders:
        sender.end_finish(sender.flush(seconds_left(seconds)))


def hook_term() -> None:
    """Handles ``SIGTERM`` if nothing else does, as ``multiprocessing.Pool`` and servers that re-raise it expect.

    Servers in C handle it without telling Python.
    """
    if "uwsgi" in sys.modules or "mod_wsgi" in sys.modules:
        return
    try:
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, _on_term)
    except (ValueError, AttributeError):
        pass


def _on_term(number: int, _frame: Any) -> None:
    global _ending_since
    if _comes_again(number):
        return
    finish_all()
    # The first process of a container does not end by this.
    _ending_since = None
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _comes_again(number: int) -> bool:
    """Lets the main thread leave what it does with a sender's lock first: the sender's thread needs it to send what is left."""
    held = [sender for sender, _ in _senders if sender.is_held_here()]
    if not held or not hasattr(signal, "pthread_kill"):
        return False

    def again() -> None:
        for sender in held:
            sender.wait_until_free()
        signal.pthread_kill(threading.main_thread().ident or 0, number)

    try:
        _thread.start_new_thread(again, ())
    except RuntimeError:
        return False
    return True


def _hook_ends() -> None:
    """Sets the hooks that do not outlive a fork, or belong to modules that may be imported late."""
    global _hooked
    here = current_process()
    if _hooked == here:
        return
    _hooked = here
    for name in ("multiprocessing.util", "billiard.util"):
        util = sys.modules.get(name)
        if util is not None:
            # After everything else that ends there.
            call_safely(lambda util=util: util.Finalize(None, finish_all, exitpriority=-1000))
    celery = sys.modules.get("celery.signals")
    if celery is not None:
        call_safely(lambda: celery.worker_process_shutdown.connect(_on_celery_shutdown, weak=False))
    uwsgi = sys.modules.get("uwsgi")
    if uwsgi is not None:
        call_safely(_hook_uwsgi, uwsgi)
    if "rq.worker" in sys.modules:
        _hook_exit()


def _on_celery_shutdown(**_: Any) -> None:
    finish_all()


def _hook_exit() -> None:
    """The process in which RQ runs a job ends by ``os._exit`` and calls nothing before that."""
    leave = os._exit

    def finish_and_leave(status: int) -> NoReturn:
        finish_all()
        leave(status)

    os._exit = finish_and_leave


def _hook_uwsgi(uwsgi: Any) -> None:
    before = getattr(uwsgi, "atexit", None)

    def end() -> None:
        finish_all()
        if before is not None:
            before()

    uwsgi.atexit = end
    if not (uwsgi.opt.get("enable-threads") or uwsgi.opt.get("threads")):
        warn("uWSGI runs no threads, so queries are sent when a worker ends. Set enable-threads = true.")
    if uwsgi.opt.get("die-on-term"):
        # It calls no hook of a worker that is busy, which one that has just answered still is.
        warn(
            "uWSGI with die-on-term may end a worker without sending its queries; without a spool, they are lost. "
            "Set hook-master-start = unix_signal:15 gracefully_kill_them_all instead."
        )


_masks = threading.local()


def _before_fork() -> None:
    # Python forgets a signal that reaches the child before that runs, and a pool that is terminated waits for the child for ever.
    # What is blocked arrives later.
    if signal.getsignal(signal.SIGTERM) is _on_term:
        _masks.before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})


def _unmask() -> None:
    before = vars(_masks).pop("before", None)
    if before is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _after_fork() -> None:
    global _forks, _ending_since
    _forks += 1
    _ending_since = None
    # Objects of the parent: their locks may be held for ever, and what they hold is the parent's to send.
    for sender, _ in _senders:
        sender.abandon()
    _senders.clear()
    # There is nothing to send yet. Until there is, the end must not wait for Python: a pool may end it within a system call.
    if signal.getsignal(signal.SIGTERM) is _on_term:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _unmask()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_unmask, after_in_child=_after_fork)
atexit.register(finish_all)
