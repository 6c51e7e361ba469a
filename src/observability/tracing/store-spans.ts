import { type Context, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import { CallerStatsError } from '../../domain/errors.js';
import type { Store } from '../../storage/ports/store.js';

/** Adds a span `store.<method>` to each call of these parts of the store during a traced request. */
export function followStore(store: Store, tracer: Tracer, current: () => Context | undefined): Store {
  const follow = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...parameters: unknown[]) => {
          const call = (): unknown => Reflect.apply(value, target, parameters);
          const context = current();
          return context === undefined ? call() : spanned(tracer, `store.${String(name)}`, context, call);
        };
      },
    });
  return {
    counts: follow(store.counts),
    corrections: follow(store.corrections),
    history: store.history,
    directory: follow(store.directory),
    maintenance: follow(store.maintenance),
    users: store.users,
    throttles: store.throttles,
    ingestion: store.ingestion,
    identities: store.identities,
    notifications: store.notifications,
    close: () => store.close(),
  };
}

async function spanned(
  tracer: Tracer,
  name: string,
  context: Context,
  call: () => unknown,
): Promise<unknown> {
  const span = tracer.startSpan(name, {}, context);
  try {
    return await call();
  } catch (error) {
    // The message may contain a file or host name; the log has it.
    span.setAttribute('error.type', error instanceof CallerStatsError ? error.code : 'unexpected');
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}
