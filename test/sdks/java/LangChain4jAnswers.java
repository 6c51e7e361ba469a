package assistant;

import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import dev.langchain4j.service.AiServices;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.springframework.stereotype.Component;

/** Does what the first word of a question says. */
@Component
class Answers {
  private static final String URL = System.getenv("OPENAI_BASE_URL");

  private final OpenTelemetry telemetry;
  private final OpenAiChatModel chat;
  private final OpenAiStreamingChatModel streaming;

  Answers(OpenTelemetry telemetry) {
    this.telemetry = telemetry;
    var spans = List.of(new ChatSpans(telemetry));
    chat = OpenAiChatModel.builder().baseUrl(URL).apiKey("none").modelName("gpt-5-mini").listeners(List.copyOf(spans)).build();
    streaming =
        OpenAiStreamingChatModel.builder().baseUrl(URL).apiKey("none").modelName("gpt-5-mini").listeners(List.copyOf(spans)).build();
  }

  interface Agent {
    String answer(String question);
  }

  static class Search {
    @Tool("Searches the documentation.")
    String search(String query) throws InterruptedException {
      // Longer than the exporter waits: what came before is sent while the tool runs.
      Thread.sleep(Long.parseLong(System.getenv("TOOL_MS")));
      return "npm install";
    }
  }

  class Research {
    @Tool("Asks another agent.")
    String research(String query) {
      return chat.chat("Research");
    }
  }

  String answer(String question) {
    switch (question.split(" ")[0]) {
      case "stream":
        return stream(question).join();
      case "tool":
        return AiServices.builder(Agent.class).chatModel(chat).tools(new Search()).build().answer(question);
      case "team":
        return AiServices.builder(Agent.class).chatModel(chat).tools(new Research()).build().answer(question);
      case "title":
        var titling = CompletableFuture.runAsync(this::writeTitle);
        String answer = chat.chat(question);
        titling.join();
        return answer;
      default:
        return chat.chat(question);
    }
  }

  private CompletableFuture<String> stream(String question) {
    var answer = new CompletableFuture<String>();
    streaming.chat(question, new StreamingChatResponseHandler() {
      @Override
      public void onCompleteResponse(ChatResponse response) {
        answer.complete(response.aiMessage().text());
      }

      @Override
      public void onError(Throwable error) {
        answer.completeExceptionally(error);
      }
    });
    return answer;
  }

  private void writeTitle() {
    Span span = telemetry.getTracer("assistant").spanBuilder("title").setAttribute("caller_stats.ignore", true).startSpan();
    try (var scope = span.makeCurrent()) {
      chat.chat("A title");
    } finally {
      span.end();
    }
  }
}
