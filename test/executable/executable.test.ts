/** The executable alone: on a machine without Node, and without traces. The tests of commands run with it as well. */
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { firstRunOf, kill, PROGRAM, runCommand, startCli, urlIn } from '../support/cli/cli.js';
import { clientOf } from '../support/cli/cli-client.js';
import { temporaryFolder } from '../support/temporary.js';
import { root } from '../tidy/sources.js';

const [executable] = PROGRAM;
const bytesMax = 150_000_000;

test.each([
  ['sunos-x64', 'There is no executable for sunos-x64, only for linux-x64, '],
  ['darwin-arm64', 'Only macOS can sign executables for macOS: make it there.'],
])('none is made for %s here, and the one there is stays', async (platform, problem) => {
  const before = await stat(executable);
  const outcome = await runCommand(process.execPath, ['--import', 'tsx', 'scripts/binary.ts', platform], {
    cwd: root,
  });
  expect(outcome).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringContaining(`binary: ${problem}`),
  });
  expect((await stat(executable)).mtimeMs).toBe(before.mtimeMs);
});

test('has at most 150 MB', async () => {
  expect((await stat(executable)).size).toBeLessThan(bytesMax);
});

test('in an empty folder without Node, it serves, and leaves only the data', async () => {
  const folder = await temporaryFolder();
  const [empty, temporary, home] = ['empty', 'temporary', 'home'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const one of [empty, temporary, home]) await mkdir(one);
  const server = startCli(['serve', '--demo', '--port', '0'], {
    cwd: empty,
    env: { PATH: empty, TMPDIR: temporary, HOME: home },
  });
  const stdout = await server.printed(/^Documentation: .+\n/m);
  const url = urlIn(stdout);
  const { admin, recording, project } = firstRunOf({ stdout });
  const count = async () => (await clientOf({ url }, project, admin).count()).body;
  const before = await count();
  expect(before).toEqual({ web: 12_447, api: 2_530, other: 15_292, total: 30_269 });
  const recorded = await clientOf({ url }, project, recording).record([{ id: 'one', caller: 'web' }]);
  expect(recorded.body).toEqual({ recorded: 1, duplicates: 0 });
  expect(await count()).toEqual({ ...before, web: before.web + 1, total: before.total + 1 });
  for (const [path, text] of [
    ['/', '<title>caller-stats</title>'],
    ['/docs/', '<title>Quick start | caller-stats</title>'],
    ['/docs/install.md', '# Install'],
    ['/openapi.json', '"openapi"'],
  ] as const)
    expect(await (await fetch(`${url}${path}`)).text(), path).toContain(text);
  kill(server.pid, 'SIGTERM');
  expect(await server.ended).toMatchObject({ status: 0 });
  expect(await readdir(empty)).toEqual(['data']);
  expect([await readdir(temporary), await readdir(home)]).toEqual([[], []]);
});
