/** Runs the samples of docs/guides/read/reading.md that are marked as runnable against a real server. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { programInShell, runCommand } from '../../support/cli/cli.js';
import { makeKey, placeWithSample, project, succeed } from '../../support/cli/cli-place.js';
import { findProblem } from '../../tidy/commands.js';

const page = readFileSync(new URL('../../../docs/guides/read/reading.md', import.meta.url), 'utf8');

const samples = [
  ...page.matchAll(/<!-- runnable -->\n(?:::: code-group\n\n)?```sh[^\n]*\n([\s\S]*?)```/g),
].map(([, code = '']) => code);

/** The server and project on the page. */
const ADDRESS = 'http://127.0.0.1:4000';
const PROJECT = 'demo';

test('only samples are marked as runnable, and no URL contains a key', () => {
  expect(samples).toHaveLength(page.split('<!-- runnable -->').length - 1);
  expect(samples.length).toBeGreaterThan(3);
  expect(page).not.toMatch(/[?&](key|token|api_?key|authorization)=/i);
});

describe('the samples', () => {
  test('print what the page says', async () => {
    const place = await placeWithSample();
    const key = await makeKey(place, 'admin');
    const server = await place.serve();
    const stats = async (...args: string[]) =>
      (await succeed(place.run(['stats', project, '--csv', ...args]))).stdout;
    const run = async (code: string) => {
      expect(code).toContain(ADDRESS);
      const here = code
        .replaceAll(ADDRESS, server.url)
        .replaceAll(new RegExp(`\\b${PROJECT}\\b`, 'g'), project);
      // An installed program would be on the path.
      const script = `caller-stats() { ${programInShell} "$@"; }\n${here}`;
      const env = { CALLER_STATS_KEY: key };
      return (await succeed(runCommand('bash', ['--norc', '-c', script], { env, cwd: place.folder }))).stdout;
    };
    const [series = '', callers = '', file = '', node = '', ...others] = samples;
    expect(others).toEqual([]);
    const winter = ['--from', '2024-01-01', '--to', '2024-03-01'];
    const year = ['--from', '2024-01-01', '--to', '2025-01-01'];
    expect(await run(series)).toBe(
      await stats('--interval', 'month', '--time-zone', 'Europe/Berlin', ...winter),
    );
    expect(await run(callers)).toBe(await stats('--callers'));
    expect(await run(file)).toBe('');
    expect(await readFile(place.path('caller-stats.csv'), 'utf8')).toBe(
      await stats('--interval', 'day', ...year),
    );
    expect(await run(node)).toBe('git-cli 3217\nweb 2014\ngithub-desktop 150\nsdk.git 139\napi 86\n');
  });

  test('include a table as the program prints it', async () => {
    const place = await placeWithSample();
    const [, args = '', table] = /^\$ caller-stats stats demo (.+)\n([^`]+)```/m.exec(page) ?? [];
    expect((await succeed(place.run(['stats', project, ...args.split(' ')]))).stdout).toBe(table);
  });
});

describe('the configurations for assistants', () => {
  const configurations = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(
    ([, text = '']) =>
      JSON.parse(text) as { mcpServers: Record<string, { command: string; args: string[] }> },
  );

  test('are valid JSON and start the command with existing options', () => {
    expect(configurations).toHaveLength(2);
    for (const { mcpServers } of configurations) {
      const { command, args = [] } = mcpServers['caller-stats'] ?? {};
      expect([command, args[0]?.endsWith('/dist/main.js'), args[1]]).toEqual(['node', true, 'mcp']);
      expect(findProblem(args.slice(1))).toBeUndefined();
    }
  });
});
