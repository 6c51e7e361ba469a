import { execFileSync } from 'node:child_process';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { curlCommand, quote } from '../../../dashboard/src/format/curl.js';
import { fileName } from '../../../dashboard/src/format/files.js';
import { localeOf } from '../../../dashboard/src/format/locale.js';
import { compact, count, share } from '../../../dashboard/src/format/numbers.js';
import { isLikelyBlocked, suggestProjectId } from '../../../dashboard/src/format/project-id.js';
import { relative } from '../../../dashboard/src/format/relative.js';
import { SENDERS, type Sender, snippets, testCommand } from '../../../dashboard/src/format/snippets.js';
import { browserName } from '../../../dashboard/src/format/user-agent.js';
import { callersToCsv, seriesToCsv } from '../../../src/domain/counting/csv.js';
import { isProjectId } from '../../../src/domain/projects/project.js';
import { dayMs } from '../../../src/domain/time/duration.js';

/** How a real shell parses a command line. */
function words(command: string): string[] {
  const printed = execFileSync('sh', ['-c', `printf '%s\\0' ${command}`], {
    encoding: 'utf8',
    env: { ADMIN_KEY: 'the key' },
  });
  return printed.split('\0').slice(0, -1);
}

describe('a copied command', () => {
  test('is parsed by a shell into exactly the intended words', () => {
    const text = fc.string({ unit: 'binary' }).filter((one) => !one.includes('\0'));
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 100 }), (texts) => {
        expect(words(texts.map(quote).join(' '))).toEqual(texts.map((one) => one.toWellFormed()));
      }),
      // Each run starts a shell.
      { numRuns: 10 },
    );
  });

  test('requests what is on screen by its names', () => {
    const command = curlCommand({
      origin: 'https://stats.example',
      projectId: "it's $HOME",
      operation: 'caller-stats',
      parameters: { period: 'last-month', timeZone: 'Europe/Berlin' },
    });
    expect(words(command)).toEqual([
      'curl',
      '--get',
      "https://stats.example/v1/analytics/it's%20%24HOME/assistant/caller-stats",
      '--header',
      'Authorization: Bearer the key',
      '--data-urlencode',
      'period=last-month',
      '--data-urlencode',
      'timeZone=Europe/Berlin',
    ]);
  });
});

test.each([
  ['Fresh Docs', 'fresh-docs'],
  ['  Äcme: “Größe” v2.0! ', 'acme-gro-e-v2-0'],
  ['ﬁne print', 'fine-print'],
  ['ドキュメント', ''],
  ['📚', ''],
  ['', ''],
  ['a'.repeat(100), 'a'.repeat(32)],
  [`${'a'.repeat(31)} b`, 'a'.repeat(31)],
])('the suggested id of %s is %s', (name, id) => {
  expect(suggestProjectId(name)).toBe(id);
});

test('a suggested id is valid or empty', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (name) => {
      const id = suggestProjectId(name);
      expect(id === '' || isProjectId(id)).toBe(true);
    }),
  );
});

describe('what to copy for a new project', () => {
  const to = { origin: 'https://stats.example', projectId: 'my-docs', key: null };
  const codeOf = (sender: Sender, key: string | null) =>
    snippets(sender, { ...to, key })
      .map(({ code }) => code)
      .join('\n');

  test.each(SENDERS)('%s names server, project and key', (sender) => {
    expect(codeOf(sender, null)).toContain('https://stats.example');
    expect(codeOf(sender, null)).toContain('RECORDING_KEY');
    expect(codeOf(sender, 'cs_recording_1')).toContain('cs_recording_1');
    // With OpenTelemetry, the key names the project.
    if (sender !== 'OpenTelemetry') expect(codeOf(sender, null)).toContain('my-docs');
  });

  test('a test sends no query', () => {
    expect(words(testCommand(to)).at(-1)).toBe('[]');
  });

  test('sets the key verbatim', () => {
    const [line = ''] = testCommand({ ...to, key: "a'b" }).split('\n');
    expect(words(line.replace('export ', ''))).toEqual(["RECORDING_KEY=a'b"]);
  });
});

describe('a file', () => {
  test('contains what is on screen as valid CSV', () => {
    const buckets = [
      {
        start: '2026-03-29T00:00:00.000+01:00',
        end: '2026-03-30T00:00:00.000+02:00',
        web: 1,
        api: 2,
        other: 3,
        total: 6,
      },
    ];
    const text = seriesToCsv({ interval: 'day', timeZone: 'Europe/Berlin', buckets });
    expect(text.split('\r\n')[0]).toBe('start,end,web,api,other,total');
    expect(
      parse(text, {
        columns: true,
        cast: (value, { header }) => (Number(value) >= 0 && !header ? Number(value) : value),
      }),
    ).toEqual(buckets);
  });

  test('escapes any caller name', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (names) => {
        const callers = names.map((caller) => ({ caller, type: 'other' as const, count: 1 }));
        const rows = parse(callersToCsv({ total: names.length, callers }), { relax_column_count: true });
        const shown = names.map((name) => (/^[-=+@\t\r]/.test(name) ? `'${name}` : name));
        expect(rows.slice(1).map(([name]: string[]) => name)).toEqual(shown);
      }),
    );
  });

  test.each(['=1+1', '+1', '-1', '@sum', '\t=1', '\r=1'])('no spreadsheet runs the caller %j', (caller) => {
    const text = callersToCsv({ total: 1, callers: [{ caller, type: 'other', count: 1 }] });
    expect(parse(text)[1]).toEqual([`'${caller}`, 'other', '1']);
  });

  test('has a name that is valid on every system', () => {
    expect(fileName('docs', 'all time', 'day')).toBe('docs-all-time-day');
    expect(fileName('../etc', 'a/b\\c', '')).toBe('..-etc-a-b-c-');
  });
});

test('the locale is the English of the first language, with the calendar and the digits of the page', () => {
  for (const [languages, locale] of [
    [['de', 'en-US'], 'en-GB'],
    [['en-AU', 'de'], 'en-AU'],
    [['en-US@posix', 'en-US'], 'en-GB'],
    [['en-GB-GB'], 'en-GB'],
    [['ar', 'en'], 'en-GB'],
    [['en-TH-u-ca-buddhist-nu-thai-hc-h23'], 'en-TH-u-hc-h23'],
    [[], 'en-GB'],
  ] as const) {
    const { calendar, numberingSystem } = new Intl.DateTimeFormat(localeOf(languages)).resolvedOptions();
    expect([calendar, numberingSystem]).toEqual(['gregory', 'latn']);
    expect(localeOf(languages)).toBe(
      new Intl.Locale(locale, { calendar: 'gregory', numberingSystem: 'latn' }).toString(),
    );
  }
});

describe('numbers', () => {
  test('are unabbreviated and grouped by locale', () => {
    expect(count(1_234_567, 'en')).toBe('1,234,567');
    expect(count(1_234_567, 'de')).toBe('1.234.567');
    expect(compact(1_234_567, 'en')).toBe('1.2M');
  });

  test('that are parts of nothing have no share', () => {
    expect(share(0, 0)).toBe('–');
    expect(share(9_999, 10_000)).toBe('99.99%');
  });
});

test.each([
  [0, 'just now'],
  [-4_000, 'just now'],
  [-12_000, '12 seconds ago'],
  [-119_000, '1 minute ago'],
  [-86_399_000, '23 hours ago'],
  [-dayMs, 'yesterday'],
  [5 * dayMs, 'in 5 days'],
])('%i ms from now is %s', (away, text) => {
  expect(relative(1_000_000_000_000 + away, 1_000_000_000_000)).toBe(text);
});

test.each([
  [null, 'Unknown browser'],
  ['', 'Unknown browser'],
  ['curl/8.5.0', 'curl/8.5.0'],
  ['x'.repeat(100), `${'x'.repeat(60)}…`],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0',
    'Edge on Windows',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
    'Safari on iOS',
  ],
])('the user agent %j is called %j', (userAgent, name) => {
  expect(browserName(userAgent)).toBe(name);
});

test('ids that lists of ad blockers match are known', () => {
  for (const id of ['events', 'hits', 'web-analytics', 'my_stats', 'Tracking'])
    expect(isLikelyBlocked(id), id).toBe(true);
  for (const id of ['docs', 'adapter', 'shadows', 'heading', 'statsd-docs', ''])
    expect(isLikelyBlocked(id), id).toBe(false);
});
