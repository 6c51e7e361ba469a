"""A span processor that lets each span tell what its question is: needs the package ``opentelemetry-sdk``.

``provider.add_span_processor(QuestionSpanProcessor())``, before the one that exports.
"""

from __future__ import annotations

from opentelemetry import baggage, trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor

NAMES = ("caller_stats.id", "caller_stats.caller", "caller_stats.ignore")
_REQUEST = ("http.request.header.", "user_agent.original", "http.user_agent")


class QuestionSpanProcessor(SpanProcessor):
    """Copies what tells the question of a span from the baggage, or else from the span above it.

    That is its id, its caller and whether it is to be ignored, and of the request its captured headers and user agent. So a
    span counts alike if it arrives without those above it. What a span says itself, stays.
    """

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        own = span.attributes or {}
        parent = trace.get_current_span(parent_context)
        above = (parent.attributes or {}) if isinstance(parent, ReadableSpan) else {}
        for name in NAMES:
            value = baggage.get_baggage(name, parent_context)
            if value is None:
                value = above.get(name)
            if name not in own and isinstance(value, (str, bool)):
                span.set_attribute(name, value)
        for name, value in above.items():
            if name.startswith(_REQUEST) and name not in own:
                span.set_attribute(name, value)
