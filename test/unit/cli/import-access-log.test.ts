import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/cli/io.js';
import { type FormOptions, readForm } from '../../../src/cli/options/import-form.js';
import { outcomesOf } from '../../support/import-records.js';

const folder = mkdtempSync(join(tmpdir(), 'caller-stats-rules-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const site = ['https://docs.example.com'];
const form: FormOptions = { format: 'access-log', path: '^/assistant/', site };

describe('options are refused:', () => {
  test.each<[string, FormOptions, RegExp]>([
    ['no path', { format: 'access-log', site }, /^--path: is missing/],
    ['a path that is no pattern', { ...form, path: '(' }, /^--path: Invalid regular expression/],
    ['a method that is none', { ...form, method: ['PO ST'] }, /^--method: "PO ST" is not a method/],
    ['a status that is none', { ...form, status: ['2x'] }, /^--status: "2x" is not a status/],
    ['a site that is no origin', { ...form, site: ['a.test'] }, /^--site: "a.test" is not an origin/],
    ['nothing to tell callers by', { format: 'access-log', path: '^/' }, /^--site: is missing/],
    [
      'names of fields',
      { ...form, map: ['id=a'], timeFormat: 's' },
      /^--map: does not apply to access logs.*\n--time-format: does not apply/,
    ],
    ['a path for another format', { format: 'csv', path: '^/' }, /^--path: is for --format access-log/],
    [
      'a key that is too short',
      { ...form, idKey: file('key', 'secret') },
      /^--id-key: .*key has fewer than 16 bytes/,
    ],
  ])('%s', async (_what, options, message) => {
    await expectRefused(options, message);
  });

  test.each<[string, string, RegExp]>([
    ['that are not there', join(folder, 'none'), /none cannot be read: there is no such file/],
    ['that are a folder', folder, / cannot be read: it is a folder$/],
    ['that are no JSON', file('a.json', '{'), /a\.json: is not JSON/],
    ['with a mistyped name', file('b.json', '{"siteOrigin":[]}'), /b\.json: siteOrigin is not known here$/],
    [
      'of another shape',
      file('c.json', '{"known":[{"caller":7}]}'),
      /c\.json: known\/0\/caller must be string/,
    ],
    ['that cannot be used', file('d.json', '{"fallback":"No"}'), /d\.json: fallback: "No" is not a name/],
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

/** The callers of lines, in order, or why there is none. */
async function callersOf(lines: readonly string[], options: FormOptions): Promise<string[]> {
  const outcomes = await outcomesOf(lines.join('\n'), options, 50);
  return outcomes.map(([, outcome]) => (typeof outcome === 'string' ? outcome : outcome[1]));
}

test('requests of other paths, methods and answers are passed over, those of none are too, and other lines are bad', async () => {
  const lines = [
    line(),
    line({ request: 'POST /other HTTP/1.1' }),
    line({ request: 'POST /x/assistant/ HTTP/1.1' }),
    line({ request: 'GET /assistant/message HTTP/1.1' }),
    line({ request: 'OPTIONS /assistant/message HTTP/1.1' }),
    line({ status: 429 }),
    line({ status: 304 }),
    line({ request: '\\x16\\x03\\x01', status: 400 }),
    'no log',
    '',
    line({ status: 201 }),
  ];
  const skipped = Array<string>(7).fill('skipped');
  expect(await callersOf(lines, form)).toEqual([
    'unknown',
    ...skipped,
    expect.stringMatching(/^is not a line/),
    'unknown',
  ]);
  const others = { ...form, method: ['get', 'OPTIONS'], status: ['200', '3xx'], caller: 'elsewhere' };
  expect((await callersOf(lines, others)).filter((one) => one === 'elsewhere')).toHaveLength(2);
});

test('the time is that of the line, with its offset, and an impossible one is bad', async () => {
  const [[, query] = []] = await outcomesOf(line(), form);
  expect(query?.[2]).toBe('2000-10-10T20:55:36.000Z');
  const impossible = line().replace('10/Oct', '31/Feb');
  expect(await outcomesOf(impossible, form)).toEqual([[1, expect.stringMatching(/^occurredAt: .*February/)]]);
});

test('callers are told by the rules of the detector: the site, known agents, own rules, and who is left', async () => {
  const lines = [
    line({ referer: 'https://docs.example.com/start' }),
    line({ referer: 'https://elsewhere.example.com/' }),
    line({ agent: 'Slackbot 1.0' }),
    line({ agent: 'curl/8.5.0' }),
  ];
  expect(await callersOf(lines, form)).toEqual(['web', 'unknown', 'slack', 'unknown']);
  expect(await callersOf(lines, { ...form, caller: 'api' })).toEqual(['web', 'api', 'slack', 'api']);
  const rules = {
    siteOrigins: ['https://elsewhere.example.com'],
    known: [{ caller: 'api', userAgent: 'curl/' }],
    fallback: 'left',
  };
  const callerRules = file('rules.json', JSON.stringify(rules));
  expect(await callersOf(lines, { ...form, callerRules })).toEqual(['web', 'web', 'left', 'api']);
});

test('a line has one id however it ends and wherever it stands; with a key it has another', async () => {
  const lines = [line(), line({ agent: 'a' })];
  const idsOf = async (text: string, options: FormOptions = form) =>
    (await outcomesOf(text, options)).map(([, outcome]) => outcome[0]);
  const ids = await idsOf(lines.join('\n'));
  expect(new Set(ids).size).toBe(2);
  expect(await idsOf(`${lines.toReversed().join('\r\n')}\r\n`)).toEqual(ids.toReversed());
  const keyed = await idsOf(lines.join('\n'), { ...form, idKey: file('long', 'k'.repeat(32)) });
  expect(new Set([...ids, ...keyed]).size).toBe(4);
});
