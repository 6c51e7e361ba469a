/** `stats --chart`: through a pipe, and in a real terminal. */
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { programFile, runCommand } from '../support/cli.js';
import { emptyPlace, type Place, placeWithSample, project, succeed } from '../support/cli-place.js';

const range = ['--from', '2024-01-01', '--to', '2025-01-01'];

/** Runs it in a terminal so many characters wide. What a terminal gets ends lines with a carriage return, too. */
async function inTerminal(place: Place, args: readonly string[], env = {}): Promise<string[]> {
  const command = `stty cols 60; "${process.execPath}" "${programFile}" stats ${project} ${args.join(' ')}`;
  const { stdout } = await succeed(
    runCommand('script', ['-qec', command, '/dev/null'], {
      env: { ...place.env, TERM: 'xterm-256color', ...env },
    }),
  );
  return stdout.trimEnd().split('\r\n');
}

describe('stats --chart refuses', () => {
  test.concurrent.each(['--json', '--csv'])('%s', async (form) => {
    const place = await emptyPlace();
    const { status, stdout, stderr } = await place.run(['stats', project, '--chart', form]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/'--chart' cannot be used with option '--(json|csv)/);
  });
});

describe('stats --chart', () => {
  test.concurrent('has no codes and 80 columns in a pipe, whatever it is told of colours', async () => {
    const place = await placeWithSample();
    const args = ['stats', project, '--chart', '--interval', 'month', ...range];
    const { stdout, stderr } = await succeed(place.run(args, { env: { FORCE_COLOR: '1' } }));
    expect(stderr).toBe('');
    const [legend, ...bars] = stdout.trimEnd().split('\n');
    expect(legend).toBe('█ web  ▓ api  ░ other');
    expect(bars).toHaveLength(12);
    expect(bars[0]).toMatch(/^2024-01-01 {2}356 {2}█+▓░+$/);
    expect(Math.max(...bars.map((line) => line.length))).toBe(80);
  });

  test.concurrent('draws callers, and types where it is told nothing else', async () => {
    const place = await placeWithSample();
    const callers = (await succeed(place.run(['stats', project, '--chart', '--callers', ...range]))).stdout;
    expect(callers).toMatch(/^git-cli {9}3,217 {2}░{57}$/m);
    expect(callers).toMatch(/^web {13}2,014 {2}█{36}$/m);
    expect(callers).toMatch(/^api {16}86 {2}▓▓$/m);
    const whole = (await succeed(place.run(['stats', project, '--chart', ...range]))).stdout;
    expect(whole).toMatch(/^web {4}2,014 {2}█{38}\napi {7}86 {2}▓▓\nother {2}3,506 {2}░{66}\n$/m);
  });

  test.concurrent('leaves out the first of many buckets, and says what to do', async () => {
    const place = await placeWithSample();
    const args = ['stats', project, '--chart', '--interval', 'day', ...range];
    const lines = (await succeed(place.run(args))).stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(102);
    expect(lines[1]).toMatch(
      /^266 earlier buckets with [\d,]+ queries are not drawn; choose a wider --interval or a smaller range$/,
    );
    expect(lines[2]).toMatch(/^2024-09-23 /);
    expect(lines.at(-1)).toMatch(/^2024-12-31 /);
  });

  test.concurrent('tells two hours apart that a clock shows alike', async () => {
    const place = await placeWithSample();
    const bounds = ['--from', '2024-10-27T00:00Z', '--to', '2024-10-27T02:00Z'];
    const args = [
      'stats',
      project,
      '--chart',
      '--interval',
      'hour',
      '--time-zone',
      'Europe/Berlin',
      ...bounds,
    ];
    const lines = (await succeed(place.run(args))).stdout.split('\n');
    expect(lines[1]).toMatch(/^2024-10-27 02:00\+02:00 /);
    expect(lines[2]).toMatch(/^2024-10-27 02:00\+01:00 /);
  });

  test.concurrent('is as wide as the terminal, and in colours', async () => {
    const place = await placeWithSample();
    const lines = await inTerminal(place, ['--chart', '--interval', 'month', ...range]);
    expect(lines[0]).toBe(
      '\u001b[34m█\u001b[39m web  \u001b[33m▓\u001b[39m api  \u001b[32m░\u001b[39m other',
    );
    expect(lines).toHaveLength(13);
    expect(Math.max(...lines.map((line) => stripVTControlCharacters(line).length))).toBe(60);
  });

  test.concurrent('has no colours in a terminal where NO_COLOR is set, or that takes none', async () => {
    const place = await placeWithSample();
    for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
      const lines = await inTerminal(place, ['--chart', '--interval', 'month', ...range], env);
      expect(lines[0]).toBe('█ web  ▓ api  ░ other');
      expect(lines.join('')).not.toContain('\u001b');
    }
  });
});

test('the numbers of a table stand under each other, right-aligned', async () => {
  const place = await placeWithSample();
  const bounds = ['--from', '2023-12-31', '--to', '2024-02-01'];
  const { stdout } = await succeed(place.run(['stats', project, '--interval', 'month', ...bounds]));
  const lines = stdout.trimEnd().split('\n');
  expect(new Set(lines.map((line) => line.length)).size).toBe(1);
  expect(lines[0]).toMatch(/^START {26}END {27} +WEB +API +OTHER +TOTAL$/);
});
