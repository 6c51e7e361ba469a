/**
 * Uses the clients that openapi-typescript and hey-api make of the OpenAPI document: npm run test:clients. tsc checks it with their
 * types, so that a wrong type in the document is an error, too.
 */
import createClient from 'openapi-fetch';
import { createClient as createHeyClient } from './hey/client';
import { getCallerStats, getCallerStatsSeries, recordQueries } from './hey/sdk.gen';

const { process } = /** @type {{ process: { env: Record<string, string> } }} */ (
  /** @type {unknown} */ (globalThis)
);
const { URL: baseUrl = '', KEY = '', READING_KEY = '', CALLER = '' } = process.env;
const path = { projectId: 'docs' };
const range = { dateFrom: '2026-03-28', dateTo: '2026-03-31' };
const headersOf = (/** @type {string} */ key) => ({ authorization: `Bearer ${key}` });
const queriesOf = (/** @type {string} */ caller) =>
  [1, 2].map((number) => ({ id: `${caller}-${number}`, caller, occurredAt: '2026-03-28T12:00:00Z' }));

/** @param {unknown} found @param {unknown} wanted */
function expectEqual(found, wanted) {
  const [one, other] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (one !== other) throw new Error(`${one} instead of ${other}`);
}

const clientOf = (/** @type {string} */ key) =>
  /** @type {import('openapi-fetch').Client<import('./schema').paths>} */ (
    createClient({ baseUrl, headers: headersOf(key) })
  );

async function checkOpenapiTypescript() {
  const caller = `${CALLER}-ts`;
  const reader = clientOf(READING_KEY);
  for (const wanted of [
    { recorded: 2, duplicates: 0 },
    { recorded: 0, duplicates: 2 },
  ]) {
    const { data } = await clientOf(KEY).POST('/v1/analytics/{projectId}/assistant/queries', {
      params: { path },
      body: queriesOf(caller),
    });
    expectEqual(data, wanted);
  }
  const counts = '/v1/analytics/{projectId}/assistant/caller-stats';
  const { data } = await reader.GET(counts, { params: { path, query: { caller } } });
  expectEqual(data?.total, 2);
  const { data: series } = await reader.GET(`${counts}/series`, {
    params: { path, query: { ...range, interval: 'day', caller } },
  });
  expectEqual(
    series?.buckets.map(({ total }) => total),
    [2, 0, 0],
  );
  const { error, response } = await reader.GET(counts, {
    params: { path, query: { dateFrom: '2026-02-30' } },
  });
  expectEqual([response.status, error?.details?.[0]?.message.includes('February')], [400, true]);
}

async function checkHeyApi() {
  const caller = `${CALLER}-hey`;
  const client = createHeyClient({ baseUrl, headers: headersOf(READING_KEY) });
  const recording = createHeyClient({ baseUrl, headers: headersOf(KEY) });
  for (const wanted of [
    { recorded: 2, duplicates: 0 },
    { recorded: 0, duplicates: 2 },
  ]) {
    const { data } = await recordQueries({ client: recording, path, body: queriesOf(caller) });
    expectEqual(data, wanted);
  }
  const { data } = await getCallerStats({ client, path, query: { caller } });
  expectEqual(data?.total, 2);
  const { data: series } = await getCallerStatsSeries({
    client,
    path,
    query: { ...range, interval: 'day', caller },
  });
  expectEqual(
    series?.buckets.map(({ total }) => total),
    [2, 0, 0],
  );
  const { error, response } = await getCallerStats({ client, path, query: { dateFrom: '2026-02-30' } });
  expectEqual([response?.status, error?.details?.[0]?.message.includes('February')], [400, true]);
}

await checkOpenapiTypescript();
await checkHeyApi();
