/** The options of `import` that describe the files. */
import { InvalidArgumentError, Option } from 'commander';
import type { FieldMap, QueryField } from '../../app/import/fields.js';
import { FORMATS, type Form, type Format } from '../../app/import/formats.js';
import { findPreset, PRESETS, type Preset } from '../../app/import/presets.js';
import { ASSISTANT_EVENT, STREAM_FIELDS } from '../../app/import/stream.js';
import { CALLER_FORM, isCallerName } from '../../domain/queries/caller.js';
import { QUERY_FIELDS } from '../../domain/queries/query.js';
import { quote } from '../../domain/result.js';
import { parseTimeZone } from '../../domain/time/time-zone.js';
import { LocalClock, TIME_FORMATS, type TimeFormat } from '../../domain/time/timestamp-formats.js';
import { UsageError } from '../io.js';
import { settingOption } from '../settings/settings.js';
import { collect } from '../store-command.js';
import { LOG_FLAGS, type LogOptions, readIdOrigin, readLogOptions } from './access-log-form.js';
import { COUNT_FORMATS } from './history-form.js';

export interface FormOptions extends LogOptions {
  readonly format?: Format;
  readonly map?: readonly string[];
  readonly callerValue?: readonly string[];
  readonly timeFormat?: TimeFormat;
  readonly where?: readonly string[];
  readonly idFrom?: 'line';
  readonly records?: string;
  readonly event?: readonly string[];
  readonly timeZone?: string;
}

export const OTLP_FORMAT = 'otlp';
export const LOG_FORMAT = 'access-log';

const otlpFormat = "files of the OpenTelemetry Collector's file exporter; needs --url";

/** Options that do not apply to access logs. */
const FIELD_FLAGS = ['--map', '--caller-value', '--time-format', '--where', '--id-from', '--records'];

/** The formats with events of several kinds. */
const EVENT_FORMATS = [
  'stream',
  'plausible',
  ...Object.keys(PRESETS).filter((name) => findPreset(name)?.event),
];

/** What all three commands take. */
export function commonOptions(): Option[] {
  return [
    new Option('--project <id>', 'the project to record into').makeOptionMandatory(),
    new Option('--caller <name>', 'the caller of queries without one'),
    new Option('--strict', 'record nothing if any record is bad'),
    new Option('--dry-run', 'record nothing; print what would be recorded, by month (UTC) and caller'),
    settingOption('database').conflicts('url'),
    new Option(
      '--url <url>',
      'record into a running server, with the key in CALLER_STATS_KEY, instead of the database',
    ),
  ];
}

/** `import` also takes the formats that have a command of their own. */
export function formatOption(): Option {
  const shown = Object.entries({ ...FORMATS, [OTLP_FORMAT]: otlpFormat }).filter(
    ([name]) => name !== LOG_FORMAT,
  );
  const names = Object.keys({ ...FORMATS, [OTLP_FORMAT]: '', ...COUNT_FORMATS });
  const text = `${shown.map(([name, what]) => `${name}: ${what}`).join('; ')}. Those of counts and logs have commands`;
  return new Option('--format <format>', text).argParser((given) => {
    if (names.includes(given)) return given;
    throw new InvalidArgumentError(`Allowed choices are ${names.join(', ')}.`);
  });
}

/** About the fields of records. */
export function fieldOptions(): Option[] {
  const timeFormat =
    'rfc3339 (the default); utc: UTC without an offset, as databases write it; s, ms: since 1970';
  return [
    repeatable(
      '--map <field=name>',
      "the name of a query's id, caller or occurredAt in the files; ignores all other fields (repeatable)",
    ),
    repeatable('--caller-value <value=name>', 'the caller for a value in the files (repeatable)'),
    new Option('--time-format <format>', timeFormat).choices(TIME_FORMATS),
    repeatable(
      '--where <field=value>',
      'counts only records with this value in a field; several values of one field are alternatives (repeatable)',
    ),
    new Option('--id-from <source>', 'line: makes ids for files without them, from all of a record').choices([
      'line',
    ]),
    new Option(
      '--records <field>',
      'JSON: the field with the array of the records, if they are inside an object',
    ),
    repeatable(
      '--event <name>',
      `${EVENT_FORMATS.join(', ')}: the events that are queries (repeatable; default of stream: ${ASSISTANT_EVENT})`,
    ),
  ];
}

/** About where records without ids and times without offsets come from. */
export function originOptions(): Option[] {
  return [
    new Option('--time-zone <zone>', 'the time zone of times without an offset'),
    new Option(
      '--source <name>',
      'for ids that are made of lines: the server that wrote the files, if several did, or an empty name if they are one log',
    ),
    new Option(
      '--id-key <file>',
      'for ids that are made of lines: a file with a secret from which they are derived',
    ),
  ];
}

/** About the lines of access logs. */
export function logOptions(): Option[] {
  return [
    new Option('--path <pattern>', "a regular expression for the paths of the assistant's requests"),
    repeatable('--method <name>', 'a method of its requests (repeatable; default: POST)'),
    repeatable(
      '--status <status>',
      'a status of its requests, such as 200 or 2xx (repeatable; default: 2xx)',
    ),
    repeatable(
      '--site <origin>',
      'an origin of the documentation site, such as https://docs.example.com (repeatable)',
    ),
    new Option('--caller-rules <file>', 'a JSON file with rules that name callers'),
  ];
}

function repeatable(flags: string, description: string): Option {
  return new Option(flags, description).argParser(collect);
}

/** Checks the options together. Throws `UsageError` with every problem. */
export async function readForm(given: FormOptions): Promise<Form> {
  const options = withCallerOfProperty(given);
  const problems: string[] = [];
  const { format, caller, event = [ASSISTANT_EVENT], records } = options;
  const preset = findPreset(format);
  const reading = {
    map: readMap(options, preset, problems),
    caller,
    callerValues: readCallerValues(options, problems),
    clock: readClock(options, problems),
    timeFormat: options.timeFormat ?? preset?.timeFormat ?? 'rfc3339',
    where: readWhere(options, preset, problems),
    recordIds: readRecordIds(options, preset, problems),
  };
  if (caller !== undefined && !isCallerName(caller))
    problems.push(`--caller: ${describeInvalidCaller(caller)}`);
  problems.push(...findMisplaced(options, preset), ...findMissing(options, preset));
  const log = format === 'access-log' ? await readLogOptions(options, reading.clock, problems) : undefined;
  if (problems.length > 0) throw new UsageError(problems);
  const path = records?.split('.') ?? preset?.records ?? [];
  return { format, reading, records: path, eventTypes: new Set(event), log };
}

/** For streams, `--caller properties.source` is short for `--map caller=properties.source`. */
function withCallerOfProperty({ caller, ...options }: FormOptions): FormOptions {
  if (caller === undefined) return options;
  if (options.format !== 'stream' || !caller.startsWith('properties.')) return { ...options, caller };
  return { ...options, map: [...(options.map ?? []), `caller=${caller}`] };
}

/** Problems with options that do not apply to the format. */
function findMisplaced({ format, ...options }: FormOptions, preset: Preset | undefined): string[] {
  const values: Readonly<Record<string, unknown>> = { ...options };
  const given = (flags: readonly string[]) =>
    flags.filter((flag) => values[new Option(flag).attributeName()] !== undefined);
  const isLog = format === 'access-log';
  const isJson = preset === undefined ? format !== 'csv' && format !== 'stream' : preset.base !== 'csv';
  const makes = isLog || makesIds(options, preset);
  const counts = Object.keys(COUNT_FORMATS).join(', ');
  const rules: readonly [flags: readonly string[], applies: boolean, problem: string][] = [
    [
      ['--event'],
      EVENT_FORMATS.some((name) => name === format),
      `is for --format ${EVENT_FORMATS.join(', ')}`,
    ],
    [FIELD_FLAGS, !isLog, 'does not apply to access logs, which have no fields'],
    [LOG_FLAGS, isLog, 'is for --format access-log'],
    [['--id-key'], makes, 'is for --format access-log and --id-from line'],
    [['--source'], makes, `is for --format ${counts}, access-log and --id-from line`],
    [['--records'], isLog || isJson, 'is for JSON'],
  ];
  return rules.flatMap(([flags, applies, problem]) =>
    applies ? [] : given(flags).map((flag) => `${flag}: ${problem}`),
  );
}

/** Whether ids are made of the records, because these have none. */
function makesIds({ idFrom, map = [] }: FormOptions, preset: Preset | undefined): boolean {
  const hasId = preset === undefined || preset.id !== undefined || map.some((one) => one.startsWith('id='));
  return idFrom !== undefined || !hasId;
}

/** Problems with options that the format needs: what is recorded stays, so nothing is guessed. */
function findMissing(
  { format, event, where, ...options }: FormOptions,
  preset: Preset | undefined,
): string[] {
  const hasCaller =
    options.caller !== undefined || (options.map ?? []).some((one) => one.startsWith('caller='));
  const problems: string[] = [];
  if (preset?.event !== undefined && event === undefined && where === undefined) {
    problems.push('--event: is missing; name the event that stands for a question');
  }
  if (!hasCaller && (format === 'stream' || preset !== undefined)) {
    problems.push(
      `--caller: is missing; name the caller of all ${preset === undefined ? 'events' : 'records'}, or the ` +
        (preset === undefined
          ? 'property that has it, such as properties.source'
          : 'field that has it with --map caller=FIELD'),
    );
  }
  return problems;
}

/** Fields that are not mapped keep their own names. Undefined if the records are queries already. */
function readMap(
  { map: given = [], format, where, idFrom }: FormOptions,
  preset: Preset | undefined,
  problems: string[],
): FieldMap | undefined {
  const map = new Map<QueryField, string>();
  for (const one of given) {
    const [, name = '', there = ''] = /^([^=]*)=(.+)$/.exec(one) ?? [];
    const field = QUERY_FIELDS.find((known) => known === name);
    if (field === undefined) {
      problems.push(`--map: ${quote(one)} is not id=NAME, caller=NAME or occurredAt=NAME`);
    } else if (map.has(field)) problems.push(`--map: ${field} is given twice`);
    else map.set(field, there);
  }
  if (map.has('id') && idFrom !== undefined) problems.push('--id-from: conflicts with --map id=…');
  if (given.length === 0 && where === undefined && idFrom === undefined && preset === undefined)
    return undefined;
  const own = { id: 'id', caller: 'caller', occurredAt: 'occurredAt' };
  const { id = own.id, occurredAt = own.occurredAt } = preset ?? {};
  return {
    ...(format === 'stream' ? STREAM_FIELDS : { ...own, id, occurredAt }),
    ...Object.fromEntries(map),
  };
}

/** What is given for a field replaces what the preset says of it. */
function readWhere(
  { where: given = [], event = [] }: FormOptions,
  preset: Preset | undefined,
  problems: string[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const where = new Map<string, Set<string>>();
  const add = (field: string, value: string) =>
    where.set(field, new Set([...(where.get(field) ?? []), value]));
  for (const one of given) {
    const [, field, value = ''] = /^([^=]+)=(.*)$/s.exec(one) ?? [];
    if (field === undefined) problems.push(`--where: ${quote(one)} is not FIELD=VALUE`);
    else add(field, value);
  }
  if (preset?.event !== undefined) for (const one of event) add(preset.event, one);
  for (const [field, value] of Object.entries(preset?.where ?? {})) if (!where.has(field)) add(field, value);
  return where;
}

function readRecordIds(
  options: FormOptions,
  preset: Preset | undefined,
  problems: string[],
): Form['reading']['recordIds'] {
  if (options.format === 'access-log' || !makesIds(options, preset)) return undefined;
  return readIdOrigin(options, problems);
}

/** The clock of times without an offset; undefined without `--time-zone`. */
function readClock({ timeZone, timeFormat }: FormOptions, problems: string[]): LocalClock | undefined {
  if (timeZone === undefined) return undefined;
  const zone = parseTimeZone(timeZone);
  if (!zone.ok) problems.push(...zone.problems.map((problem) => `--time-zone: ${problem}`));
  if (timeFormat !== undefined) problems.push(`--time-zone: conflicts with --time-format ${timeFormat}`);
  return zone.ok ? new LocalClock(zone.value) : undefined;
}

function readCallerValues(
  { callerValue: given = [] }: FormOptions,
  problems: string[],
): ReadonlyMap<string, string> {
  const callers = new Map<string, string>();
  for (const one of given) {
    // Only the value can contain "=".
    const at = one.lastIndexOf('=');
    const [value, name] = [one.slice(0, Math.max(at, 0)), one.slice(at + 1)];
    if (at < 1) problems.push(`--caller-value: ${quote(one)} is not VALUE=NAME`);
    else if (!isCallerName(name)) problems.push(`--caller-value: ${describeInvalidCaller(name)}`);
    else if (callers.has(value)) problems.push(`--caller-value: ${quote(value)} is given twice`);
    else callers.set(value, name);
  }
  return callers;
}

function describeInvalidCaller(name: string): string {
  return `${quote(name)} is not ${CALLER_FORM}`;
}
