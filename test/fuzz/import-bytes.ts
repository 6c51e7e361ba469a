/** Makes files to import from the demo's events, with bad and skipped lines, and says what importing them must do. */
import type { FormOptions } from '../../src/cli/options/import-form.js';
import type { Query } from '../../src/domain/queries/query.js';
import { sampleLines } from '../support/sample.js';
import { ODD_JSON } from './json-text.js';
import type { Random } from './random.js';

export interface ImportFile {
  readonly options: FormOptions;
  readonly bytes: Buffer;
  /** The queries of good lines, by line number; without ids for access logs. */
  readonly good: ReadonlyMap<number, Omit<Query, 'id'> & { readonly id: string | undefined }>;
  /** The numbers of lines that must be reported as bad. */
  readonly bad: readonly number[];
  /** The numbers of lines that must be skipped. */
  readonly skipped: readonly number[];
}

type Sample = { readonly id: string; readonly caller: string; readonly occurredAt: string };

const samples = sampleLines()
  .slice(0, 2000)
  .map((line) => JSON.parse(line) as Sample);

/** How a kind of file writes a query, with examples of lines that are bad and lines that are skipped. */
interface Kind {
  readonly options: FormOptions;
  readonly head?: string;
  readonly tail?: string;
  readonly write: (query: Sample, random: Random) => string;
  readonly broken: readonly string[];
  readonly skipped: readonly string[];
  readonly hasNoIds?: true;
  /** Whether times keep their milliseconds in a kind without ids. */
  readonly isExact?: true;
}

const BROKEN_JSON = [
  ...ODD_JSON.filter((one) => one.trim() !== '' && !/[\n\0]/.test(one)),
  '{"id":"a","caller":"Web"}',
  '{"caller":"web"}',
  '{"id":1}',
  'x'.repeat(70_000),
];
const two = (number: number): string => String(number).padStart(2, '0');
const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

function logTime(iso: string): string {
  const time = new Date(iso);
  const clock = [time.getUTCHours(), time.getUTCMinutes(), time.getUTCSeconds()].map(two).join(':');
  return `${two(time.getUTCDate())}/${months[time.getUTCMonth()]}/${time.getUTCFullYear()}:${clock} +0000`;
}

/** Every format of `--format`, with its options. */
export const KINDS: Readonly<Record<string, Kind>> = {
  ndjson: {
    options: { format: 'ndjson' },
    write: ({ id, caller, occurredAt }) => JSON.stringify({ id, caller, occurredAt }),
    broken: BROKEN_JSON,
    skipped: [],
  },
  'ndjson with mapped fields': {
    options: {
      format: 'ndjson',
      map: ['id=message.id', 'caller=from', 'occurredAt=at'],
      timeFormat: 'ms',
      callerValue: ['Docs site=web'],
    },
    write: ({ id, caller, occurredAt }, random) =>
      JSON.stringify({
        message: { id, text: 'What is it?' },
        from: caller === 'web' ? 'Docs site' : caller,
        at: random.oneIn(2) ? Date.parse(occurredAt) : String(Date.parse(occurredAt)),
        tokens: 3,
      }),
    broken: [
      ...BROKEN_JSON,
      '{"message":{"id":"a"},"from":"web","at":1.5}',
      '{"message":"a","from":"web","at":1700000000000}',
    ],
    skipped: [],
  },
  'json array': {
    options: { records: 'data' },
    head: '{"count": 3, "data": [',
    tail: '], "next": [{"id": "z"}]}',
    write: ({ id, caller, occurredAt }) => `${JSON.stringify({ id, caller, occurredAt })},`,
    broken: [
      '{"id":1},',
      '7,',
      '"a",',
      '{"id":"a","caller":"Web"},',
      '{id:1},',
      '{"id":"a"]},',
      '[[]],',
      `"${'x'.repeat(70_000)}",`,
    ],
    skipped: [],
  },
  'umami with semicolons': {
    options: { format: 'umami', event: ['ask'], map: ['caller=tag'] },
    head: 'event_id;event_type;event_name;tag;created_at',
    write: ({ id, caller, occurredAt }, random) =>
      `${id};2;${random.oneIn(2) ? 'ask' : '"ask"'};${caller};${occurredAt.replace('T', ' ').replace('Z', '')}`,
    broken: [
      'a;2;ask;web',
      ';2;ask;web;2026-01-01 00:00:00',
      'a;2;ask;WEB;2026-01-01 00:00:00',
      'a;2;ask;web;2026-01-01',
      '"a;2;ask;web;2026-01-01 00:00:00',
    ],
    skipped: ['a;1;;;', 'a;2;copy;web;2026-01-01 00:00:00', ';1;ask;WEB;now'],
  },
  goatcounter: {
    options: { format: 'goatcounter', event: ['ask'], caller: 'sdk' },
    head: '2Path,Event,Session,Bot,Date',
    write: ({ id, occurredAt }) => `ask,true,${id},0,${occurredAt}`,
    broken: ['ask,true,a,0,', 'ask,true,a,0,now', 'ask,true,a,0', '"ask,true,a,0,2026-01-01T00:00:00Z'],
    skipped: ['/ask,false,a,0,2026-01-01T00:00:00Z', 'ask,true,a,1,2026-01-01T00:00:00Z', 'copy,true,,0,now'],
    hasNoIds: true,
    isExact: true,
  },
  csv: {
    options: { format: 'csv' },
    head: 'id,caller,occurredAt',
    write: ({ id, caller, occurredAt }, random) =>
      random.oneIn(3) ? `"${id}","${caller}",${occurredAt}` : `${id},${caller},${occurredAt}`,
    broken: [
      'a,b',
      'a,web,2026-01-01T00:00:00Z,d',
      ',web,2026-01-01T00:00:00Z',
      'a,WEB,2026-01-01T00:00:00Z',
      'a,web,now',
      '"a"b,web,2026-01-01T00:00:00Z',
      '"a,web,2026-01-01T00:00:00Z',
      '\ufffd',
      ','.repeat(300),
    ],
    skipped: [],
  },
  'csv with mapped columns': {
    options: { format: 'csv', map: ['id=ID', 'occurredAt=created'], caller: 'web', timeFormat: 'utc' },
    head: 'x,created,ID,caller',
    write: ({ id, caller, occurredAt }) =>
      `1,${occurredAt.replace('T', ' ').replace('Z', '')},${id},${caller === 'web' ? '' : caller}`,
    broken: [
      '1,2026-01-31,a,web',
      '1,,a,web',
      '1,2026-01-31 12:00:00,,web',
      '1,2026-02-30 12:00:00,a,web',
      '1,2',
    ],
    skipped: [],
  },
  stream: {
    options: { format: 'stream', caller: 'properties.source' },
    write: ({ id, caller, occurredAt }, random) => {
      const payload = { event_id: id, created_at: occurredAt, properties: { source: caller } };
      return JSON.stringify({
        eventType: 'docs.assistant.completed',
        payload: random.oneIn(2) ? payload : JSON.stringify(payload),
      });
    },
    broken: [
      ...BROKEN_JSON,
      '{"eventType":"docs.assistant.completed"}',
      '{"eventType":1}',
      '{"eventType":"docs.assistant.completed","payload":"{"}',
    ],
    skipped: ['{"eventType":"docs.page.viewed","payload":{}}', '{"eventType":"","payload":1}'],
  },
  'access-log': {
    options: { format: 'access-log', path: '^/assistant/ask$', caller: 'sdk' },
    write: ({ id, occurredAt }) =>
      `203.0.113.7 - - [${logTime(occurredAt)}] "POST /assistant/ask?q=${id.length} HTTP/1.1" 200 512 "-" "fuzz/${id.slice(0, 8)}"`,
    broken: [
      'a',
      '1.2.3.4 - - [31/Foo/2026:23:59:59 +0000] "POST /assistant/ask HTTP/1.1" 200 1 "-" "-"',
      '1.2.3.4 - - [30/Feb/2026:23:59:59 +0000] "POST /assistant/ask HTTP/1.1" 200 1 "-" "-"',
      '"'.repeat(500),
      '[['.repeat(300),
      '\\x'.repeat(400),
      'x'.repeat(70_000),
    ],
    skipped: [
      '1.2.3.4 - - [31/Jan/2026:23:59:59 +0000] "GET /assistant/ask HTTP/1.1" 200 1',
      '1.2.3.4 - - [31/Jan/2026:23:59:59 +0000] "\\x16\\x03" 400 1 "-" "-"',
    ],
    hasNoIds: true,
  },
};

function expectedQuery({ hasNoIds, isExact }: Kind, { id, caller, occurredAt }: Sample) {
  const time = Date.parse(occurredAt);
  if (!hasNoIds) return { id, caller, occurredAt: time };
  return { id: undefined, caller: 'sdk', occurredAt: isExact ? time : Math.floor(time / 1000) * 1000 };
}

/** A file of good, bad, skipped and blank lines. */
export function importFile(kind: Kind, lines: number, random: Random): ImportFile {
  const good = new Map<number, Omit<Query, 'id'> & { id: string | undefined }>();
  const [bad, skipped]: [number[], number[]] = [[], []];
  const texts = kind.head === undefined ? [] : [kind.head];
  for (let left = lines; left > 0; left--) {
    const number = texts.length + 1;
    const what = random.weighted({ good: 12, bad: 4, skip: kind.skipped.length > 0 ? 3 : 0, blank: 1 });
    if (what === 'blank') texts.push(random.pick(['', ' ', '\t']));
    else if (what === 'bad') {
      bad.push(number);
      texts.push(random.pick(kind.broken));
    } else if (what === 'skip') {
      skipped.push(number);
      texts.push(random.pick(kind.skipped));
    } else {
      const query = random.pick(samples);
      good.set(number, expectedQuery(kind, query));
      texts.push(kind.write(query, random));
    }
  }
  if (kind.tail !== undefined) texts.push(kind.tail);
  const ending = random.pick(['\n', '\r\n']);
  const bytes = Buffer.from(texts.join(ending) + (random.oneIn(2) ? ending : ''));
  return { options: kind.options, bytes, good, bad, skipped };
}
