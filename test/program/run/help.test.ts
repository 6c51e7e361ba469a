import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { listedCommands } from '../../../scripts/pages/commands.js';
import { OURS } from '../../../src/cli/terminal/other-names.js';
import { runCli, runCommand, startCommand } from '../../support/cli/cli.js';
import { emptyPlace, placeWithProject, refusal } from '../../support/cli/cli-place.js';
import { programInShell } from '../../support/cli/process.js';

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The help itself is on a page of the docs: `test/tidy/commands-page.test.ts` compares it for every command. */
test.concurrent.each(['', 'serve', 'key create'])('--help of "%s" is printed on stdout', async (command) => {
  const { status, stdout, stderr } = await runCli([...command.split(' ').filter(Boolean), '--help']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(new RegExp(`^Usage: caller-stats${command === '' ? '' : ` ${command}`} `));
});

test('import, import counts and import log each have help of their own', async () => {
  const flagsOf = async (...command: string[]) =>
    [...(await runCli([...command, '--help'])).stdout.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, flag]) => flag);
  const [all, counts, log] = await Promise.all([
    flagsOf('import'),
    flagsOf('import', 'counts'),
    flagsOf('import', 'log'),
  ]);
  for (const [flags, has, lacks] of [
    [all, '--map', '--path'],
    [counts, '--source-project', '--map'],
    [log, '--path', '--event'],
  ] as const) {
    expect(flags).toEqual(expect.arrayContaining(['--project', '--dry-run', has]));
    expect(flags).not.toContain(lacks);
    expect(flags).not.toContain('--organization');
  }
  expect((await runCli(['import', 'counts', 'a.csv'])).stderr).toContain(
    "option '--project <id>' not specified",
  );
  expect((await runCli(['import', 'log', 'a.log', '--project', 'docs', '--map', 'id=a'])).stderr).toContain(
    '--map: does not apply',
  );
});

test('only the help of serve has the settings, which the others name, and suggest if one is mistyped', async () => {
  const [serve, key] = await Promise.all([runCli(['serve', '--help']), runCli(['key', 'create', '--help'])]);
  expect(serve.stdout).toMatch(/^ {2}--database </m);
  expect(key.stdout).not.toMatch(/--(?:database|key-prefix) </);
  expect(key.stdout).toMatch(
    /--type [\s\S]*\n\nSettings, such as --database, .+: caller-stats serve --help\n$/,
  );
  expect(await refusal(runCli(['verify', '--databse', 'x']), 2)).toContain('(Did you mean --database?)');
});

/** What the program asks its readers to learn: what is added has to be worth it. */
test('there are at most 32 commands and 200 flags', () => {
  const flags = listedCommands().flatMap(({ command }) => [
    ...new Set(command.helpInformation().match(/^ {2}--[a-z-]+/gm) ?? []),
  ]);
  expect(listedCommands().length).toBeLessThanOrEqual(32);
  expect(flags.length).toBeGreaterThan(100);
  expect(flags.length).toBeLessThanOrEqual(200);
});

test('--version prints the version of the package', async () => {
  expect(await runCli(['--version'])).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' });
});

describe.runIf(existsSync('/dev/full'))('on a full disk,', () => {
  test.concurrent.each(['--help', 'project list', 'export docs', 'stats docs --json'])(
    'the output of %s is a failure that is named',
    async (command) => {
      const { env, folder } = await placeWithProject();
      const ran = await runCommand('bash', ['--norc', '-c', `${programInShell} ${command} > /dev/full`], {
        env,
        cwd: folder,
      });
      expect(ran).toEqual({
        ...{ status: 1, signal: null, stdout: '' },
        stderr: expect.stringMatching(
          /^caller-stats: The output cannot be written, and is incomplete: ENOSPC[^\n]*\n$/,
        ),
      });
    },
  );

  test.concurrent('a server that cannot write its log still answers', async () => {
    const { env } = await emptyPlace();
    const server = startCommand(
      'bash',
      ['--norc', '-c', `exec ${programInShell} serve --port 0 2>/dev/full`],
      { env },
    );
    const url = /http:\S+/.exec(await server.printed(/listens on http:\S+\n[\s\S]*\/docs\n/))?.[0];
    for (const path of ['/v1/none', '/livez']) await fetch(`${url}${path}`);
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    process.kill(server.pid, 'SIGTERM');
    expect(await server.ended).toMatchObject({ status: 0 });
  });
});

test('what others call a command or an option is not a name here, and ours of it is', () => {
  const commands = listedCommands();
  const options = commands.flatMap(({ command }) => [...command.options, ...(command.parent?.options ?? [])]);
  const names = [
    ...options.map(({ long }) => long),
    ...commands.flatMap(({ name }) => [name, name.split(' ')[0]]),
  ];
  for (const [theirs, ours] of Object.entries(OURS)) {
    expect(names).toContain(ours.split(' csv')[0]);
    // A few commands may have it as an option; then it is known there.
    if (!theirs.startsWith('-')) expect(names).not.toContain(theirs);
  }
});

describe('wrong usage exits with 2 and an error message:', () => {
  test.concurrent.each([
    [[], /^Usage: caller-stats /],
    [['project'], /^Usage: caller-stats project /],
    [['imprt'], /unknown command 'imprt'\n\(Did you mean import\?\)/],
    [['key', 'make'], /unknown command 'make'/],
    [['\u001b]0;x\u0007'], /^error: unknown command '\ufffd]0;x\ufffd'/],
    [['verify', '--\u009b31m'], /^error: unknown option '--\ufffd31m'/],
    [['verify', '--jsn'], /unknown option '--jsn'\n\(Did you mean --json\?\)/],
    [['doctor', '--config', 'x'], /unknown option '--config'\n\(Did you mean --settings\?\)\n\(see --help\)/],
    [['stats', 'a', '--tz=UTC'], /unknown option '--tz=UTC'\n\(Did you mean --time-zone\?\)\n\(see --help\)/],
    [['users'], /unknown command 'users'\n\(Did you mean member\?\)\n\(see --help\)/],
    [['stats'], /missing required argument 'project'/],
    [['stats', 'a', 'b'], /too many arguments/],
    [['serve', 'now'], /too many arguments/],
    [['serve', '--port'], /argument missing/],
  ])('%j', async (args, message) => {
    expect(await refusal(runCli(args), 2)).toMatch(message);
  });

  test('of at most 100 lines, however many arguments are wrong', async () => {
    const wrong = Array.from({ length: 500 }, (_, at) => `--allow=bad-${at}`);
    const refused = await refusal(runCli(['key', 'create', '--name', 'x', ...wrong]), 2);
    const lines = refused.trim().split('\n');
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([
      101,
      expect.stringContaining('bad-0'),
      expect.stringMatching(/^… and 40\d more lines$/),
    ]);
  });
});
