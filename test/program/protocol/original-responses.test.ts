/**
 * Clients of the first version receive, byte for byte, what they received before time zones, periods, comparison and callers
 * existed, but for two messages that name what was added, one that ended with two stops, and `Strict-Transport-Security`, which
 * plain HTTP must not have. `test/samples/original-responses.json` has the responses of commit
 * ae41749, the last one without them, without their time.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { dayMs } from '../../../src/domain/time/duration.js';
import { type KeyName, type Service, sharedService, startMs } from '../../support/http/http.js';

interface Exchange {
  /** The lines of the request. `{name}` is a key of the tests. */
  readonly request: readonly string[];
  readonly response: readonly string[];
}

const exchanges = JSON.parse(
  readFileSync(new URL('../../samples/original-responses.json', import.meta.url), 'utf8'),
) as readonly Exchange[];

const callers = ['web', 'api', 'slack', 'web', 'sdk-python'];

async function prepare({ store, addKey }: Service): Promise<void> {
  const queries = Array.from({ length: 50 }, (_, at) => ({
    id: `${at}`,
    caller: callers[at % callers.length] ?? '',
    occurredAt: startMs - at * dayMs,
  }));
  await store.counts.record('docs', queries);
  elsewhere = await addKey('elsewhere', { type: 'admin', allow: ['192.0.2.0/24'] });
}

let elsewhere = '';

/** Two messages list what a request can have, so they name what was added. */
const ADDED: readonly (readonly [original: string, now: string])[] = [
  [
    'there are dateFrom, dateTo',
    'there are dateFrom, dateTo, period, timeZone, weekStart, compare, caller, asOf',
  ],
  ['of type admin; the one', 'of type admin or reading; the one'],
];

/** The response with those messages, and the length that they have. */
function withAdded(original: readonly string[]): string[] {
  const response = original.filter((line) => !line.startsWith('strict-transport-security:'));
  const body = response.at(-1) ?? '';
  const longer = ADDED.reduce((text, [original, now]) => text.replaceAll(original, now), body);
  if (longer === body) return [...response];
  const length = `content-length: ${Buffer.byteLength(longer)}`;
  return [...response.slice(0, -1).map((line) => (/^content-length:/i.test(line) ? length : line)), longer];
}

/** Sends a request and reads all bytes until the server closes the connection. */
async function exchange(service: Service, request: readonly string[]): Promise<string[]> {
  const keys: Record<string, string> = { ...service.keys, elsewhere };
  const bytes = [...request, 'Connection: close', '', ''].join('\r\n');
  const socket = connect(Number(new URL(await service.origin()).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write(bytes.replace(/\{(\w+)\}/, (_, name: KeyName) => keys[name] ?? ''));
  return (await text(socket)).replace(/^Date: .*$/im, 'Date: …').split('\r\n');
}

test('only two messages have changed', () => {
  const changed = exchanges.filter(({ response }) => withAdded(response).at(-1) !== response.at(-1));
  expect(changed).toHaveLength(2);
});

test('the samples have each status of the operation', () => {
  const statuses = exchanges.map(({ response: [status = ''] }) => status.split(' ')[1]);
  expect([...new Set(statuses)].sort()).toEqual(['200', '400', '401', '403', '404', '405']);
});

// At `trace`, the framework answers all requests. They are sent in order, because responses count failed ones.
describe.each(['info', 'trace'] as const)('with the log level %s', (logLevel) => {
  const service = sharedService({ logLevel, limits: { failuresPerMinute: 600 } }, prepare);
  test('the responses are the same bytes', async () => {
    for (const { request, response } of exchanges)
      expect(await exchange(service(), request), request.join('\n')).toEqual(withAdded(response));
  });
});
