/** Scopes, allowed addresses and lifetimes of keys. */
import { describe, expect, test } from 'vitest';
import { keyNetworksMax } from '../../src/domain/limits.js';
import { dayMs } from '../../src/domain/time/duration.js';
import { runCli } from '../support/cli/cli.js';
import { clientOf } from '../support/cli/cli-client.js';
import { createKey, jsonOf, keysOf, type ListedKey } from '../support/cli/cli-keys.js';
import { placeWithProject, project, refusal } from '../support/cli/cli-place.js';

/** The lifetime of a key in days. */
function lifeDaysOf({ createdAt, expiresAt }: Pick<ListedKey, 'createdAt' | 'expiresAt'>): number | null {
  return expiresAt === null ? null : (Date.parse(expiresAt) - Date.parse(createdAt)) / dayMs;
}

/** `test/unit/domain/networks.test.ts` and its neighbors have every invalid scope, address and lifetime. */
describe('key create refuses', () => {
  test.concurrent.each([
    ['an empty scope', ['--scope', ''], ['--scope: "" is not a scope']],
    [
      'scopes of a recording key',
      ['--type', 'recording', '--project', project, '--scope', 'write'],
      ['--scope: a recording key may only record'],
    ],
    [
      'wide networks, reporting each',
      ['--allow', '0.0.0.0/1', '--allow', '128.0.0.0/1'],
      ['"0.0.0.0/1" is wider', '"128.0.0.0/1" is wider'],
    ],
    [
      'a list of addresses in one option',
      ['--allow', '192.0.2.1,192.0.2.2'],
      ['--allow: "192.0.2.1,192.0.2.2" is not an address'],
    ],
    [
      'more addresses than a key may have',
      Array.from({ length: keyNetworksMax + 1 }, (_, at) => ['--allow', `192.0.2.${at}`]).flat(),
      [`--allow: has more than ${keyNetworksMax} addresses and networks`],
    ],
    [
      'several invalid options at once',
      ['--scope', 'read,all,*', '--allow', 'x', '--expires', 'soon', '--key-life-max', 'long'],
      ['--scope: "all"', '--scope: "*"', '--allow: "x"', '--expires: "soon"', '--key-life-max: "long"'],
    ],
  ])('%s', async (_what, args, messages) => {
    const stderr = await refusal(runCli(['key', 'create', '--name', 'a', ...args]), 2);
    const lines = stderr.trimEnd().split('\n');
    expect(lines).toEqual(
      expect.arrayContaining(messages.map((message) => expect.stringContaining(message))),
    );
    expect(lines).toHaveLength(messages.length);
  });

  test.concurrent.each([
    ['a number of days that is longer', '8d'],
    ['a date that is later', new Date(Date.now() + 30 * dayMs).toISOString().slice(0, 10)],
    ['never', 'never'],
  ])('a lifetime longer than --key-life-max: %s', async (_what, expires) => {
    const place = await placeWithProject();
    const create = ['key', 'create', '--name', 'a', '--expires', expires];
    const said = /^caller-stats: --expires: is later than the longest life of a key allows: \d{4}-.+Z\n$/;
    const byFlag = await place.run([...create, '--key-life-max', '7d']);
    const byVariable = await place.run(create, { env: { CALLER_STATS_KEY_LIFE_MAX: '7d' } });
    for (const { status, stdout, stderr } of [byFlag, byVariable]) {
      expect({ status, stdout, stderr }).toEqual({
        status: 2,
        stdout: '',
        stderr: expect.stringMatching(said),
      });
    }
    expect(await keysOf(place)).toEqual([]);
  });
});

describe('a new key has', () => {
  test.concurrent.each([
    ['the longest lifetime if the default is longer', ['--key-life-max', '7d'], 7],
    ['the default lifetime if the longest is longer', ['--key-life-max', '365d'], 90],
    ['the given lifetime up to the longest', ['--key-life-max', '365d', '--expires', '365d'], 365],
    ['90 days by default', [], 90],
    ['no expiry if there is no longest lifetime', ['--key-life-max', 'none', '--expires', 'never'], null],
  ])('%s', async (_what, args, days) => {
    const place = await placeWithProject();
    expect(lifeDaysOf(await createKey(place, 'a', ...args))).toBe(days);
  });

  test('the longest lifetime if the first start creates it', async () => {
    const place = await placeWithProject();
    const database = ['--database', `sqlite:${place.path('first.db')}`];
    const server = await place.serve([...database, '--key-life-max', '7d']);
    await server.stop();
    const keys = await jsonOf<ListedKey[]>(place, ['key', 'list', ...database]);
    expect(keys.map(lifeDaysOf)).toEqual([7, 7]);
  });
});

test('scopes and allowed addresses are listed, and a server enforces them', async () => {
  const place = await placeWithProject();
  const reader = await createKey(place, 'reader', '--scope', 'read', '--allow', '127.0.0.0/8');
  const writer = await createKey(place, 'writer', '--scope', ' write ', '--allow', '127.0.0.1');
  const far = ['--allow', '2001:DB8::/32', '--allow', '192.0.2.1', '--allow', '192.0.2.1'];
  const elsewhere = await createKey(place, 'elsewhere', ...far);
  const recording = ['--type', 'recording', '--project', project];
  const faraway = await createKey(place, 'faraway', ...recording, ...far);
  expect(await keysOf(place)).toMatchObject([
    { name: 'reader', scopes: ['read'], allow: ['127.0.0.0/8'] },
    { name: 'writer', scopes: ['read', 'write'], allow: ['127.0.0.1'] },
    { name: 'elsewhere', scopes: ['read', 'write'], allow: ['2001:db8::/32', '192.0.2.1'] },
    { name: 'faraway', scopes: ['write'], allow: ['2001:db8::/32', '192.0.2.1'] },
  ]);
  const { stdout } = await place.run(['key', 'list']);
  expect(stdout).toMatch(/^\S+ +reader +.+ active +read +127\.0\.0\.0\/8 +\d{4}-/m);
  expect(stdout).toMatch(/^\S+ +elsewhere +.+ active +read,write +2001:db8::\/32,192\.0\.2\.1 +\d{4}-/m);
  const server = await place.serve();
  const query = { id: 'a', caller: 'web' };
  const statuses = async ({ key }: { key: string }) => {
    const client = clientOf(server, project, key);
    return [(await client.record([query])).status, (await client.count()).status];
  };
  expect(await statuses(reader)).toEqual([403, 200]);
  expect(await statuses(writer)).toEqual([200, 200]);
  expect(await statuses(elsewhere)).toEqual([403, 403]);
  expect(await statuses(faraway)).toEqual([403, 401]);
});
