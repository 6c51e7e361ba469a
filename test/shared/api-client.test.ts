/** Requests to a server behind a proxy. `test/program/client/reader.test.ts` reads from a real server. */
import { expect, test } from 'vitest';
import { operationUrl, request } from '../../src/shared/api-client.js';
import { startHttpServer } from '../support/http-server.js';

const send = async (location: string | undefined, init: RequestInit, status = 308) => {
  const seen: unknown[] = [];
  const url = await startHttpServer(({ headers }, response) => {
    seen.push(headers.authorization);
    response.writeHead(status, location === undefined ? {} : { location }).end();
  });
  const sent = request({ fetch, now: Date.now }, operationUrl(url, 'docs', 'queries'), init);
  const error: unknown = await sent.catch((thrown: unknown) => thrown);
  expect(seen).toHaveLength(1);
  expect(error).toMatchObject({ name: 'CallerStatsError', status });
  return (error as Error).message.replace(url, '<server>');
};

const path = '/v1/analytics/docs/assistant/queries';
const inits: readonly RequestInit[] = [{ method: 'POST', body: '[]' }, {}];

test.each(inits)('%j: a redirect is not followed, and the error names its target', async (init) => {
  for (const status of [301, 302, 303, 307, 308]) {
    expect(await send(`https://stats.example.com/base${path}?token=a`, init, status)).toBe(
      `<server> redirects to https://stats.example.com/base${path}, and redirects are not followed. Use the address https://stats.example.com/base instead.`,
    );
  }
  expect(await send('/login?next=a', init)).toMatch(
    /^<server> redirects to http:\/\/127\.0\.0\.1:\d+\/login, and redirects are not followed\. Something else than caller-stats/,
  );
  expect(await send('https://sso.example.com/', init)).toContain(
    'redirects to https://sso.example.com/, and',
  );
});

test.each([undefined, 'http://[', ''])('a redirect to %j has no target', async (location) => {
  expect(await send(location, {})).toMatch(/^<server> redirects to /);
});
