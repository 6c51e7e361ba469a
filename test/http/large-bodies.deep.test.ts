/** Clients of several languages read every refusal of a large body, however they send it. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { findClients, type LargeRequest } from '../support/clients/clients.js';
import { REFUSALS, startRefusing } from '../support/clients/refusals.js';

const megabyte = 1_000_000;

const folder = mkdtempSync(join(tmpdir(), 'caller-stats-test-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
const { clients, missing } = findClients(folder);
if (missing.length > 0)
  process.stderr.write(`Not tried, because this machine does not have it: ${missing.join(', ')}.\n`);

describe.each(clients)('$name', ({ name, canExpect, send }) => {
  const refusing = startRefusing();

  test('reads every refusal of a large body', { timeout: 300_000 }, async () => {
    const asked = REFUSALS.flatMap((what) => {
      const { status, request } = refusing(what);
      // Some clients send no body with GET.
      if (request.method === 'GET' && ['fetch', 'HttpURLConnection'].includes(name)) return [];
      return (status === 413 ? [11, 30, 100] : [30]).flatMap((megabytes) =>
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
      // This client does not show the body of a 401 after it has sent a body.
      const hasBody =
        name === 'HttpURLConnection' && got === 401 ? body === '' : /^\{"(error|web)":/.test(body);
      return got === status && hasBody ? [] : [`${title}: ${got} ${body}`];
    });
    expect(failures).toEqual([]);
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
