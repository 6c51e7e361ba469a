/** Clients of several languages read every refusal of a large body, however they send it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findClients, type LargeRequest } from '../support/clients/clients.js';
import { REFUSALS, startRefusing } from '../support/clients/refusals.js';

const megabyte = 1_000_000;

describe('large bodies', () => {
  const refusing = startRefusing();

  test('are refused so that every client reads it', { timeout: 1_800_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'caller-stats-test-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const { clients, missing } = findClients(folder);
    if (missing.length > 0)
      process.stderr.write(`Not tried, because this machine does not have it: ${missing.join(', ')}.\n`);
    for (const { name, canExpect, send } of clients) {
      const asked = REFUSALS.flatMap((what, at) => {
        const { status, request } = refusing(what);
        return (at === 0 ? [11, 30, 100] : [30]).flatMap((megabytes) =>
          variants(canExpect).map(({ headers, framing }) => ({
            title: `${what}, ${megabytes} MB, ${framing}, ${Object.values(headers).join()}`,
            status,
            request: {
              ...request,
              framing,
              headers: { ...request.headers, ...headers },
              bytes: megabytes * megabyte,
            },
          })),
        );
      });
      const answers = await send(asked.map(({ request }): LargeRequest => request));
      const failures = asked.flatMap(({ title, status }, at) => {
        const { status: got, body = '' } = answers[at] ?? {};
        return got === status && /^\{"(error|web)":/.test(body) ? [] : [`${title}: ${got} ${body}`];
      });
      expect({ name, failures }).toEqual({ name, failures: [] });
      process.stdout.write(`${name}: ${asked.length} responses were read.\n`);
    }
  });
});

/** The ways to send a body. */
function variants(canExpect: boolean) {
  const headers: Record<string, string>[] = [{}, { Connection: 'close' }];
  if (canExpect) headers.push({ Expect: '100-continue' });
  return headers.flatMap((more) =>
    (['length', 'chunked'] as const).map((framing) => ({ headers: more, framing })),
  );
}
