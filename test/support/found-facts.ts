import fc from 'fast-check';
import type { FoundFacts } from '../../src/domain/queries/found-queries.js';
import { spanId, traceId } from './http/telemetry.js';

const nowMs = Date.parse('2026-06-15T12:00:00Z');

/** What a span may tell of a query, in a few traces that share ids, spans and answers. */
export const anyFact = fc
  .record({
    number: fc.integer({ min: 1, max: 3 }),
    entrySpan: fc.constantFrom(undefined, 1, 2, 3),
    inner: fc.subarray([1, 2, 3]),
    explicitId: fc.constantFrom(undefined, undefined, 'a', 'b'),
    responses: fc.subarray(['r1', 'r2']),
    kind: fc.constantFrom('named', 'hinted', 'plain', 'plain', 'request', 'ignored'),
    caller: fc.constantFrom('web', 'slack', 'bot'),
    isUnsure: fc.boolean(),
    agoMs: fc.nat({ max: 5 }),
  })
  .map(({ number, entrySpan, inner, explicitId, responses, kind, caller, isUnsure, agoMs }): FoundFacts => {
    const isRequest = kind === 'request';
    const isHinted = kind === 'hinted';
    const span = {
      ...(entrySpan === undefined ? { isUnsure } : { entrySpanId: spanId(entrySpan) }),
      innerSpanIds: inner.filter((one) => one !== entrySpan).map(spanId),
      ...{ responses, isIgnored: kind === 'ignored' },
    };
    return {
      keys: {
        ...{ traceId: traceId(number), service: 'docs' },
        explicitId,
        ...(isRequest ? { isRequest } : span),
      },
      caller: isRequest || isHinted || kind === 'named' ? caller : 'unknown',
      ...{ isNamed: isRequest || kind === 'named', isHinted },
      occurredAt: isRequest ? 0 : nowMs - agoMs,
    };
  });
