"""The examples on real servers, which are stopped as soon as they have answered: all questions are counted.

Needs the packages of ``requirements.txt``.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from .support import HANGS, PROJECT, RecordingTest, end, free_port, server

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
QUESTIONS = 30


class ServersTest(RecordingTest):
    def launch(self, module: str, *arguments: str, **more: str) -> subprocess.Popen[bytes]:
        """Starts a program of a package."""
        variables = {
            "CALLER_STATS_URL": server().url,
            "CALLER_STATS_PROJECT": PROJECT,
            "CALLER_STATS_RECORDING_KEY": server().key,
        }
        log = open(self.folder / "log", "wb")
        self.addCleanup(log.close)
        process = subprocess.Popen(
            [*([sys.executable, "-m", module] if "/" not in module else [module]), *arguments],
            cwd=EXAMPLES,
            env={**os.environ, **variables, "PYTHONDONTWRITEBYTECODE": "1", **more},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        self.addCleanup(end, process)
        return process

    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def ask(self, url: str, number: int) -> None:
        headers = {"Content-Type": "application/json", "X-Caller": self.caller, "X-Request-Id": f"{self.caller}-{number}"}
        body = json.dumps({"id": f"{self.caller}-{number}"}).encode()
        with urlopen(Request(f"{url}/ask", body, headers), timeout=HANGS) as response:
            self.assertIn(b"Answer to", response.read())

    def asked(self, module: str, *arguments: str, accepting: int = 0) -> None:
        """Starts a server, asks it, and stops it at once, or when its log has so many lines "accepting". All are counted."""
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        process = self.launch(module, *[one.replace("{port}", str(port)) for one in arguments])
        for attempt in range(HANGS * 10):
            try:
                self.ask(url, 0)
                break
            except OSError:
                if process.poll() is not None or attempt == HANGS * 10 - 1:
                    self.fail(self.log())
                time.sleep(0.1)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda number: self.ask(url, number), range(1, QUESTIONS)))
        deadline = time.monotonic() + HANGS
        while self.log().splitlines().count("accepting") < accepting:
            self.assertLess(time.monotonic(), deadline, self.log())
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        process.wait(HANGS)
        self.assertEqual(self.counted(), QUESTIONS, self.log())

    def test_gunicorn(self) -> None:
        for workers in (["sync"], ["gthread", "--threads", "3"], ["gevent"]):
            for more in ([], ["--preload"]):
                with self.subTest(workers=workers, more=more):
                    self.setUp()
                    bind = ["--bind", "127.0.0.1:{port}", "--workers", "2", "--worker-class", *workers, *more]
                    self.asked("gunicorn", "flask_app:app", *bind)

    def test_uvicorn(self) -> None:
        for app in ("fastapi_app:app", "django_app:asgi"):
            for more in ([], ["--workers", "2"]):
                with self.subTest(app, more=more):
                    self.setUp()
                    self.asked("uvicorn", app, "--port", "{port}", *more)

    def test_django_on_gunicorn(self) -> None:
        self.asked("gunicorn", "django_app:wsgi", "--bind", "127.0.0.1:{port}", "--workers", "2")

    def test_celery(self) -> None:
        for pool in ("prefork", "threads", "solo"):
            with self.subTest(pool):
                self.setUp()
                self.answer_tasks(pool)

    def answer_tasks(self, pool: str) -> None:
        """Tasks go through a folder, without a broker."""
        for name in ("queue", "done"):
            (self.folder / name).mkdir()
        folders = {"data_folder_in": "queue", "data_folder_out": "queue", "processed_folder": "done", "control_folder": "done"}
        options = {name: str(self.folder / folder) for name, folder in folders.items()}
        config = self.folder / "transport.py"
        config.write_text(f"broker_transport_options = {options!r}\nworker_hijack_root_logger = False\n")
        environment = {"CELERY_BROKER_URL": "filesystem://", "PYTHONPATH": os.pathsep.join([str(self.folder), *sys.path])}
        config_option = ["--app", "celery_app", "--config", "transport"]
        send = (
            "import celery_app, sys\nfor number in range(30):\n celery_app.answer.delay(f'{sys.argv[1]}-{number}', sys.argv[1])"
        )
        subprocess.run(
            [sys.executable, "-c", f"import celery_app\ncelery_app.app.config_from_object('transport')\n{send}", self.caller],
            cwd=EXAMPLES,
            env={**os.environ, **environment},
            check=True,
            timeout=HANGS,
        )
        process = self.launch("celery", *config_option, "worker", "--pool", pool, "--concurrency", "2", **environment)
        deadline = time.monotonic() + HANGS
        while list((self.folder / "queue").glob("*.celery.msg")) and time.monotonic() < deadline:
            self.assertIsNone(process.poll(), self.log())
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        process.wait(HANGS)
        self.assertEqual(self.counted(), QUESTIONS, self.log())

    def test_uwsgi(self) -> None:
        """It runs no fork hooks, and handles signals without Python."""
        binary = str(Path(sys.executable).with_name("uwsgi"))
        for more in ([], ["--enable-threads"], ["--threads", "2"], ["--lazy-apps"], ["--lazy-apps", "--enable-threads"]):
            with self.subTest(more=more):
                self.setUp()
                bind = [
                    "--http-socket",
                    "127.0.0.1:{port}",
                    "--master",
                    "--hook-master-start",
                    "unix_signal:15 gracefully_kill_them_all",
                    # A worker that is stopped before it accepts stays.
                    "--hook-accepting",
                    "print:accepting",
                    "--processes",
                    "2",
                    *more,
                ]
                self.asked(binary, *bind, "--module", "flask_app:app", "--venv", sys.prefix, accepting=2)

    def redis(self) -> dict[str, str]:
        """A server that speaks the protocol of Redis, and jobs, in the environment of their programs."""
        from fakeredis import TcpFakeServer

        port = free_port()
        redis = TcpFakeServer(("127.0.0.1", port))
        self.addCleanup(redis.server_close)
        threading.Thread(target=redis.serve_forever, daemon=True).start()
        self.addCleanup(redis.shutdown)
        (self.folder / "jobs.py").write_text(JOBS)
        url = f"redis://127.0.0.1:{port}"
        return {"REDIS_URL": url, "RQ_REDIS_URL": url, "PYTHONPATH": os.pathsep.join([str(self.folder), *sys.path])}

    def send_jobs(self, send: str, environment: dict[str, str]) -> None:
        variables = {
            **os.environ,
            "CALLER_STATS_URL": server().url,
            "CALLER_STATS_PROJECT": PROJECT,
            "CALLER_STATS_RECORDING_KEY": server().key,
            **environment,
        }
        code = f"import os, jobs\nfor number in range({QUESTIONS}): {send}f'{self.caller}-{{number}}', '{self.caller}')"
        subprocess.run([sys.executable, "-c", code], env=variables, check=True, timeout=HANGS)

    def test_rq(self) -> None:
        """It forks a process for each job, which ends with ``os._exit``."""
        for worker in ("Worker", "SimpleWorker"):
            with self.subTest(worker):
                self.setUp()
                environment = self.redis()
                self.send_jobs("jobs.queue().enqueue(jobs.record, ", environment)
                process = self.launch("rq.cli", "worker", "--burst", "--worker-class", f"jobs.{worker}", **environment)
                self.assertEqual(process.wait(HANGS), 0, self.log())
                self.assertEqual(self.counted(), QUESTIONS, self.log())

    def test_dramatiq(self) -> None:
        environment = self.redis()
        self.send_jobs("jobs.actor.send(", environment)
        process = self.launch("dramatiq", "jobs", "--processes", "2", "--threads", "2", **environment)
        deadline = time.monotonic() + HANGS
        done = self.folder / "done"
        done.touch()
        while len(done.read_text()) < QUESTIONS:
            self.assertIsNone(process.poll(), self.log())
            self.assertLess(time.monotonic(), deadline, self.log())
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        process.wait(HANGS)
        self.assertEqual(self.counted(), QUESTIONS, self.log())


JOBS = """
import os
from caller_stats import Recorder

environ = os.environ
recorder = Recorder(environ["CALLER_STATS_URL"], environ["CALLER_STATS_PROJECT"], environ["CALLER_STATS_RECORDING_KEY"])

def record(id, caller):
    recorder.record(id, caller)
    with open(os.path.join(os.path.dirname(__file__), "done"), "a") as done:
        done.write(".")

def queue():
    import redis, rq
    return rq.Queue(connection=redis.Redis.from_url(environ["REDIS_URL"]))

import rq.worker

class Worker(rq.worker.Worker):
    # The server writes CLIENT INFO in a way that the package redis cannot read.
    def _set_ip_address(self, connection):
        self.ip_address = "unknown"

class SimpleWorker(Worker, rq.worker.SimpleWorker):
    pass

import dramatiq, dramatiq.brokers.redis
dramatiq.set_broker(dramatiq.brokers.redis.RedisBroker(url=environ["REDIS_URL"]))
actor = dramatiq.actor(record)
"""


class OpenTelemetryTest(RecordingTest):
    def test_spans_tell_their_question(self) -> None:
        from opentelemetry import baggage, context, trace
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

        from caller_stats.opentelemetry import QuestionSpanProcessor

        provider, exporter = TracerProvider(), InMemorySpanExporter()
        provider.add_span_processor(QuestionSpanProcessor())
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        tracer = provider.get_tracer("test")
        request: dict[str, Any] = {"user_agent.original": "Slackbot", "http.request.header.origin": ("https://docs.test",)}
        token = context.attach(baggage.set_baggage("caller_stats.ignore", "true"))
        with tracer.start_as_current_span("server", attributes={**request, "caller_stats.id": "m1", "prompt": "secret"}):
            with tracer.start_as_current_span("agent", attributes={"caller_stats.caller": "web"}):
                tracer.start_span("model", attributes={"caller_stats.id": "m2"}).end()
        context.detach(token)
        tracer.start_span("alone", context=trace.set_span_in_context(trace.INVALID_SPAN)).end()
        found = {span.name: dict(span.attributes or {}) for span in exporter.get_finished_spans()}
        ignored = {"caller_stats.ignore": "true"}
        self.assertEqual(found["agent"], {**request, **ignored, "caller_stats.id": "m1", "caller_stats.caller": "web"})
        self.assertEqual(found["model"], {**request, **ignored, "caller_stats.id": "m2", "caller_stats.caller": "web"})
        self.assertEqual(found["alone"], {})

    def test_spans_are_exported_over_grpc(self) -> None:
        from grpc import Compression
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        for compression in (Compression.NoCompression, Compression.Gzip):
            headers = {"authorization": f"Bearer {server().key}"}
            exporter = OTLPSpanExporter(server().url, headers=headers, compression=compression)
            provider = TracerProvider(shutdown_on_exit=False)
            provider.add_span_processor(BatchSpanProcessor(exporter, max_export_batch_size=16))
            attributes = {"gen_ai.operation.name": "chat", "caller_stats.caller": self.caller}
            for _ in range(QUESTIONS):
                provider.get_tracer("test").start_span("chat", attributes=attributes).end()
            self.assertTrue(provider.force_flush())
            provider.shutdown()
        self.assertEqual(self.counted(), 2 * QUESTIONS)
