/** Organizations, and their isolation from each other. */
import { describe, expect, test } from 'vitest';
import { LATER_START, runCli } from '../../support/cli/cli.js';
import { clientOf } from '../../support/cli/cli-client.js';
import { createKey, jsonOf, keysOf } from '../../support/cli/cli-keys.js';
import {
  emptyPlace,
  firstRow,
  type Place,
  placeWithProject,
  project,
  refusal,
  succeed,
} from '../../support/cli/cli-place.js';

const inAcme = ['--organization', 'acme'];

/** The project `docs` of the default organization, and an organization Acme with a project, a key and a member. */
async function placeWithTwo(): Promise<Place & { readonly theirs: { id: string; key: string } }> {
  const place = await placeWithProject();
  await succeed(place.run(['organization', 'create', 'Acme', '--id', 'acme']));
  await succeed(place.run(['project', 'create', 'Theirs', '--id', 'theirs', ...inAcme]));
  await succeed(
    place.run(['member', 'invite', '--without-link', 'ada@acme.example', '--role', 'owner', ...inAcme]),
  );
  const input = '{"id": "a", "caller": "web", "occurredAt": "2026-01-01T00:00:00Z"}\n';
  await succeed(place.run(['import', '-', '--project', 'theirs'], { input }));
  return { ...place, theirs: await createKey(place, 'their key', ...inAcme) };
}

describe('organization create', () => {
  test.concurrent('creates a database and prints only the id', async () => {
    const place = await emptyPlace();
    const { stdout, stderr } = await succeed(place.run(['organization', 'create', 'Äcme 📚']));
    expect({ stdout, stderr }).toEqual({
      stdout: expect.stringMatching(/^[0-9a-z]{16}\n$/),
      stderr: expect.stringContaining(
        `; --organization ${stdout.trim()} chooses this one. See caller-stats organization`,
      ),
    });
    const args = ['organization', 'create', 'Second', '--id', 'My_org-2'];
    const made = await jsonOf(place, args);
    expect(made).toMatchObject({ id: 'My_org-2', name: 'Second', secondFactor: 'optional' });
    expect(await jsonOf(place, ['organization', 'list'])).toEqual([
      { id: 'default', name: 'Default', createdAt: '1970-01-01T00:00:00.000Z', secondFactor: 'optional' },
      {
        id: stdout.trim(),
        name: 'Äcme 📚',
        createdAt: expect.stringMatching(/^\d{4}-.+Z$/),
        secondFactor: 'optional',
      },
      made,
    ]);
    const table = await succeed(place.run(['organization', 'list']));
    expect(table.stdout).toMatch(
      /^ID +NAME +CREATED +SECOND FACTOR\ndefault +Default +1970-.+Z +optional\n(\S+ +\S.* +\d{4}-.+Z +optional\n){2}$/,
    );
  });

  test.concurrent.each(['acme', 'default'])('refuses the existing id %s', async (id) => {
    const place = await placeWithTwo();
    const before = await jsonOf(place, ['organization', 'list']);
    expect(await place.run(['organization', 'create', 'Again', '--id', id])).toEqual({
      status: 1,
      signal: null,
      stdout: '',
      stderr: `caller-stats: There is an organization ${id} already.\n`,
    });
    expect(await jsonOf(place, ['organization', 'list'])).toEqual(before);
  });

  test.concurrent('refuses an invalid name and id, reporting both', async () => {
    expect(await refusal(runCli(['organization', 'create', ' ', '--id', 'a/b']), 2)).toMatch(
      /^caller-stats: NAME: .+\ncaller-stats: --id: .+\n$/,
    );
  });
});

describe('organization change', () => {
  test.concurrent('renames an organization', async () => {
    const place = await placeWithTwo();
    expect(await refusal(place.run(['organization', 'change', 'acme', '--name', ' ']), 2)).toMatch(
      /--name: /,
    );
    expect(await refusal(place.run(['organization', 'change', 'none', '--name', 'A']), 1)).toMatch(
      /There is no organization none\./,
    );
    expect(await refusal(place.run(['organization', 'change', 'acme']), 2)).toMatch(/nothing to change/);
    const rule = ['organization', 'change', 'acme', '--second-factor'];
    expect(await refusal(place.run([...rule, 'yes']), 2)).toMatch(/required/);
    expect(await jsonOf(place, [...rule, 'required'])).toMatchObject({ secondFactor: 'required' });
    const { stdout } = await succeed(place.run(['organization', 'change', 'acme', '--name', 'Acme & Co']));
    expect(stdout).toBe('changed acme (Acme & Co)\n');
    expect(await jsonOf(place, ['organization', 'list'])).toMatchObject([
      { id: 'default', name: 'Default', secondFactor: 'optional' },
      { id: 'acme', name: 'Acme & Co', secondFactor: 'required' },
    ]);
  });
});

describe('an unknown organization', () => {
  test.concurrent.each([
    ['project create', ['project', 'create', 'Docs']],
    ['key create', ['key', 'create', '--name', 'a']],
    ['member invite --without-link', ['member', 'invite', '--without-link', 'ada@acme.example']],
  ])('is refused by %s', async (_name, args) => {
    const place = await placeWithProject();
    expect(await place.run([...args, '--organization', 'none'])).toEqual({
      status: 1,
      signal: null,
      stdout: '',
      stderr: 'caller-stats: There is no organization none.\n',
    });
    expect(firstRow(place, 'SELECT count(*) AS entries FROM audit')).toMatchObject({ entries: 1 });
  });

  test.concurrent('has empty lists', async () => {
    const place = await placeWithProject();
    for (const args of [['project', 'list'], ['key', 'list'], ['member', 'list'], ['audit']]) {
      expect(await jsonOf(place, [...args, '--organization', 'none']), args.join()).toEqual([]);
    }
  });
});

describe('data of another organization', () => {
  test('is not listed', async () => {
    const place = await placeWithTwo();
    const ids = async (...args: string[]) =>
      (await jsonOf<{ id?: string; email?: string; targetId?: string }[]>(place, args)).map(
        ({ id, email, targetId }) => id ?? email ?? targetId,
      );
    expect(await ids('project', 'list')).toEqual([project]);
    expect(await ids('key', 'list')).toEqual([]);
    expect(await ids('member', 'list')).toEqual([]);
    expect(await ids('audit')).toEqual([project]);
    expect(await ids('project', 'list', ...inAcme)).toEqual(['theirs']);
    expect(await ids('key', 'list', ...inAcme)).toEqual([place.theirs.id]);
    expect(await ids('member', 'list', ...inAcme)).toEqual(['ada@acme.example']);
    const log = [place.theirs.id, 'ada@acme.example', 'theirs', 'acme'];
    expect(await ids('audit', ...inAcme)).toEqual(log);
  });

  test('is announced by commands that name no organization', async () => {
    const note = /^Organization: default\. For acme, add --organization acme\.$/m;
    const [place, alone] = [await placeWithTwo(), await placeWithProject()];
    for (const args of [['project', 'list'], ['key', 'create', '--name', 'a'], ['audit']]) {
      expect((await succeed(place.run(args))).stderr, args.join()).toMatch(note);
      expect((await succeed(place.run([...args, ...inAcme]))).stderr, args.join()).not.toMatch(note);
      expect((await succeed(alone.run(args))).stderr, args.join()).not.toMatch(note);
    }
    expect((await succeed(place.run(['project', 'list', '--json']))).stderr).toBe('');
  });

  test('cannot be read or changed', async () => {
    const place = await placeWithTwo();
    const { id } = place.theirs;
    const noKey = `There is no key ${id}.`;
    const noMember = 'There is no member ada@acme.example.';
    const everything = `SELECT (SELECT json_group_array(id || coalesce(expires_at, '') || coalesce(revoked_at, '')
      || coalesce(disabled_at, '') || coalesce(successor_id, '')) FROM api_key) AS keys,
      (SELECT json_group_array(email || role) FROM member) AS members, (SELECT count(*) FROM audit) AS entries`;
    const before = firstRow(place, everything);
    const recording = ['--name', 'a', '--type', 'recording', '--project'];
    const refused = [
      [['key', 'rotate', id], noKey],
      [['key', 'disable', id], noKey],
      [['key', 'enable', id], noKey],
      [['key', 'revoke', id], noKey],
      [['key', 'create', ...recording, 'theirs'], 'There is no project theirs.'],
      [['key', 'create', ...recording, project, ...inAcme], 'There is no project docs.'],
      [['stats', 'theirs'], 'There is no project theirs; see caller-stats project list.'],
      [['stats', project, ...inAcme], 'There is no project docs; see caller-stats project list.'],
      [
        ['project', 'create', 'Mine', '--id', 'theirs'],
        'The id theirs is not free on this server. Choose another one.',
      ],
      [['member', 'change', 'ada@acme.example', '--role', 'viewer'], noMember],
      [['member', 'remove', 'ada@acme.example'], noMember],
    ] as const;
    for (const [args, message] of refused) {
      expect({ args, ...(await place.run(args)) }).toEqual({
        args,
        status: 1,
        signal: null,
        stdout: '',
        stderr: `caller-stats: ${message}\n`,
      });
    }
    expect(firstRow(place, everything)).toEqual(before);
    expect(await jsonOf(place, ['stats', 'theirs', ...inAcme])).toMatchObject({ web: 1, total: 1 });
  });

  test('is only accessible with its own keys', async () => {
    const place = await placeWithTwo();
    const own = await createKey(place, 'own');
    const server = await place.serve();
    const status = async (key: string, id: string) => (await clientOf(server, id, key).count()).status;
    expect(await status(own.key, project)).toBe(200);
    expect(await status(own.key, 'theirs')).toBe(404);
    expect(await status(place.theirs.key, 'theirs')).toBe(200);
    expect(await status(place.theirs.key, project)).toBe(404);
    await succeed(place.run(['key', 'revoke', place.theirs.id, ...inAcme]));
    expect(await status(place.theirs.key, 'theirs')).toBe(401);
    expect(await keysOf(place)).toMatchObject([{ id: own.id, status: 'active' }]);
  });
});

test.concurrent('stats refuses --organization with --url', async () => {
  const args = ['stats', project, '--url', 'http://127.0.0.1:1', ...inAcme];
  const { status, stderr } = await runCli(args, { env: { CALLER_STATS_KEY: 'x' } });
  expect(status).toBe(2);
  expect(stderr).toMatch(/'--organization <id>' cannot be used with option '--url <url>'/);
});

test('serve creates no first keys if another organization has a project', async () => {
  const place = await emptyPlace();
  await succeed(place.run(['organization', 'create', 'Acme', '--id', 'acme']));
  await succeed(place.run(['project', 'create', 'Theirs', '--id', 'theirs', ...inAcme]));
  const server = await place.serve();
  expect(server.stdout).toMatch(LATER_START);
  await server.stop();
  expect(await keysOf(place)).toEqual([]);
  expect(await jsonOf(place, ['project', 'list'])).toEqual([]);
});
