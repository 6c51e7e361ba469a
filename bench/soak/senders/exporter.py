"""The SDK of OpenTelemetry for Python. What its exporter gives up is in the log of the application, which the ledger stands for."""

import logging
import os

from ledger import run, write
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult

# What has ended and was not exported yet.
waiting = set()
log = []


class Tell(OTLPSpanExporter):
    def export(self, spans, *args, **options):
        log.clear()
        result = super().export(spans, *args, **options)
        ids = [span.attributes["caller_stats.id"] for span in spans]
        waiting.difference_update(ids)
        if result is not SpanExportResult.SUCCESS:
            write("lost", ids, f"the exporter gave up: {log[-1:]}")
        return result


class Handler(logging.Handler):
    def emit(self, record):
        log.append(record.getMessage())


logging.basicConfig(handlers=[Handler()])
exporter = Tell(
    f"{os.environ['URL']}/v1/traces", headers={"authorization": f"Bearer {os.environ['KEY']}"}
)
provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=1000))
tracer = provider.get_tracer("assistant")


def ask(id):
    waiting.add(id)
    attributes = {"gen_ai.operation.name": "chat", "caller_stats.id": id}
    tracer.start_span("chat", attributes=attributes).end()


def end():
    provider.shutdown()
    write("lost", list(waiting), "the process ended before the exporter was done")


run(ask, end)
