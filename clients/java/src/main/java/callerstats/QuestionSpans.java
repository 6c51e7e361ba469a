package callerstats;

import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizer;
import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizerProvider;

/** Adds the span processor to the agent of OpenTelemetry, and to an SDK that configures itself. */
public final class QuestionSpans implements AutoConfigurationCustomizerProvider {
  @Override
  public void customize(AutoConfigurationCustomizer customizer) {
    customizer.addTracerProviderCustomizer((provider, config) -> provider.addSpanProcessor(new QuestionSpanProcessor()));
  }
}
