import { type Context, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import { CallerStatsError } from '../../domain/errors.js';
import type { Store } from '../../storage/ports/store.js';

/** A store whose methods make spans, named `store.` and their name, below that of the `current` request; without one, none. */
export function followStore(store: Store, tracer: Tracer, current: () => Context | undefined): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function' || name === 'readSync') return value;
      return (...parameters: unknown[]) => {
        const call = (): unknown => Reflect.apply(value, target, parameters);
        const context = current();
        return context === undefined ? call() : spanned(tracer, `store.${String(name)}`, context, call);
      };
    },
  });
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
    // Its own words may name a file or a host; the log has them.
    span.setAttribute('error.type', error instanceof CallerStatsError ? error.code : 'unexpected');
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}
