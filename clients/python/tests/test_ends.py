"""How processes begin and end: what they recorded is counted."""

import signal

from .support import RecordingTest


class EndsTest(RecordingTest):
    def test_script(self) -> None:
        self.run_program("recorder = make(); record(recorder, 1500)")
        self.assertEqual(self.counted(), 1500)

    def test_exception_and_exit(self) -> None:
        self.run_program("recorder = make(); record(recorder, 3); sys.exit(4)", status=4)
        self.run_program("recorder = make(); record(recorder, 3); raise RuntimeError", status=1)
        self.assertEqual(self.counted(), 6)

    def test_threads(self) -> None:
        self.run_program(
            """
recorder = make()
threads = [threading.Thread(target=record, args=(recorder, 200, f"t{n}"), daemon=n % 2 == 0) for n in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""
        )
        self.assertEqual(self.counted(), 1600)

    def test_recorded_in_atexit(self) -> None:
        self.run_program(
            """
import atexit
recorder = None
atexit.register(lambda: record(recorder, 5, "last"))
import caller_stats.recorder
atexit.register(lambda: record(recorder, 5, "first"))
recorder = make()
"""
        )
        self.assertEqual(self.counted(), 10)

    def test_recorded_in_atexit_after_others(self) -> None:
        self.run_program(
            """
recorder = make(); record(recorder, 5, "before")
import atexit, caller_stats._processes as processes
atexit.unregister(processes.finish_all)
atexit.register(lambda: record(recorder, 7))
atexit.register(processes.finish_all)
"""
        )
        self.assertEqual(self.counted(), 12)

    def test_asyncio(self) -> None:
        self.run_program(
            """
async def main():
    async with make() as recorder:
        record(recorder, 20)
        assert await recorder.aflush()
        record(recorder, 20, "more")
asyncio.run(main())
left = make(); record(left, 1, "left")
"""
        )
        self.assertEqual(self.counted(), 41)

    def test_sigterm(self) -> None:
        # Each wait is short, because a signal that comes just before one is handled after it.
        for wait in ("time.sleep(1)", "asyncio.run(asyncio.sleep(1))", "threading.Event().wait(1)"):
            process = self.start(
                f"""
recorder = make()
record(recorder, 1)
time.sleep(.3)
record(recorder, 4, "b")
print("ready", flush=True)
for _ in range(60):
    {wait}
"""
            )
            self.wait_for(process, "ready")
            process.terminate()
            self.assertEqual(process.wait(30), -signal.SIGTERM)
        self.assertEqual(self.counted(), 15)

    def test_sigterm_while_the_spool_is_written(self) -> None:
        self.run_program(
            """
recorder = make(spool=os.environ["SPOOL"])
real, main = os.write, threading.main_thread()
def write(file, data):
    if b"-last-" in data and threading.current_thread() is main:
        signal.raise_signal(signal.SIGTERM)
    return real(file, data)
os.write = write
record(recorder, 5)
record(recorder, 1, "last")
for _ in range(60):
    time.sleep(1)
""",
            status=-signal.SIGTERM,
        )
        self.assertEqual(self.counted(), 6)

    def test_sigterm_that_the_program_handles_is_left_alone(self) -> None:
        process = self.start(
            """
signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))
recorder = make(); record(recorder, 5); print("ready", flush=True)
# Python calls no handler for a signal that arrives right before a sleep until that is over.
for _ in range(60):
    time.sleep(1)
"""
        )
        self.wait_for(process, "ready")
        process.terminate()
        self.assertEqual(process.wait(30), 3)
        self.assertEqual(self.counted(), 5)

    def test_signals_that_end_a_process_are_for_the_main_thread(self) -> None:
        """If another thread gets one, uWSGI ends the process twice at once."""
        self.run_program(
            """
ends = {signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM}
recorder = make(); record(recorder, 5)
assert signal.pthread_sigmask(signal.SIG_BLOCK, ends) == set()
for number in ends:
    signal.signal(number, signal.SIG_DFL)
    # It would end the process if the recorder's thread got it.
    os.kill(os.getpid(), number)
assert signal.sigpending() == ends
assert recorder.flush()
os._exit(0)
"""
        )
        self.assertEqual(self.counted(), 5)

    def test_uwsgi(self) -> None:
        """It handles signals without Python, calls only its own hook at the end, and may run no threads."""
        logged = self.run_program(
            """
import types
uwsgi = sys.modules["uwsgi"] = types.SimpleNamespace(opt={"die-on-term": True}, atexit=lambda: print("before"))
recorder = make()
assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
record(recorder, 5)
uwsgi.atexit()
os._exit(0)
"""
        )
        self.assertRegex(logged, "Set enable-threads = true.*\n.*die-on-term.*gracefully_kill_them_all")
        self.assertEqual(self.counted(), 5)

    def test_job_of_rq(self) -> None:
        self.run_program("sys.modules['rq.worker'] = sys; recorder = make(); record(recorder, 5); os._exit(0)")
        self.assertEqual(self.counted(), 5)

    def test_handler_of_a_signal_records_during_record(self) -> None:
        for spool in ("None", "os.environ['SPOOL']"):
            self.run_program(
                f"""
recorder = make(spool={spool})
import itertools
numbers = itertools.count()
def handle(*_):
    recorder.record(f"{{CALLER}}-{{os.getpid()}}-signal-{{next(numbers)}}", CALLER)
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, .0005, .0005)
record(recorder, 20_000)
signal.setitimer(signal.ITIMER_REAL, 0)
seen = next(numbers)
assert seen > 5, seen
assert recorder.flush(60)
assert recorder.stats[1:4] == (20_000 + seen, 0, 0), (recorder.stats, seen)
"""
            )


class ForksTest(RecordingTest):
    def test_os_fork(self) -> None:
        self.run_program(
            """
recorder = make(); record(recorder, 5)
children = []
for _ in range(5):
    child = os.fork()
    if child == 0:
        record(recorder, 5)
        sys.exit()
    children.append(child)
for child in children:
    os.waitpid(child, 0)
record(recorder, 5, "after")
"""
        )
        self.assertEqual(self.counted(), 35)

    def test_fork_without_hooks(self) -> None:
        """As in uWSGI. Python itself hangs in such a child if a thread of the parent was about to run."""
        self.run_program(
            """
import ctypes
recorder = make(spool=os.environ["SPOOL"]); record(recorder, 5)
recorder.flush(); time.sleep(.3)
child = ctypes.PyDLL(None).fork()
record(recorder, 5, "both")
if child:
    os.waitpid(child, 0)
"""
        )
        self.assertEqual(self.counted(), 15)

    def test_fork_during_the_first_look_up(self) -> None:
        self.run_program(
            """
import socket
real = socket.getaddrinfo
def slow(*arguments, **named):
    time.sleep(.2)
    return real(*arguments, **named)
socket.getaddrinfo = slow
os.environ["URL"] = os.environ["URL"].replace("127.0.0.1", "localhost")
recorder = make(); record(recorder, 5)
time.sleep(.05)
child = os.fork()
record(recorder, 5, "both")
if child:
    os.waitpid(child, 0)
"""
        )
        self.assertEqual(self.counted(), 15)

    def test_multiprocessing(self) -> None:
        for method in ("fork", "spawn", "forkserver"):
            self.run_program(
                f"""
import multiprocessing
recorder = make()
def work(name):
    record(recorder, 5, name)
    return name
if __name__ == "__main__":
    context = multiprocessing.get_context("{method}")
    children = [context.Process(target=work, args=(f"{method}{{n}}",)) for n in range(3)]
    [child.start() for child in children]
    [child.join() for child in children]
    assert [child.exitcode for child in children] == [0, 0, 0]
    record(recorder, 5, "parent")
"""
            )
        self.assertEqual(self.counted(), 60)

    def test_child_that_is_terminated_before_it_runs(self) -> None:
        self.run_program(
            """
recorder = make()
record(recorder, 5, "parent")
children = []
for n in range(100):
    children.append(os.fork())
    if children[-1] == 0:
        while True:
            time.sleep(0.1)
    os.kill(children[-1], signal.SIGTERM)
ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
assert ends == [-signal.SIGTERM] * 100, ends
assert signal.SIGTERM not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
"""
        )
        self.assertEqual(self.counted(), 5)

    def test_pool_that_is_terminated(self) -> None:
        for method in ("fork", "spawn"):
            self.run_program(
                f"""
import multiprocessing
recorder = make()
def work(name):
    record(recorder, 5, name)
    return name
if __name__ == "__main__":
    record(recorder, 5, "parent")
    with multiprocessing.get_context("{method}").Pool(3) as pool:
        pool.map(work, [f"{method}{{n}}" for n in range(20)])
"""
            )
        self.assertEqual(self.counted(), 210)

    def test_executor(self) -> None:
        self.run_program(
            """
import concurrent.futures
recorder = make()
def work(name):
    record(recorder, 5, name)
if __name__ == "__main__":
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        list(pool.map(work, [f"n{n}" for n in range(10)]))
"""
        )
        self.assertEqual(self.counted(), 50)
