package assistant;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import java.util.concurrent.CompletableFuture;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.stereotype.Component;

/** Does what the first word of a question says. */
@Component
class Answers {
  private final ChatClient chat;
  private final OpenTelemetry telemetry;

  Answers(ChatClient.Builder builder, OpenTelemetry telemetry) {
    this.chat = builder.build();
    this.telemetry = telemetry;
  }

  static class Search {
    @Tool(description = "Searches the documentation.")
    String search(String query) throws InterruptedException {
      // Longer than the exporter waits: what came before is sent while the tool runs.
      Thread.sleep(Long.parseLong(System.getenv("TOOL_MS")));
      return "npm install";
    }
  }

  class Research {
    @Tool(description = "Asks another agent.")
    String research(String query) {
      return call("Research");
    }
  }

  String answer(String question) {
    switch (question.split(" ")[0]) {
      case "stream":
        return String.join("", chat.prompt(question).stream().content().collectList().block());
      case "tool":
        return chat.prompt(question).tools(new Search()).call().content();
      case "team":
        return chat.prompt(question).tools(new Research()).call().content();
      case "title":
        var titling = CompletableFuture.runAsync(this::writeTitle);
        String answer = call(question);
        titling.join();
        return answer;
      default:
        return call(question);
    }
  }

  private String call(String question) {
    return chat.prompt(question).call().content();
  }

  private void writeTitle() {
    Span span = telemetry.getTracer("assistant").spanBuilder("title").setAttribute("caller_stats.ignore", true).startSpan();
    try (var scope = span.makeCurrent()) {
      call("A title");
    } finally {
      span.end();
    }
  }
}
