/** The audit log: its entries, how to read it, and its retention. */
import { describe, expect, test } from 'vitest';
import type { AuditEntry } from '../../../src/domain/people/audit.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import { firstRunOf, runCli } from '../../support/cli/cli.js';
import { type CreatedKey, createKey, jsonOf } from '../../support/cli/cli-keys.js';
import {
  alter,
  emptyPlace,
  type Place,
  placeWithProject,
  project,
  refusal,
  succeed,
} from '../../support/cli/cli-place.js';

type Shown = Omit<AuditEntry, 'at'> & { readonly at: string };

const auditOf = (place: Place, ...args: string[]) => jsonOf<Shown[]>(place, ['audit', ...args]);

/** Adds an entry to the log without the program. */
function addEntry(place: Place, at: number, targetId: string): void {
  alter(
    place,
    `INSERT INTO audit (organization_id, at, actor, action, target_id, detail)
     VALUES ('default', ${at}, 'a test', 'project.create', '${targetId}', '')`,
  );
}

test.concurrent('audit refuses invalid bounds, reporting both, and a start after the end', async () => {
  const bad = await runCli(['audit', '--from', 'yesterday', '--to', '2026-02-30']);
  expect(bad).toMatchObject({ status: 2, stdout: '' });
  expect(bad.stderr).toMatch(/^caller-stats: --from: .+\ncaller-stats: --to: .+\n$/);
  const backwards = await runCli(['audit', '--from', '2026-02-01', '--to', '2026-01-01']);
  expect(backwards).toMatchObject({ status: 2, stdout: '' });
  expect(backwards.stderr).toMatch(/^caller-stats: --from: is later than --to/);
});

test('audit shows every change of a command, newest first, and no refused ones', async () => {
  const place = await emptyPlace();
  const began = Date.now();
  const run = (...args: string[]) => succeed(place.run(args));
  await run('project', 'create', 'Docs', '--id', project);
  const a = await createKey(place, 'a');
  const b = await createKey(place, 'b', '--type', 'recording', '--project', project);
  const next = await jsonOf<CreatedKey>(place, ['key', 'rotate', a.id]);
  for (const change of ['disable', 'disable', 'enable', 'enable', 'revoke', 'revoke'])
    await run('key', change, b.id);
  await run('member', 'invite', '--without-link', 'ada@example.org', '--role', 'editor');
  await run('member', 'change', 'ada@example.org', '--role', 'viewer');
  await run('member', 'remove', 'ada@example.org');
  await run('organization', 'create', 'Acme', '--id', 'acme');
  for (const args of [
    ['project', 'create', 'Again', '--id', project],
    ['key', 'rotate', b.id],
    ['key', 'revoke', 'none'],
    ['member', 'remove', 'ada@example.org'],
    ['organization', 'create', 'Again', '--id', 'acme'],
  ]) {
    expect((await place.run(args)).status).toBe(1);
  }
  await run('key', 'list');
  await run('stats', project);
  const entries = await auditOf(place);
  expect(entries.map(({ action, targetId, detail }) => [action, targetId, detail])).toEqual([
    ['member.remove', 'ada@example.org', ''],
    ['member.change', 'ada@example.org', 'viewer'],
    ['member.add', 'ada@example.org', 'editor'],
    ['key.revoke', b.id, 'b'],
    ['key.enable', b.id, 'b'],
    ['key.disable', b.id, 'b'],
    ['key.rotate', a.id, `a, succeeded by ${next.id}`],
    ['key.create', b.id, 'b'],
    ['key.create', a.id, 'a'],
    ['project.create', project, 'Docs'],
  ]);
  for (const [index, entry] of entries.entries()) {
    expect(entry).toMatchObject({ actor: 'command line', address: null, number: entries.length - index });
    expect(Date.parse(entry.at)).toBeGreaterThanOrEqual(began);
    expect(Date.parse(entry.at)).toBeLessThanOrEqual(Date.now());
  }
  expect(await auditOf(place, '--organization', 'acme')).toMatchObject([
    { action: 'organization.create', targetId: 'acme', detail: 'Acme' },
  ]);
  const { stdout, stderr } = await run('audit');
  expect(stderr).toBe('Organization: default. For acme, add --organization acme.\n');
  const lines = stdout.trimEnd().split('\n');
  expect(lines[0]).toMatch(/^AT +ACTOR +FROM +ACTION +WHAT +DETAIL$/);
  expect(lines.slice(1).map((line) => line.split(/ {2,}/))).toEqual(
    entries.map(({ at, actor, action, targetId, detail }) =>
      [at, actor, action, targetId, detail].filter((cell) => cell !== ''),
    ),
  );
});

test('entries name the first start as actor, and the address of a leak report', async () => {
  const place = await emptyPlace();
  const server = await place.serve();
  const first = firstRunOf(server);
  expect(
    (await auditOf(place)).map(({ actor, address, action, targetId }) => [actor, address, action, targetId]),
  ).toEqual([
    ['first start', null, 'key.create', expect.stringMatching(/^[0-9a-z]{16}$/)],
    ['first start', null, 'project.create', first.project],
    ['first start', null, 'key.create', 'first-admin-key'],
  ]);
});

test('audit shows all of many entries, or those between two times', async () => {
  const place = await placeWithProject();
  alter(
    place,
    `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2499)
     INSERT INTO audit (organization_id, at, actor, action, target_id, detail)
     SELECT 'default', ${Date.UTC(2020, 0, 1)} + i * 3600000, 'a test', 'project.create', 'p' || i, '' FROM n`,
  );
  const between = async (...args: string[]) =>
    (await auditOf(place, ...args)).map(({ targetId }) => targetId);
  expect(await between()).toEqual([
    ...Array.from({ length: 2500 }, (_, index) => `p${2499 - index}`),
    project,
  ]);
  const [from, to] = ['2020-01-02', '2020-01-02T02:00:00.001Z'];
  expect(await between('--from', from, '--to', to)).toEqual(['p26', 'p25', 'p24']);
  expect(await between('--to', from, '--from', '2020-01-01T22:00:00+00:00')).toEqual(['p23', 'p22']);
  expect(await between('--from', '2020-04-14T02:00:00+00:00')).toEqual(['p2499', 'p2498', project]);
  expect(await between('--from', to, '--to', to)).toEqual([]);
});

describe('serve --audit-days', () => {
  test('deletes older entries at the start and keeps the others', async () => {
    const place = await placeWithProject();
    const now = Date.now();
    addEntry(place, now - 31 * dayMs, 'old');
    addEntry(place, now - 3650 * dayMs, 'older');
    addEntry(place, now - 29 * dayMs, 'young');
    // The server completes the deletion before it stops.
    const { stderr } = await (await place.serve(['--audit-days', '30'])).stop();
    expect((await auditOf(place)).map(({ targetId }) => targetId)).toEqual(['young', project]);
    expect(stderr).toContain('"entries":2,"days":30,"msg":"old entries of the audit log were forgotten"');
  });

  test('keeps all entries by default', async () => {
    const place = await placeWithProject();
    addEntry(place, 1, 'ancient');
    for (const args of [[], ['--audit-days', 'all'], ['--audit-days', '36500']]) {
      const { stderr } = await (await place.serve(args)).stop();
      expect(stderr).not.toContain('forgotten');
    }
    expect((await auditOf(place)).map(({ targetId }) => targetId)).toEqual(['ancient', project]);
  });

  test.concurrent.each(['0', '-1', '1.5', '30d', '36501', 'none', ''])('refuses %j', async (days) => {
    expect(await refusal(runCli(['serve', `--audit-days=${days}`]), 2)).toMatch(
      /^caller-stats: --audit-days: "/,
    );
  });
});

test.concurrent.each([
  ['*', 1],
  ['true', 1],
  ['proxy.example', 1],
  ['0.0.0.0/0', 1],
  ['::/0,10.0.0.0/33', 2],
  ['10.0.0.0/8,,x', 2],
  ['127.0.0.1/8', 1],
  ['fe80::1%eth0', 1],
])('serve refuses --trust-proxy=%j and reports every problem', async (networks, problems) => {
  const stderr = await refusal(runCli(['serve', '--trust-proxy', networks]), 2);
  const lines = stderr.trimEnd().split('\n');
  expect(lines).toHaveLength(problems);
  for (const line of lines) expect(line).toMatch(/^caller-stats: --trust-proxy: "/);
});
