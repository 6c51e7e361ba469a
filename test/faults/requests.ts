/** Requests to a server. */

import type { Counts } from '../../src/domain/counting/counts.js';
import { withTotal, zeroCounts } from '../../src/domain/counting/counts.js';
import { ALL_TIME, type DateRange } from '../../src/domain/counting/date-range.js';
import { CALLER_TYPES, callerType } from '../../src/domain/queries/caller.js';
import type { RecordResult } from '../../src/storage/ports/store.js';
import { queriesOf } from './blocks.js';
import type { Delivery, Question } from './plan.js';

/** Longer than any deadline of the service. */
const hangMs = 90_000;

/** `lost`: there was no connection, or it broke. */
export interface Reply<T> {
  readonly status: number | 'lost' | 'hangs';
  /** Only of a 200. */
  readonly body: T | undefined;
}

export async function ask<T>(url: string, init: RequestInit = {}): Promise<Reply<T>> {
  try {
    const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(hangMs) });
    const text = await answer.text();
    return { status: answer.status, body: answer.status === 200 ? (JSON.parse(text) as T) : undefined };
  } catch (error) {
    return { status: (error as Error).name === 'TimeoutError' ? 'hangs' : 'lost', body: undefined };
  }
}

export function record(
  url: string,
  key: string,
  { project, blocks, form, altered }: Delivery,
): Promise<Reply<RecordResult>> {
  const { body, type } = bodyOf({ project, blocks, form, altered });
  return ask(`${url}/v1/analytics/${project}/assistant/queries`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': type },
    body,
  });
}

export function bodyOf({ project, blocks, form, altered }: Omit<Delivery, 'twice'>): {
  readonly body: string;
  readonly type: string;
} {
  const items = blocks.flatMap((block) =>
    queriesOf(project, block).map(({ id, caller, occurredAt }) =>
      JSON.stringify({
        id,
        caller: altered ? 'altered' : caller,
        occurredAt: new Date(occurredAt).toISOString(),
      }),
    ),
  );
  if (form === 'ndjson') return { body: items.join('\n'), type: 'application/x-ndjson' };
  return { body: items.length === 1 ? (items[0] ?? '') : `[${items.join(',')}]`, type: 'application/json' };
}

/** The counts of a range, from any of the three operations. */
export async function count(url: string, key: string, question: Question): Promise<Reply<Counts>> {
  const { project, view, range } = question;
  const base = `${url}/v1/analytics/${project}/assistant`;
  const init = { headers: { authorization: `Bearer ${key}` } };
  const bounds = new URLSearchParams(boundsOf(range));
  if (view === 'caller-stats') return ask<Counts>(`${base}/caller-stats?${bounds}`, init);
  if (view === 'callers') {
    const { status, body } = await ask<{ total: number; callers: { caller: string; count: number }[] }>(
      `${base}/callers?${bounds}`,
      init,
    );
    const counts = zeroCounts();
    for (const one of body?.callers ?? []) counts[callerType(one.caller)] += one.count;
    return { status, body: body && { ...counts, total: body.total } };
  }
  bounds.set('interval', 'day');
  bounds.set('timeZone', 'Europe/Berlin');
  const { status, body } = await ask<{ buckets: Counts[] }>(`${base}/caller-stats/series?${bounds}`, init);
  const counts = zeroCounts();
  for (const bucket of body?.buckets ?? []) for (const type of CALLER_TYPES) counts[type] += bucket[type];
  return { status, body: body && withTotal(counts) };
}

function boundsOf({ from, to }: DateRange): Record<string, string> {
  return {
    ...(from === ALL_TIME.from ? {} : { dateFrom: new Date(from).toISOString() }),
    ...(to === ALL_TIME.to ? {} : { dateTo: new Date(to).toISOString() }),
  };
}
