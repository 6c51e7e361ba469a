import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { kill, matched, programInShell, runCommand, startCommand } from '../../support/cli/cli.js';
import { type Place, placeWithProject, project } from '../../support/cli/cli-place.js';
import { sampleFile } from '../../support/sample.js';

/** Runs an import in a pseudo terminal, whose output becomes stdout. */
function onTerminal(place: Place, files: string) {
  const command = `${programInShell} import ${files} --project ${project}`;
  return runCommand('script', ['-qec', command, '/dev/null'], {
    cwd: place.folder,
    env: { ...place.env, TERM: 'xterm', COLUMNS: '120' },
  });
}

describe('an import on a terminal', () => {
  test.concurrent('shows a progress bar, clears it, and prints the totals', async () => {
    const place = await placeWithProject();
    const { status, stdout } = await onTerminal(place, sampleFile);
    expect(status).toBe(0);
    expect(stdout).toMatch(/=+-* 100% \| 30,000 read \| [1-9][\d,]*\/s \| \S+ left/);
    expect(afterBar(stdout)).toBe('30,874 read, 30,269 recorded, 605 duplicates\r\n');
  });

  test.concurrent('prints bad lines above the bar, each on its own line', async () => {
    const place = await placeWithProject();
    const lines = Array.from({ length: 3000 }, (_, at) =>
      at % 1500 === 1000 ? 'no' : `{"id":"${at}","caller":"web"}`,
    );
    await writeFile(place.path('q.ndjson'), lines.join('\n'));
    const { status, stdout } = await onTerminal(place, 'q.ndjson');
    expect(status).toBe(1);
    expect(stdout).toContain('\r\u001b[Kq.ndjson:1001: is not JSON: "no"\r\n');
    expect(stdout).toContain('\r\u001b[Kq.ndjson:2501: is not JSON: "no"\r\n');
    expect(afterBar(stdout)).toBe('3,000 read, 2,998 recorded, 0 duplicates, 2 bad\r\n');
  });

  test.concurrent('counts without a bar if the size of the input is unknown', async () => {
    const place = await placeWithProject();
    const { status, stdout } = await onTerminal(place, `- < ${sampleFile}`);
    expect(status).toBe(0);
    expect(stdout).toMatch(/[1-9][\d,]* read \| [1-9][\d,]*\/s/);
    expect(stdout).not.toMatch(/==|--|%|NaN/);
    expect(afterBar(stdout)).toBe('30,874 read, 30,269 recorded, 605 duplicates\r\n');
  });
});

test('Ctrl-C ends an import on a terminal and does not change the terminal', async () => {
  const place = await placeWithProject();
  // Its input never ends. `exec` keeps the process id that bash prints first.
  const command = `echo "process $$"; exec ${programInShell} import - --project ${project} < <(tail -f /dev/null)`;
  const running = startCommand('script', ['-qec', `bash -c '${command}'`, '/dev/null'], {
    cwd: place.folder,
    env: { ...place.env, TERM: 'xterm', COLUMNS: '120' },
  });
  const shown = await running.printed(/process \d+\s[\s\S]*0 read/);
  kill(Number(matched(shown, /process (\d+)/)), 'SIGINT');
  const { status, stdout } = await running.ended;
  expect(status).toBe(130);
  const hidesCursor = '\u001b[?25l';
  const cutsLines = '\u001b[?7l';
  expect(stdout).not.toContain(hidesCursor);
  expect(stdout).not.toContain(cutsLines);
});

test.concurrent('an import without a terminal shows no bar', async () => {
  const place = await placeWithProject();
  expect(await place.run(['import', sampleFile, '--project', project])).toMatchObject({
    status: 0,
    stderr: '',
  });
});

/** The text after the last control sequence, which ends the bar. */
function afterBar(terminal: string): string {
  const sequenceStart = '\u001b[';
  return terminal
    .slice(terminal.lastIndexOf(sequenceStart) + sequenceStart.length)
    .replace(/^[\d;?]*[A-Za-z]/, '');
}
