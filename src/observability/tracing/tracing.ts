/**
 * Sends OpenTelemetry traces: a span for each request and, within it, one for each call of the store. The library itself
 * reads the standard environment variables (endpoint, headers, sampling, service name). Loaded only if they name an endpoint.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  DiagLogLevel,
  defaultTextMapGetter,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from '../../domain/time/clock.js';
import { PROBES } from '../../http/admission/admission.js';
import type { RequestTracing } from '../../http/app.js';
import { onFinished } from '../../http/connection/connections.js';
import { withoutKeys } from '../../http/server/log.js';
import { withDeadline } from '../../shared/deadline.js';
import { createThrottledWarning } from '../../shared/throttled-log.js';
import type { Store } from '../../storage/ports/store.js';
import { followStore } from './store-spans.js';

export type TraceProtocol = 'http/protobuf' | 'http/json';

/** Probes are uninteresting. Tracing OTLP requests would never end if the server sent its traces to itself. */
const UNTRACED: readonly string[] = [...PROBES, '/v1/traces', '/v1/logs', '/v1/metrics'];

/** The deadline for sending the last spans when the server stops: a quick restart is more important. */
const lastSpansMs = 3000;

export interface TracingOptions {
  readonly protocol: TraceProtocol;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
}

export async function startTracing({ protocol, version, clock, log }: TracingOptions): Promise<Tracing> {
  const warnThrottled = createThrottledWarning(clock);
  const warn = (problem: string) => warnThrottled(log, { problem }, 'traces: OpenTelemetry complains');
  const nothing = () => undefined;
  diag.setLogger(
    { error: warn, warn, info: nothing, debug: nothing, verbose: nothing },
    { logLevel: DiagLogLevel.WARN },
  );
  const defaults = resourceFromAttributes({ 'service.name': 'caller-stats', 'service.version': version });
  const configured = detectResources({ detectors: [envDetector] });
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  const provider = new BasicTracerProvider({
    resource: defaultResource().merge(defaults).merge(configured),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  return new Tracing(provider, provider.getTracer('caller-stats', version));
}

export class Tracing implements RequestTracing {
  readonly #provider: BasicTracerProvider;
  readonly #tracer: Tracer;
  readonly #propagator = new W3CTraceContextPropagator();
  readonly #current = new AsyncLocalStorage<Context | undefined>();
  readonly #contexts = new WeakMap<FastifyRequest, Context>();

  constructor(provider: BasicTracerProvider, tracer: Tracer) {
    this.#provider = provider;
    this.#tracer = tracer;
  }

  watch(app: FastifyInstance): void {
    app.addHook('onRequest', (request, reply, done) => {
      this.#current.run(this.#begin(request, reply), done);
    });
    // Body events come from the connection and lose the request's context.
    app.addHook('preValidation', (request, _reply, done) => {
      this.#current.run(this.#contexts.get(request), done);
    });
  }

  /** The store, with a span for each call during a traced request. */
  follow(store: Store): Store {
    return followStore(store, this.#tracer, () => this.#current.getStore());
  }

  /** Sends the last spans, with a deadline. */
  async close(): Promise<void> {
    const timeoutError = () => new Error('spans were not sent in time');
    // The exporter has logged its errors.
    await withDeadline(lastSpansMs, timeoutError, () => this.#provider.shutdown()).catch(() => {});
  }

  #begin(request: FastifyRequest, reply: FastifyReply): Context | undefined {
    const { method, url, protocol, headers, raw } = request;
    const route = request.routeOptions.url;
    if (route !== undefined && UNTRACED.includes(route)) return undefined;
    const parent = this.#propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
    // Semantic conventions for HTTP. No address, query string or headers, for privacy.
    const attributes = {
      'http.request.method': method,
      'url.scheme': protocol,
      'url.path': withoutKeys(url.split('?', 1)[0] ?? ''),
      ...(route === undefined ? {} : { 'http.route': route }),
    };
    const name = route === undefined ? method : `${method} ${route}`;
    const span = this.#tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent);
    onFinished(raw, reply.raw, () => finish(span, reply));
    const context = trace.setSpan(parent, span);
    this.#contexts.set(request, context);
    return context;
  }
}

function finish(span: Span, { raw: { headersSent, statusCode } }: FastifyReply): void {
  if (headersSent) {
    span.setAttribute('http.response.status_code', statusCode);
    if (statusCode >= 500) {
      span.setAttribute('error.type', String(statusCode));
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
  }
  span.end();
}
