import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/cli/io.js';
import { type FormOptions, readForm } from '../../../src/cli/options/import-form.js';
import { readRecords } from '../../support/cli/import-records.js';

const folder = mkdtempSync(join(tmpdir(), 'caller-stats-rules-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const site = ['https://docs.example.com'];
const form: FormOptions = { format: 'access-log', path: '^/assistant/', site };

describe('the import of an access log refuses', () => {
  test.each<[string, FormOptions, RegExp]>([
    ['no path', { format: 'access-log', site }, /^--path: is missing/],
    ['an invalid pattern as path', { ...form, path: '(' }, /^--path: Invalid regular expression/],
    ['an invalid method', { ...form, method: ['PO ST'] }, /^--method: "PO ST" is not a method/],
    ['an invalid status', { ...form, status: ['2x'] }, /^--status: "2x" is not a status/],
    ['a site that is not an origin', { ...form, site: ['a.test'] }, /^--site: "a.test" is not an origin/],
    ['no site or caller', { format: 'access-log', path: '^/' }, /^--site: is missing/],
    [
      'options for fields and times',
      { ...form, map: ['id=a'], timeFormat: 's' },
      /^--map: does not apply to access logs.*\n--time-format: does not apply/,
    ],
    ['a source with a space', { ...form, source: 'web 1' }, /^--source: is not 1 to 200 ASCII/],
    [
      'a source for files with ids',
      { format: 'csv', source: 'web-1' },
      /^--source: is for --format counts.* and --id-from line$/,
    ],
    [
      'a time zone of times that have one',
      { format: 'csv', timeZone: 'Berlin', timeFormat: 's' },
      /^--time-zone: "Berlin" is not .*\n--time-zone: conflicts with --time-format s/,
    ],
    ['a path with another format', { format: 'csv', path: '^/' }, /^--path: is for --format access-log/],
    ['a short id key', { ...form, idKey: file('key', 'secret') }, /^--id-key: .*key has fewer than 16 bytes/],
  ])('%s', async (_what, options, message) => {
    await expectRefused(options, message);
  });

  test.each<[string, string, RegExp]>([
    ['that do not exist', join(folder, 'none'), /none cannot be read: there is no such file/],
    ['in a folder', folder, / cannot be read: it is a folder$/],
    ['that are not JSON', file('a.json', '{'), /a\.json: is not JSON/],
    ['with a mistyped name', file('b.json', '{"siteOrigin":[]}'), /b\.json: siteOrigin is not known here$/],
    [
      'with a value of the wrong type',
      file('c.json', '{"known":[{"caller":7}]}'),
      /c\.json: known\/0\/caller must be string/,
    ],
    [
      'with an invalid fallback',
      file('d.json', '{"fallback":"No"}'),
      /d\.json: fallback: "No" is not a name/,
    ],
  ])('caller rules %s', async (_what, callerRules, problem) => {
    await expectRefused({ ...form, callerRules }, new RegExp(`^--caller-rules: .*${problem.source}`));
  });
});

async function expectRefused(options: FormOptions, message: RegExp): Promise<void> {
  const reading = readForm(options);
  await expect(reading).rejects.toThrow(UsageError);
  await expect(reading).rejects.toThrow(message);
}

function line({
  request = 'POST /assistant/message HTTP/1.1',
  status = 200,
  referer = '-',
  agent = '-',
} = {}) {
  return `192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "${request}" ${status} 512 "${referer}" "${agent}"`;
}

/** The caller of each line, or the reason why it has none. */
async function readCallers(lines: readonly string[], options: FormOptions): Promise<string[]> {
  const outcomes = await readRecords(lines.join('\n'), options, 50);
  return outcomes.map(([, outcome]) => (typeof outcome === 'string' ? outcome : outcome[1]));
}

test('other paths, methods and statuses and invalid requests are skipped; lines of other formats are bad', async () => {
  const lines = [
    line(),
    line({ request: 'POST /other HTTP/1.1' }),
    line({ request: 'POST /x/assistant/ HTTP/1.1' }),
    line({ request: 'GET /assistant/message HTTP/1.1' }),
    line({ request: 'OPTIONS /assistant/message HTTP/1.1' }),
    line({ status: 429 }),
    line({ status: 304 }),
    line({ request: '\\x16\\x03\\x01', status: 400 }),
    'not a log line',
    '',
    line({ status: 201 }),
  ];
  const skipped = Array<string>(7).fill('skipped');
  expect(await readCallers(lines, form)).toEqual([
    'unknown',
    ...skipped,
    expect.stringMatching(/^is not a line/),
    'unknown',
  ]);
  const others = { ...form, method: ['get', 'OPTIONS'], status: ['200', '3xx'], caller: 'elsewhere' };
  expect((await readCallers(lines, others)).filter((one) => one === 'elsewhere')).toHaveLength(2);
});

test('the time is read with its offset, and an impossible time is bad', async () => {
  const [[, query] = []] = await readRecords(line(), form);
  expect(query?.[2]).toBe('2000-10-10T20:55:36.000Z');
  const impossible = line().replace('10/Oct', '31/Feb');
  expect(await readRecords(impossible, form)).toEqual([
    [1, expect.stringMatching(/^occurredAt: .*February/)],
  ]);
});

test('callers are detected by site, known user agents, own rules and fallback', async () => {
  const lines = [
    line({ referer: 'https://docs.example.com/start' }),
    line({ referer: 'https://elsewhere.example.com/' }),
    line({ agent: 'Slackbot 1.0' }),
    line({ agent: 'curl/8.5.0' }),
  ];
  expect(await readCallers(lines, form)).toEqual(['web', 'unknown', 'slack', 'unknown']);
  expect(await readCallers(lines, { ...form, caller: 'api' })).toEqual(['web', 'api', 'slack', 'api']);
  const rules = {
    siteOrigins: ['https://elsewhere.example.com'],
    known: [{ caller: 'api', userAgent: 'curl/' }],
    fallback: 'left',
  };
  const callerRules = file('rules.json', JSON.stringify(rules));
  expect(await readCallers(lines, { ...form, callerRules })).toEqual(['web', 'web', 'left', 'api']);
});

test('a byte order mark is not part of a line, and a zone is that of times without an offset', async () => {
  const json = JSON.stringify({
    status: 200,
    request: 'POST /assistant/a HTTP/1.1',
    time_iso8601: '2026-06-15T14:00:00',
  });
  const lines = `${line()}\n${json}\n`;
  const found = await readRecords(`\ufeff${lines}\ufeff${lines}`, { ...form, timeZone: 'Europe/Berlin' });
  const again = await readRecords(`${lines}${lines}`, { ...form, timeZone: 'Europe/Berlin' });
  expect(found).toEqual(again);
  expect(found[3]?.[1][2]).toBe('2026-06-15T12:00:00.000Z');
});

test('the id of a line does not depend on its line end or position, but on the key', async () => {
  const lines = [line(), line({ agent: 'a' })];
  const readIds = async (text: string, options: FormOptions = form) =>
    (await readRecords(text, options)).map(([, outcome]) => outcome[0]);
  const ids = await readIds(lines.join('\n'));
  expect(new Set(ids).size).toBe(2);
  expect(await readIds(`${lines.toReversed().join('\r\n')}\r\n`)).toEqual(ids.toReversed());
  const keyed = await readIds(lines.join('\n'), { ...form, idKey: file('long', 'k'.repeat(32)) });
  expect(new Set([...ids, ...keyed]).size).toBe(4);
});
