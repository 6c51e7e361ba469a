// The SDK of OpenTelemetry for Go. What its exporter gives up is in the log of the application, which the ledger stands for.
package main

import (
	"context"
	"os"
	"sync"
	"time"

	"caller-stats/bench/soak/senders/ledger"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/trace"
	api "go.opentelemetry.io/otel/trace"
)

// teller writes down what the exporter says.
type teller struct {
	trace.SpanExporter
	// waiting has what has ended and was not exported yet.
	waiting sync.Map
}

func (tell *teller) ExportSpans(ctx context.Context, spans []trace.ReadOnlySpan) error {
	err := tell.SpanExporter.ExportSpans(ctx, spans)
	for _, span := range spans {
		id := span.Attributes()[1].Value.AsString()
		tell.waiting.Delete(id)
		if err != nil {
			ledger.Write("lost", []string{id}, "the exporter gave up: "+err.Error())
		}
	}
	return err
}

func main() {
	ctx := context.Background()
	exporter, err := otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL(os.Getenv("URL")+"/v1/traces"),
		otlptracehttp.WithHeaders(map[string]string{"authorization": "Bearer " + os.Getenv("KEY")}))
	if err != nil {
		panic(err)
	}
	tell := &teller{SpanExporter: exporter}
	provider := trace.NewTracerProvider(trace.WithBatcher(tell, trace.WithBatchTimeout(time.Second)))
	tracer := provider.Tracer("assistant")
	ledger.Run(
		func(id string) {
			tell.waiting.Store(id, true)
			_, span := tracer.Start(ctx, "chat", api.WithAttributes(
				attribute.String("gen_ai.operation.name", "chat"), attribute.String("caller_stats.id", id)))
			span.End()
		},
		func() {
			provider.Shutdown(ctx)
			tell.waiting.Range(func(id, _ any) bool {
				ledger.Write("lost", []string{id.(string)}, "the process ended before the exporter was done")
				return true
			})
		},
	)
}
