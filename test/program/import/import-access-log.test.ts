/** Imports of a generated access log with addresses that are reserved for documentation. */
import { writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import {
  type Place,
  placeWithProject,
  project,
  recordedIn,
  refusal,
  succeed,
} from '../../support/cli/cli-place.js';

const args = ['--path', '^/assistant/', '--site', 'https://docs.example.com'];

const twoDigits = (number: number): string => String(number).padStart(2, '0');

/** Seven requests: a page, a question from the site and its repetition, one from Slack, one from curl, a refused one, noise. */
function minute(at: number): string[] {
  const time = (second: number) =>
    `[15/Jun/2026:${twoDigits(Math.floor(at / 60))}:${twoDigits(at % 60)}:${twoDigits(second)} +0200]`;
  const asked = (second: number, host: string, status: number, rest: string) =>
    `${host} - - ${time(second)} "POST /assistant/message?stream=1 HTTP/2.0" ${status} 512 ${rest}`;
  const browser = '"https://docs.example.com/start" "Mozilla/5.0 (X11; Linux x86_64)"';
  return [
    `192.0.2.1 - - ${time(1)} "GET /start HTTP/2.0" 200 9000 "-" "Mozilla/5.0 (X11; Linux x86_64)"`,
    asked(2, '192.0.2.1', 200, browser),
    asked(2, '192.0.2.1', 200, browser),
    asked(3, '2001:db8::7', 200, '"-" "Slackbot 1.0 (+https://api.slack.com/robots)"'),
    asked(4, '192.0.2.9', 201, '"-" "curl/8.5.0"'),
    asked(5, '192.0.2.9', 429, '"-" "curl/8.5.0"'),
    `192.0.2.66 - - ${time(6)} "\\x16\\x03\\x01" 400 0 "-" "-"`,
  ];
}

const minutes = 600;
const lines = Array.from({ length: minutes }, (_, at) => minute(at)).flat();
const log = lines.map((line) => `${line}\n`).join('');
const [read, asked] = [minutes * 7, minutes * 4];

async function countsOf(place: Place): Promise<unknown> {
  return JSON.parse((await succeed(place.run(['stats', project, '--json']))).stdout);
}

test('overlapping parts of a log are counted once, and identical lines within it each', async () => {
  const place = await placeWithProject();
  const importFiles = async (files: Record<string, string | Uint8Array>, more: readonly string[] = []) => {
    for (const [name, content] of Object.entries(files)) await writeFile(place.path(name), content);
    const { stdout } = await succeed(
      place.run(['import', 'log', ...Object.keys(files), '--project', project, ...args, ...more, '--json']),
    );
    return JSON.parse(stdout) as unknown;
  };
  const cut = Math.floor(lines.length / 2);
  const totals = { read, recorded: 0, duplicates: asked, bad: 0, skipped: read - asked };
  const older = lines.slice(0, cut).join('\n');
  const first = (await importFiles({ 'access.log': older })) as typeof totals;
  expect(first).toEqual({
    ...totals,
    read: cut,
    recorded: asked / 2,
    duplicates: 0,
    skipped: cut - asked / 2,
  });
  // The same log later, then rotated with the older part compressed.
  expect(await importFiles({ 'access.log': log })).toEqual({
    ...totals,
    recorded: asked / 2,
    duplicates: asked / 2,
  });
  const newer = lines.slice(cut).join('\r\n');
  expect(await importFiles({ 'access.log': newer, 'access.log.1.gz': gzipSync(older) })).toEqual(totals);
  // Overlapping copies of one log in one import.
  expect(await importFiles({ 'access.log': log, copy: log }, ['--source', ''])).toEqual({
    ...{ read: 2 * read, recorded: 0, duplicates: 2 * asked, bad: 0, skipped: 2 * (read - asked) },
  });
  expect(await countsOf(place)).toEqual({ web: 2 * minutes, api: 0, other: 2 * minutes, total: asked });
  expect(recordedIn(place)).toBe(asked);
});

test('logs of several servers with identical lines count in full with a source for each', async () => {
  const place = await placeWithProject();
  for (const name of ['web-1.log', 'web-2.log']) await writeFile(place.path(name), log);
  const importLog = (files: string[], ...more: string[]) =>
    succeed(place.run(['import', 'log', ...files, '--project', project, ...args, ...more]));
  const { stderr } = await importLog(['web-1.log', 'web-2.log'], '--dry-run');
  expect(stderr).toMatch(
    /^At least 2,400 lines of these files occur in several of them.* --source, such as web-1\./,
  );
  const both = ['import', 'log', 'web-1.log', 'web-2.log', '--project', project, ...args];
  expect(await refusal(place.run(both), 1)).toMatch(
    /^caller-stats: Nothing was recorded\. At least 2,400 lines/,
  );
  expect(recordedIn(place)).toBe(0);
  const whole = `${read.toLocaleString('en')} read`;
  for (const recorded of [asked, 0]) {
    for (const name of ['web-1', 'web-2']) {
      const { stdout } = await importLog([`${name}.log`], '--source', name);
      expect(stdout).toContain(`${whole}, ${recorded.toLocaleString('en')} recorded, `);
    }
  }
  expect(recordedIn(place)).toBe(2 * asked);
});

test('caller rules apply, and other text is reported with its line', async () => {
  const place = await placeWithProject();
  await writeFile(
    place.path('rules.json'),
    '{"known":[{"caller":"api","userAgent":"curl/"}],"fallback":"bot"}',
  );
  await writeFile(
    place.path('access.log'),
    `${lines.slice(0, 7).join('\n')}\nno line of a log\n${lines[8]}\n`,
  );
  const { status, stdout, stderr } = await place.run([
    ...['import', 'log', 'access.log', '--project', project, ...args, '--caller-rules', 'rules.json'],
  ]);
  expect(stderr).toMatch(
    /^access\.log:8: is not a line of an access log: "no line of a log"; expected .*\n$/,
  );
  expect({ status, stdout }).toEqual({
    status: 1,
    stdout: '9 read, 5 recorded, 0 duplicates, 1 bad, 3 skipped\n',
  });
  expect(await countsOf(place)).toEqual({ web: 3, api: 1, other: 1, total: 5 });
});
