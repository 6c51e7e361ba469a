/** Keys are disabled, enabled and revoked while a server runs. */
import { describe, expect, test } from 'vitest';
import { firstRunOf, runCli } from '../support/cli/cli.js';
import { clientOf } from '../support/cli/cli-client.js';
import { createKey, jsonOf, keysOf, type ListedKey } from '../support/cli/cli-keys.js';
import {
  emptyPlace,
  firstRow,
  makeKey,
  placeWithProject,
  project,
  succeed,
} from '../support/cli/cli-place.js';

describe.each(['revoke', 'disable', 'enable'])('key %s', (change) => {
  test.concurrent('refuses an unknown id', async () => {
    const place = await placeWithProject();
    expect(await place.run(['key', change, 'nope'])).toEqual({
      status: 1,
      signal: null,
      stdout: '',
      stderr: 'caller-stats: There is no key nope.\n',
    });
  });

  test.concurrent('requires an id', async () => {
    expect(await runCli(['key', change])).toMatchObject({ status: 2, stdout: '' });
  });
});

test('a revoked key is refused by a running server from the next request on, permanently', async () => {
  const place = await placeWithProject();
  const key = await makeKey(place, 'admin');
  const [listed] = await keysOf(place);
  const server = await place.serve();
  const client = clientOf(server, project, key);
  expect(await client.count()).toMatchObject({ status: 200 });
  expect(await client.record([{ id: 'a', caller: 'web' }])).toMatchObject({ status: 200 });
  const { stdout } = await succeed(place.run(['key', 'revoke', String(listed?.id)]));
  expect(stdout).toMatch(new RegExp(`^revoked ${listed?.id} \\(A admin key, cs_admin_.{4}….{4}\\)\n$`));
  const refused = { status: 401, body: { error: 'The API key is revoked.' } };
  expect(await client.count()).toMatchObject(refused);
  expect(await client.record([{ id: 'b', caller: 'web' }])).toMatchObject(refused);
  const first = await keysOf(place);
  const again = await succeed(place.run(['key', 'revoke', String(listed?.id), '--json']));
  expect(JSON.parse(again.stdout)).toEqual(first[0]);
  // Enabling the key does not undo the revocation, and the command says so.
  const enabled = await succeed(place.run(['key', 'enable', String(listed?.id)]));
  expect(enabled.stdout).toMatch(/^enabled .+, but it is still revoked\n$/);
  expect(await client.count()).toMatchObject(refused);
  expect(await keysOf(place)).toEqual(first);
});

test('key disable and key enable take effect on a running server with the next request', async () => {
  const place = await placeWithProject();
  const { id, key, ...kept } = await createKey(place, 'Mine');
  await createKey(place, 'bystander');
  const server = await place.serve();
  const client = clientOf(server, project, key);
  const query = { id: 'a', caller: 'web' };
  const refused = { status: 401, body: { error: 'The API key is disabled.' } };
  const change = async (what: string) => {
    const { stdout } = await succeed(place.run(['key', what, id]));
    expect(stdout).toMatch(new RegExp(`^${what}d ${id} \\(Mine, cs_admin_.{4}….{4}\\)\n$`));
  };
  for (const _round of [1, 2]) {
    expect(await client.count()).toMatchObject({ status: 200 });
    await change('disable');
    expect(await client.count()).toMatchObject(refused);
    expect(await client.record([query])).toMatchObject(refused);
    await change('enable');
    expect(await client.record([query])).toMatchObject({ status: 200 });
  }
  const disabled = await jsonOf<ListedKey>(place, ['key', 'disable', id]);
  expect(disabled).toEqual({
    ...kept,
    id,
    status: 'disabled',
    disabledAt: expect.stringMatching(/Z$/),
    lastUsedAt: expect.stringMatching(/Z$/),
  });
  expect(await jsonOf<ListedKey>(place, ['key', 'disable', id])).toEqual(disabled);
  expect(await keysOf(place)).toMatchObject([
    { id, status: 'disabled', disabledAt: disabled.disabledAt },
    { name: 'bystander', status: 'active', disabledAt: null },
  ]);
  const { stdout } = await succeed(place.run(['key', 'list']));
  expect(stdout).toMatch(new RegExp(`^${id} +Mine +.+ disabled +read,write `, 'm'));
  const enabled = { ...disabled, status: 'active', disabledAt: null };
  expect(await jsonOf<ListedKey>(place, ['key', 'enable', id])).toEqual(enabled);
});

test('no command prints a hash, or a key a second time', async () => {
  const place = await emptyPlace();
  const server = await place.serve(['--log-level', 'trace']);
  const { project: first, admin, recording } = firstRunOf(server);
  await clientOf(server, first, admin).count();
  const said: string[] = [];
  const run = async (...args: string[]) => {
    const { stdout, stderr } = await succeed(place.run(args));
    said.push(stdout, stderr);
    return stdout;
  };
  const made = [
    (await run('key', 'create', '--name', 'a')).trim(),
    (JSON.parse(await run('key', 'create', '--name', 'b', '--json')) as { key: string }).key,
  ];
  const [, , a, b] = await keysOf(place);
  made.push((await run('key', 'rotate', a?.id ?? '')).trim());
  made.push((JSON.parse(await run('key', 'rotate', b?.id ?? '', '--json')) as { key: string }).key);
  for (const key of made) expect(said.join().split(key)).toHaveLength(2);
  for (const json of [[], ['--json']]) {
    for (const change of ['disable', 'enable', 'revoke']) await run('key', change, a?.id ?? '', ...json);
    await run('key', 'list', ...json);
    await run('audit', ...json);
  }
  await run('copy', '--from', `sqlite:${place.database}`, '--to', `sqlite:${place.path('to.db')}`, '--json');
  for (const name of ['list', 'audit']) {
    const args = name === 'list' ? ['key', 'list', '--json'] : ['audit', '--json'];
    await run(...args, '--database', `sqlite:${place.path('to.db')}`);
  }
  said.push((await server.stop()).stderr);
  const text = said.join();
  for (const key of made) expect(text.split(key)).toHaveLength(2);
  for (const key of [admin, recording]) expect(text).not.toContain(key);
  const all = firstRow(place, 'SELECT group_concat(hash) AS hashes FROM api_key')['hashes'];
  const hashes = String(all).split(',');
  expect(hashes).toHaveLength(6);
  for (const hash of hashes) expect(text).not.toContain(hash);
});
