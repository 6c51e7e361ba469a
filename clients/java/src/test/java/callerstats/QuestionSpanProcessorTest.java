package callerstats;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.opentelemetry.api.baggage.Baggage;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.util.List;
import org.junit.jupiter.api.Test;

class QuestionSpanProcessorTest {
  private static final AttributeKey<List<String>> ORIGIN = AttributeKey.stringArrayKey("http.request.header.origin");

  private final InMemorySpanExporter exported = InMemorySpanExporter.create();
  private final Tracer tracer = SdkTracerProvider.builder()
      .addSpanProcessor(new QuestionSpanProcessor())
      .addSpanProcessor(SimpleSpanProcessor.create(exported))
      .build()
      .get("test");

  private Span start(Context context, Attributes attributes) {
    return tracer.spanBuilder("span").setParent(context).setAllAttributes(attributes).startSpan();
  }

  /** What is exported of a span that has only these attributes of its own. */
  private Attributes below(Context context, Attributes attributes) {
    start(context, attributes).end();
    var spans = exported.getFinishedSpanItems();
    return spans.get(spans.size() - 1).getAttributes().toBuilder().build();
  }

  private Context request(Attributes attributes) {
    return Context.root().with(start(Context.root(), attributes));
  }

  @Test
  void aSpanGetsWhatTheOneAboveSays() {
    Attributes said = Attributes.builder()
        .put("caller_stats.id", "m1")
        .put("caller_stats.caller", "slack")
        .put("caller_stats.ignore", true)
        .put(ORIGIN, List.of("https://docs.example.com"))
        .put("user_agent.original", "Slackbot 1.0")
        .build();
    Context request = request(said.toBuilder().put("http.route", "/ask").build());
    assertEquals(said, below(request, Attributes.empty()));
    // And so the one below that.
    assertEquals(said, below(Context.root().with(start(request, Attributes.empty())), Attributes.empty()));
  }

  @Test
  void baggageComesBeforeTheSpanAbove() {
    Baggage baggage = Baggage.builder().put("caller_stats.id", "m2").put("other", "x").build();
    Context request = request(Attributes.builder().put("caller_stats.id", "m1").build()).with(baggage);
    assertEquals(Attributes.builder().put("caller_stats.id", "m2").build(), below(request, Attributes.empty()));
    assertEquals(
        Attributes.builder().put("caller_stats.id", "m2").build(),
        below(Context.root().with(baggage), Attributes.empty()));
  }

  @Test
  void whatASpanSaysItselfStays() {
    Context request = request(Attributes.builder().put("caller_stats.id", "m1").put("caller_stats.ignore", "true").build());
    Attributes own = Attributes.builder().put("caller_stats.id", "m3").put("caller_stats.ignore", false).build();
    assertEquals(own, below(request, own));
  }

  @Test
  void aSpanOfAnotherProcessSaysNothing() {
    Context remote = Context.root().with(Span.wrap(start(Context.root(), Attributes.empty()).getSpanContext()));
    assertEquals(Attributes.empty(), below(remote, Attributes.empty()));
  }
}
