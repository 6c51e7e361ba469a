/** The cases that the clients of all languages share. */
import { mkdirSync, readFileSync, readlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { backoffMs } from '../../clients/javascript/src/delivery.js';
import { type Query, type QueuedQuery, toQueuedQuery } from '../../clients/javascript/src/query.js';
import { isRejection } from '../../clients/javascript/src/reports.js';
import { openSpool } from '../../clients/javascript/src/spool.js';
import { parseQuery } from '../../src/domain/queries/query.js';
import { RequestError, request } from '../../src/shared/api-client.js';
import { answer } from '../support/client/client-platform.js';
import { ok, recorderWith } from '../support/client/client-recorder.js';
import { temporaryFolder } from '../support/temporary.js';
import { readVectors } from '../support/vectors.js';

interface QueryCase {
  readonly what: string;
  readonly id: unknown;
  readonly caller: unknown;
  readonly occurredAt?: unknown;
  readonly wrong?: string;
}

const queries = readVectors<{
  readonly cases: readonly QueryCase[];
  readonly clocks: readonly { readonly ms: number; readonly occurredAt: string }[];
}>('queries');

/** `a{3}` stands for `aaa`. */
function unfold(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return value.replace(/(.)\{(\d+)\}/gu, (_, letter: string, count: string) => letter.repeat(Number(count)));
}

describe('queries', () => {
  test.each(queries.cases.map((one) => [one.what, one] as const))('%s', (_what, one) => {
    const query = {
      ...one,
      id: unfold(one.id),
      caller: unfold(one.caller),
      occurredAt: unfold(one.occurredAt),
    };
    const queued = toQueuedQuery(query as Query, 0);
    const { id, caller, occurredAt } = query;
    const sent = { id, caller, ...(occurredAt !== undefined && { occurredAt }) };
    const parsed = parseQuery(sent, Date.UTC(2026, 5, 1));
    const told = [typeof queued === 'string' ? queued : '', parsed.ok ? '' : parsed.problems.join(' ')];
    expect(told.map((problem) => problem.split(':')[0])).toEqual([one.wrong ?? '', one.wrong ?? '']);
  });

  test.each(queries.clocks)('$occurredAt', ({ ms, occurredAt }) => {
    expect(toQueuedQuery({ id: '1', caller: 'web' }, ms)).toMatchObject({ occurredAt });
  });
});

interface Reply {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body: string;
}

const respond = ({ status, headers = {}, body }: Reply): Response =>
  new Response(status === 204 ? null : body, { status, headers });

describe('answers', () => {
  interface AnswerCase extends Reply {
    readonly what: string;
    readonly failures: number;
    readonly message: string | null;
    readonly waitMs: readonly [number, number] | null;
  }
  const { url, cases } = readVectors<{ readonly url: string; readonly cases: readonly AnswerCase[] }>(
    'answers',
  );
  const settings = { retryBaseMs: 500, retryMaxMs: 30_000 };

  test.each(cases.map((one) => [one.what, one] as const))('%s', async (_what, one) => {
    const transport = { fetch: async () => respond(one), now: () => Date.UTC(2026, 5, 1) };
    const error: unknown = await request(transport, url, {}).then(
      () => undefined,
      (cause: unknown) => cause,
    );
    const failed = error instanceof RequestError ? error : undefined;
    if (one.message === null) expect(error).toBeUndefined();
    else expect(failed).toMatchObject({ status: one.status, message: expect.stringContaining(one.message) });
    const waits =
      failed && !isRejection(failed)
        ? [0, 1].map((chance) => backoffMs(failed, one.failures, chance, settings))
        : null;
    expect(waits).toEqual(one.waitMs);
  });
});

type Rule = 'cut' | 'lost' | Reply | { refuse: string } | { only: string } | { atMost: number };

/** What a server with a rule answers. */
function follow(rule: Rule | undefined, init: RequestInit): Response {
  const sent = (JSON.parse(String(init.body)) as QueuedQuery[]).map(({ id }) => id);
  if (rule === 'cut' || rule === 'lost') throw new TypeError('fetch failed');
  if (rule === undefined) return ok(init);
  if ('status' in rule) return respond(rule);
  if ('atMost' in rule) return sent.length > rule.atMost ? answer(413, { error: 'Too large.' }) : ok(init);
  if ('only' in rule) return sent.includes(rule.only) ? answer(400, { error: 'No.' }) : ok(init);
  const details = sent.flatMap((id, at) =>
    rule.refuse.includes(id) ? [{ message: `queries[${at}]: id: is bad` }] : [],
  );
  return details.length > 0 ? answer(400, { error: 'No.', details }) : ok(init);
}

describe('deliveries', () => {
  interface DeliveryCase {
    readonly what: string;
    readonly answers: readonly Rule[];
    readonly always?: Rule;
    readonly recorded: string;
    readonly dropped: Record<string, string>;
  }
  const { cases } = readVectors<{ readonly cases: readonly DeliveryCase[] }>('deliveries');

  test.each(cases.map((one) => [one.what, one] as const))('%s', async (_what, one) => {
    const rules = one.answers.map((rule) => (init: RequestInit) => follow(rule, init));
    const { recorder, platform, sent, dropped } = recorderWith([
      ...rules,
      (init) => follow(one.always, init),
    ]);
    for (const id of ['a', 'b', 'c', 'd']) recorder.record({ id, caller: 'web' });
    await platform.until(recorder.flush({ timeoutMs: 600_000 }));
    const reasons = dropped.flatMap(({ ids, reason }) => ids.map((id) => [id, reason.code]));
    expect(Object.fromEntries(reasons)).toEqual(one.dropped);
    expect(recorder.stats).toMatchObject({ queued: 0, recorded: one.recorded.length });
    expect([...new Set(sent.flatMap(({ ids }) => ids))].sort().join('')).toBe('abcd');
  });
});

describe('spools', () => {
  interface SpoolCase {
    readonly what: string;
    readonly age?: number;
    readonly files: Record<string, string>;
    readonly found: readonly string[];
  }
  const { project, cases } = readVectors<{ readonly project: string; readonly cases: readonly SpoolCase[] }>(
    'spools',
  );
  const names: Record<string, string> = {
    '{A}': crypto.randomUUID(),
    '{B}': crypto.randomUUID(),
    '{me}': String(process.ppid),
    '{dead}': String(2 ** 22 + 1),
    '{here}': `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${readlinkSync('/proc/self/ns/pid')}`,
  };
  const fill = (text: string): string => text.replace(/\{\w+\}/g, (name) => names[name] ?? name);

  test.each(cases.map((one) => [one.what, one] as const))('%s', async (_what, one) => {
    const folder = join(await temporaryFolder(), 'spool');
    mkdirSync(folder);
    const then = new Date(Date.now() - (one.age ?? 0) * 1000);
    for (const [name, text] of Object.entries(one.files)) {
      const file = join(folder, fill(name));
      writeFileSync(file, fill(text));
      utimesSync(file, then, then);
    }
    const spool = openSpool(folder);
    onTestFinished(() => spool.close());
    expect(
      spool
        .load(project, () => {})
        .map(({ id }) => id)
        .sort(),
    ).toEqual(one.found);
  });
});
