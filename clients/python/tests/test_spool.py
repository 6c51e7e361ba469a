"""What a process leaves behind is counted when the next one starts."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
import unittest
import unittest.mock
from typing import Any

from caller_stats import Recorder
from caller_stats._spool import Spool

from .support import PRELUDE, PROJECT, REPOSITORY, Front, RecordingTest, cut, end, free_port, parsed, reply, server

ADOPT = "recorder = make(spool=os.environ['SPOOL'], close_timeout=50); time.sleep(.3); sys.exit(not recorder.close())"


def queries(count: int, start: int = 0) -> list[Any]:
    return [(f"query-{number}", "web", "2026-01-01T00:00:00.000Z") for number in range(start, start + count)]


class FolderTest(RecordingTest):
    """The spool itself."""

    def setUp(self) -> None:
        super().setUp()
        self.path = self.folder / "spool"

    def open(self) -> Spool:
        spool = Spool(str(self.path), PROJECT)
        self.addCleanup(spool.close)
        return spool

    def adopted(self, spool: Spool) -> list[Any]:
        found: list[Any] = []
        spool.adopt(lambda queries: found.extend(queries) or len(found))
        return found

    def lines(self) -> int:
        return sum(len(file.read_text().splitlines()) for file in self.path.glob("*.ndjson"))

    def test_a_folder_in_a_missing_folder_or_a_file_is_refused(self) -> None:
        with self.assertRaises(FileNotFoundError):
            Recorder(server().url, PROJECT, server().key, spool=self.folder / "not" / "there")
        self.path.write_text("")
        with self.assertRaises(NotADirectoryError):
            Recorder(server().url, PROJECT, server().key, spool=self.path)

    def test_only_the_owner_reads_it(self) -> None:
        spool = self.open()
        spool.append(queries(1)[0], 0)
        for path in (self.path, *self.path.iterdir()):
            self.assertEqual(stat.S_IMODE(path.stat().st_mode) & 0o077, 0)

    def test_one_of_several_adopts_what_an_owner_left(self) -> None:
        first = self.open()
        for number, query in enumerate(queries(5)):
            first.append(query, number)
        others = [self.open() for _ in range(3)]
        self.assertEqual([self.adopted(one) for one in others], [[], [], []])
        first.settle(2)
        first.close()
        found = [self.adopted(one) for one in others]
        self.assertEqual(sorted(map(len, found)), [0, 0, 5])
        for one in others:
            one.settle(5)
        self.assertEqual(self.lines(), 0)

    def test_files_are_removed_when_their_queries_are_settled(self) -> None:
        spool = self.open()
        for number, query in enumerate(queries(25_000)):
            spool.append(query, number)
        self.assertEqual(len(list(self.path.glob("*.ndjson"))), 3)
        spool.settle(9_999)
        self.assertEqual(self.lines(), 25_000)
        spool.settle(20_000)
        self.assertEqual(self.lines(), 5_000)
        spool.settle(25_000)
        self.assertEqual(self.lines(), 0)
        spool.close()
        self.assertEqual(list(self.path.iterdir()), [])

    def test_an_owner_whose_lock_was_taken_goes_on_under_a_new_name(self) -> None:
        spool = self.open()
        spool.append(queries(1)[0], 0)
        [lock] = self.path.glob("*.lock")
        os.utime(lock, (0, time.time() - 61))
        other = self.open()
        self.assertEqual(self.adopted(other), queries(1))
        spool._beat_at = float("-inf")
        spool.append(queries(1, 1)[0], 1)
        self.assertEqual(len(list(self.path.glob("*.lock"))), 2)
        spool.settle(2)
        self.assertEqual(self.lines(), 1)

    def test_a_full_disk_cuts_at_most_a_line(self) -> None:
        spool = self.open()
        spool.append(queries(1)[0], 0)
        [file] = self.path.glob("*.ndjson")
        real = os.write

        def half(descriptor: int, data: bytes) -> int:
            if len(data) < 20:
                raise OSError(28, "No space left on device")
            return real(descriptor, data[: len(data) // 2])

        with unittest.mock.patch("os.write", half), self.assertRaises(OSError):
            spool.append(queries(1, 1)[0], 1)
        spool.append(queries(1, 2)[0], 2)
        spool.close()
        self.assertEqual(self.adopted(self.open()), queries(1) + queries(1, 2))
        self.assertFalse(file.exists())


class KilledTest(RecordingTest):
    def away(self) -> str:
        return f"http://127.0.0.1:{free_port()}"

    def left_by(self, code: str, how: Any, url: str = "") -> None:
        process = self.start(
            f"recorder = make(spool=os.environ['SPOOL'])\n{code}\nprint('ready', flush=True)\ntime.sleep(60)",
            url or self.away(),
        )
        self.wait_for(process, "ready")
        how(process)
        process.wait(30)

    def adopt(self) -> None:
        self.run_program(ADOPT)

    def test_killed(self) -> None:
        self.left_by("record(recorder, 50)", lambda process: process.kill())
        self.adopt()
        self.assertEqual(self.counted(), 50)
        self.assertEqual(list((self.folder / "spool").iterdir()), [])

    def test_killed_while_the_server_answers(self) -> None:
        self.left_by("record(recorder, 30000)", lambda process: process.kill(), server().url)
        # One that ends before it has read all leaves the rest to the next.
        for _ in range(20):
            self.adopt()
            if not list((self.folder / "spool").iterdir()):
                break
        self.assertEqual(self.counted(), 30_000)

    def test_frozen_and_killed(self) -> None:
        def freeze(process: Any) -> None:
            os.kill(process.pid, signal.SIGSTOP)
            process.kill()

        self.left_by("record(recorder, 50)", freeze)
        self.adopt()
        self.assertEqual(self.counted(), 50)

    def test_os_exit_of_children_and_daemons(self) -> None:
        self.run_program(
            """
recorder = make(spool=os.environ["SPOOL"]); record(recorder, 5)
for _ in range(4):
    child = os.fork()
    if child == 0:
        record(recorder, 5)
        os._exit(0)
    os.waitpid(child, 0)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        record(recorder, 5)
        time.sleep(.2)
    os._exit(0)
os.wait()
os._exit(0)
""",
            self.away(),
        )
        time.sleep(1)
        self.adopt()
        self.assertEqual(self.counted(), 30)

    def test_sigterm_while_the_server_is_away(self) -> None:
        process = self.start(
            """
recorder = make(spool=os.environ["SPOOL"], close_timeout=.3)
record(recorder, 50)
print("ready", flush=True)
time.sleep(60)
""",
            self.away(),
        )
        self.wait_for(process, "ready")
        process.terminate()
        _, errors = process.communicate(timeout=30)
        self.assertIn("50 queries are not counted (spooled): sent by the next process that has the spool", errors)
        self.adopt()
        self.assertEqual(self.counted(), 50)

    def test_two_containers_with_one_process_id(self) -> None:
        """Both are killed while the server is away. A third process, in a container of its own, sends what they left."""
        unshare = ["unshare", "--map-root-user", "--user", "--pid", "--fork", "--kill-child", "--mount-proc"]
        # Where that is not allowed, at least the folder is shared.
        container = unshare if subprocess.run([*unshare, "true"], capture_output=True).returncode == 0 else []
        code = """
record(recorder, 50, sys.argv[1])
assert os.getpid() == 1 or sys.argv[2] == "0"
print("ready", flush=True)
time.sleep(60)
"""
        real, processes = sys.executable, []
        for name in "ab":
            file = self.folder / f"{name}.py"
            file.write_text(f"{PRELUDE}recorder = make(spool=os.environ['SPOOL']){code}")
            process = subprocess.Popen(
                [*container, real, file, name, str(len(container))],
                env=self.environment(self.away()),
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            self.addCleanup(end, process)
            self.wait_for(process, "ready")
            processes.append(process)
        for process in processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(30)
        file = self.folder / "third.py"
        file.write_text(PRELUDE + ADOPT)
        subprocess.run([*container, real, file], env=self.environment(), check=True, timeout=60)
        self.assertEqual(self.counted(), 100)

    def test_javascript_and_python_share_a_folder(self) -> None:
        """Each sends what the other left."""
        dist = REPOSITORY / "clients" / "javascript" / "dist"
        program = f"""
import {{ createRecorder }} from {json.dumps(str(dist / "index.js"))};
import {{ openSpool }} from {json.dumps(str(dist / "spool.js"))};
const {{ URL: url, PROJECT: projectId, KEY: key, CALLER: caller, SPOOL }} = process.env;
const recorder = createRecorder({{ url, projectId, key, spool: openSpool(SPOOL) }});
"""
        leave = program + "for (let at = 0; at < 20; at++) recorder.record({ id: `${caller}-js-${at}`, caller });"
        node = ["node", "--input-type=module", "--eval"]
        subprocess.run([*node, leave + "process.kill(process.pid, 'SIGKILL');"], env=self.environment(self.away()))
        self.adopt()
        self.assertEqual(self.counted(), 20)
        self.left_by("record(recorder, 50)", lambda process: process.kill())
        subprocess.run([*node, program + "await recorder.close();"], env=self.environment(), check=True)
        self.assertEqual(self.counted(), 70)

    def test_a_running_process_adopts_too(self) -> None:
        front = Front(self, lambda *_: True)
        with (
            unittest.mock.patch("caller_stats._sender.BEAT", 0.1),
            unittest.mock.patch("caller_stats._spool.BEAT", 0.1),
        ):
            with Recorder(front.url, PROJECT, server().key, spool=self.folder / "spool") as recorder:
                self.left_by("record(recorder, 50)", lambda process: process.kill())
                deadline = time.monotonic() + 30
                while recorder.stats.recorded < 50 and time.monotonic() < deadline:
                    time.sleep(0.05)
        self.assertEqual(self.counted(), 50)

    def test_a_spool_that_fails_is_named_and_queries_are_sent(self) -> None:
        with self.assertLogs("caller_stats", "WARNING") as logged:
            with Recorder(server().url, PROJECT, server().key, spool=self.folder / "spool") as recorder:
                # At once: the recorder's thread may just be making a file in it.
                (self.folder / "spool").rename(self.folder / "gone")
                recorder.record(f"{self.caller}-1", self.caller)
        self.assertRegex(logged.output[0], "the spool failed: .*No such file.*Queries are sent, but a crash loses them.")
        self.assertEqual(self.counted(), 1)

    def test_refused_queries_leave_the_spool(self) -> None:
        def answer(handler: Any, number: int) -> bool:
            bad = [at for at, one in enumerate(parsed(front.requests[number])) if one["id"].endswith("bad")]
            details = [{"message": f"queries[{at}]: id: is bad"} for at in bad]
            return not bad or reply(handler, 400, json.dumps({"error": "No.", "details": details}))

        front = Front(self, lambda handler, number: answer(handler, number) if number else cut(handler))
        drops: list[str] = []
        with Recorder(
            front.url,
            PROJECT,
            server().key,
            spool=self.folder / "spool",
            on_drop=lambda *all: drops.append(all[1]),
            on_error=lambda _: None,
        ) as recorder:
            for number in range(5):
                recorder.record(f"{self.caller}-{number}-{'bad' if number in (1, 2, 4) else 'good'}", self.caller)
            self.assertTrue(recorder.flush(30))
            self.assertEqual("".join(file.read_text() for file in (self.folder / "spool").glob("*.ndjson")), "")
        self.assertEqual((drops, self.counted()), (["refused"] * 3, 2))
