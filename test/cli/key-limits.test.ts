/** What is fixed when a key is made: scopes, addresses, and how long it may live. */
import { describe, expect, test } from 'vitest';
import { keyNetworksMax } from '../../src/domain/limits.js';
import { runCli } from '../support/cli.js';
import { clientOf } from '../support/cli-client.js';
import { createKey, jsonOf, keysOf } from '../support/cli-keys.js';
import { placeWithProject, project } from '../support/cli-place.js';

const dayMs = 86_400_000;

/** How long a key lives from when it was made, in days. */
function lifeDaysOf({
  createdAt,
  expiresAt,
}: {
  createdAt: string;
  expiresAt: string | null;
}): number | null {
  return expiresAt === null ? null : (Date.parse(expiresAt) - Date.parse(createdAt)) / dayMs;
}

describe('key create refuses', () => {
  test.concurrent.each([
    [
      'an unknown scope',
      ['--scope', 'admin'],
      ['--scope: "admin" is not a scope; the scopes are read and write'],
    ],
    ['no scope', ['--scope', ''], ['--scope: "" is not a scope']],
    [
      'several unknown scopes, each',
      ['--scope', 'read,all,*'],
      ['--scope: "all" is not', '--scope: "*" is not'],
    ],
    ['a scope in capitals', ['--scope', 'READ'], ['--scope: "READ" is not a scope']],
    [
      'scopes of a recording key',
      ['--type', 'recording', '--project', project, '--scope', 'write'],
      ['--scope: a recording key may only record'],
    ],
    ['every IPv4 address', ['--allow', '0.0.0.0/0'], ['--allow: "0.0.0.0/0" is wider than /8']],
    ['every IPv6 address', ['--allow', '::/0'], ['--allow: "::/0" is wider than /16']],
    [
      'half the internet, twice',
      ['--allow', '0.0.0.0/1', '--allow', '128.0.0.0/1'],
      ['"0.0.0.0/1" is wider', '"128.0.0.0/1" is wider'],
    ],
    [
      'every IPv4 address as IPv6',
      ['--allow', '::ffff:0.0.0.0/96'],
      ['--allow: "::ffff:0.0.0.0/96" is an IPv4 address'],
    ],
    ['a name', ['--allow', 'office.example'], ['--allow: "office.example" is not an address']],
    ['a star', ['--allow', '*'], ['--allow: "*" is not an address']],
    ['no address', ['--allow', ''], ['--allow: "" is not an address']],
    [
      'a list in one',
      ['--allow', '192.0.2.1,192.0.2.2'],
      ['--allow: "192.0.2.1,192.0.2.2" is not an address'],
    ],
    ['bits behind the prefix', ['--allow', '192.0.2.1/24'], ['--allow: "192.0.2.1/24" has bits set after']],
    ['a prefix too long', ['--allow', '192.0.2.1/33'], ['--allow: "192.0.2.1/33" has a prefix that is not']],
    [
      'more addresses than a key may have',
      Array.from({ length: keyNetworksMax + 1 }, (_, at) => ['--allow', `192.0.2.${at}`]).flat(),
      [`--allow: has more than ${keyNetworksMax} addresses and networks`],
    ],
    [
      'all of it, in one go',
      ['--scope', 'all', '--allow', 'x', '--allow', '::/1', '--expires', 'soon', '--key-life-max', 'long'],
      ['--scope: "all"', '--allow: "x"', '--allow: "::/1"', '--expires: "soon"', '--key-life-max: "long"'],
    ],
  ])('%s', async (_what, args, messages) => {
    const { status, stdout, stderr } = await runCli(['key', 'create', '--name', 'a', ...args]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toEqual(
      expect.arrayContaining(messages.map((message) => expect.stringContaining(message))),
    );
    expect(stderr.trimEnd().split('\n')).toHaveLength(messages.length);
  });

  test.concurrent.each([
    ['a number of days that is longer', '8d'],
    ['a date that is later', new Date(Date.now() + 30 * dayMs).toISOString().slice(0, 10)],
    ['never', 'never'],
  ])('a life longer than --key-life-max: %s', async (_what, expires) => {
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

describe('key create lets a key live', () => {
  test.concurrent.each([
    ['as long as the longest life, where that is shorter than usual', ['--key-life-max', '7d'], 7],
    ['as long as usual, where that is shorter', ['--key-life-max', '365d'], 90],
    ['as long as said, up to the longest life', ['--key-life-max', '365d', '--expires', '365d'], 365],
    ['for ever, where there is no longest life', ['--key-life-max', 'none', '--expires', 'never'], null],
  ])('%s', async (_what, args, days) => {
    const place = await placeWithProject();
    expect(lifeDaysOf(await createKey(place, 'a', ...args))).toBe(days);
  });

  test('from the first start on', async () => {
    const place = await placeWithProject();
    const database = ['--database', `sqlite:${place.path('first.db')}`];
    const server = await place.serve([...database, '--key-life-max', '7d']);
    await server.stop();
    const keys = await jsonOf<Parameters<typeof lifeDaysOf>[0][]>(place, ['key', 'list', ...database]);
    expect(keys.map(lifeDaysOf)).toEqual([7, 7]);
  });
});

test('what a key may do and from where is shown by key list, and holds over HTTP', async () => {
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
