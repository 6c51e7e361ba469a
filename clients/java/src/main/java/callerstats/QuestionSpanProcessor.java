package callerstats;

import io.opentelemetry.api.baggage.Baggage;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Copies what tells the question of a span from the baggage, or else from the span above it.
 *
 * <p>That is its id, its caller and whether it is to be ignored, and of the request its captured headers and user agent. So a
 * span counts alike if it arrives without those above it. What a span says itself, stays.
 */
public final class QuestionSpanProcessor implements SpanProcessor {
  private static final List<String> NAMES = List.of("caller_stats.id", "caller_stats.caller", "caller_stats.ignore");

  @Override
  public void onStart(Context context, ReadWriteSpan span) {
    Set<String> own = new HashSet<>();
    span.getAttributes().forEach((key, value) -> own.add(key.getKey()));
    Baggage baggage = Baggage.fromContext(context);
    for (String name : NAMES) {
      String value = baggage.getEntryValue(name);
      if (value != null && own.add(name)) {
        span.setAttribute(name, value);
      }
    }
    Span above = Span.fromContext(context);
    if (above instanceof ReadableSpan) {
      ((ReadableSpan) above).getAttributes().forEach((key, value) -> {
        if (isInherited(key.getKey()) && own.add(key.getKey())) {
          copy(span, key, value);
        }
      });
    }
  }

  private static boolean isInherited(String name) {
    return NAMES.contains(name)
        || name.startsWith("http.request.header.")
        || name.equals("user_agent.original")
        || name.equals("http.user_agent");
  }

  /** The value of an attribute has the type of its key. */
  @SuppressWarnings("unchecked")
  private static <T> void copy(ReadWriteSpan span, AttributeKey<T> key, Object value) {
    span.setAttribute(key, (T) value);
  }

  @Override
  public boolean isStartRequired() {
    return true;
  }

  @Override
  public void onEnd(ReadableSpan span) {}

  @Override
  public boolean isEndRequired() {
    return false;
  }
}
