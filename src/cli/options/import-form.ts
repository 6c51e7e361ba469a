/** The options of `import` that describe the files. */
import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import type { LogReading } from '../../app/import/access-log.js';
import type { FieldMap, QueryField } from '../../app/import/fields.js';
import { FORMATS, type Form, type Format } from '../../app/import/formats.js';
import { fileProblem } from '../../app/import/source.js';
import { ASSISTANT_EVENT, STREAM_FIELDS } from '../../app/import/stream.js';
import { CALLER_FORM, isCallerName } from '../../domain/queries/caller.js';
import { type CallerRules, callerRulesProblems } from '../../domain/queries/caller-detection.js';
import { QUERY_FIELDS } from '../../domain/queries/query.js';
import { quote } from '../../domain/result.js';
import { TIME_FORMATS, type TimeFormat } from '../../domain/time/timestamp-formats.js';
import { UsageError } from '../io.js';
import { collect } from '../store-command.js';

export interface FormOptions {
  readonly format?: Format;
  readonly map?: readonly string[];
  readonly caller?: string;
  readonly callerValue?: readonly string[];
  readonly timeFormat?: TimeFormat;
  readonly event?: readonly string[];
  readonly path?: string;
  readonly method?: readonly string[];
  readonly status?: readonly string[];
  readonly site?: readonly string[];
  readonly callerRules?: string;
  readonly idKey?: string;
}

/** Options that do not apply to access logs, and options that apply to nothing else. */
const FIELD_FLAGS = ['--map', '--caller-value', '--time-format'];
const LOG_FLAGS = ['--path', '--method', '--status', '--site', '--caller-rules', '--id-key'];

/** A shorter key could be guessed. */
const idKeyBytesMin = 16;

export function addFormOptions(command: Command): Command {
  const formats = Object.entries(FORMATS).map(([name, what]) => `${name}: ${what}`);
  const timeFormat =
    'rfc3339 (the default); utc: UTC without an offset, as databases write it; s, ms: since 1970';
  return command
    .addOption(new Option('--format <format>', formats.join('; ')).choices(Object.keys(FORMATS)))
    .option(
      '--map <field=name>',
      "the name of a query's id, caller or occurredAt in the files; ignores all other fields (repeatable)",
      collect,
    )
    .option('--caller <name>', 'the caller of queries without one')
    .option('--caller-value <value=name>', 'the caller for a value in the files (repeatable)', collect)
    .addOption(new Option('--time-format <format>', timeFormat).choices(TIME_FORMATS))
    .option(
      '--event <type>',
      `stream: the type of events that are queries (repeatable; default: ${ASSISTANT_EVENT})`,
      collect,
    )
    .option('--path <pattern>', "access-log: a regular expression for the paths of the assistant's requests")
    .option('--method <name>', 'access-log: a method of its requests (repeatable; default: POST)', collect)
    .option(
      '--status <status>',
      'access-log: a status of its requests, such as 200 or 2xx (repeatable; default: 2xx)',
      collect,
    )
    .option(
      '--site <origin>',
      'access-log: an origin of the documentation site, such as https://docs.example.com (repeatable)',
      collect,
    )
    .option('--caller-rules <file>', 'access-log: a JSON file with rules that name callers')
    .option('--id-key <file>', 'access-log: a file with a secret from which ids are derived');
}

/** Checks the options together. Throws `UsageError` with every problem. */
export async function readForm(given: FormOptions): Promise<Form> {
  const options = withCallerOfProperty(given);
  const problems: string[] = [];
  const { format, map, caller, timeFormat = 'rfc3339', event = [ASSISTANT_EVENT] } = options;
  const reading = {
    map: readMap(options, problems),
    caller,
    callerValues: readCallerValues(options, problems),
    timeFormat,
  };
  if (caller !== undefined && !isCallerName(caller))
    problems.push(`--caller: ${describeInvalidCaller(caller)}`);
  problems.push(...findMisplaced(options));
  if (format === 'stream' && caller === undefined && !map?.some((one) => one.startsWith('caller='))) {
    problems.push(
      '--caller: is missing; name the caller of all events, or the property that has it, such as properties.source',
    );
  }
  const log = format === 'access-log' ? await readLogOptions(options, problems) : undefined;
  if (problems.length > 0) throw new UsageError(problems);
  return { format, reading, eventTypes: new Set(event), log };
}

/** For streams, `--caller properties.source` is short for `--map caller=properties.source`. */
function withCallerOfProperty({ caller, ...options }: FormOptions): FormOptions {
  if (caller === undefined) return options;
  if (options.format !== 'stream' || !caller.startsWith('properties.')) return { ...options, caller };
  return { ...options, map: [...(options.map ?? []), `caller=${caller}`] };
}

/** Problems with options that do not apply to the format. */
function findMisplaced({ format, ...options }: FormOptions): string[] {
  const values: Readonly<Record<string, unknown>> = { ...options };
  const given = (flags: readonly string[]) =>
    flags.filter((flag) => values[new Option(flag).attributeName()] !== undefined);
  return [
    ...given(format === 'stream' ? [] : ['--event']).map((flag) => `${flag}: is for --format stream`),
    ...(format === 'access-log'
      ? given(FIELD_FLAGS).map((flag) => `${flag}: does not apply to access logs, which have no fields`)
      : given(LOG_FLAGS).map((flag) => `${flag}: is for --format access-log`)),
  ];
}

/** Fields that are not mapped keep their own names. */
function readMap({ map: given, format }: FormOptions, problems: string[]): FieldMap | undefined {
  if (given === undefined) return undefined;
  const map = new Map<QueryField, string>();
  for (const one of given) {
    const [, name = '', there = ''] = /^([^=]*)=(.+)$/.exec(one) ?? [];
    const field = QUERY_FIELDS.find((known) => known === name);
    if (field === undefined) {
      problems.push(`--map: ${quote(one)} is not id=NAME, caller=NAME or occurredAt=NAME`);
    } else if (map.has(field)) problems.push(`--map: ${field} is given twice`);
    else map.set(field, there);
  }
  const own = format === 'stream' ? STREAM_FIELDS : { id: 'id', caller: 'caller', occurredAt: 'occurredAt' };
  return { ...own, ...Object.fromEntries(map) };
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

/** Adds all problems to `problems`; the result is valid only if there are none. */
async function readLogOptions(
  { path, method = ['POST'], status = ['2xx'], site, callerRules, caller, idKey }: FormOptions,
  problems: string[],
): Promise<LogReading> {
  const check = (flag: string, values: readonly string[], pattern: RegExp, form: string) => {
    const wrong = values.filter((value) => !pattern.test(value));
    problems.push(...wrong.map((value) => `${flag}: ${quote(value)} is not ${form}`));
  };
  check('--method', method, /^[A-Za-z]+$/, 'a method');
  check('--status', status, /^[1-5](\d\d|xx)$/, 'a status such as 200 or 2xx');
  if ((site ?? callerRules ?? caller) === undefined) {
    // A recorded query cannot be changed, so an import without any rule is more likely a mistake.
    problems.push('--site: is missing; name the documentation site, or give --caller-rules or --caller');
  }
  const pattern = readPattern(path, problems);
  const rules = callerRules === undefined ? {} : await readRules(callerRules, problems);
  const siteProblems = callerRulesProblems({ siteOrigins: site ?? [] });
  problems.push(...siteProblems.map((problem) => `--site: ${problem.replace(/^[^:]*: /, '')}`));
  return {
    path: pattern,
    methods: new Set(method.map((one) => one.toUpperCase())),
    statuses: new Set(status),
    rules: {
      ...rules,
      siteOrigins: [...(rules.siteOrigins ?? []), ...(site ?? [])],
      ...(caller !== undefined && { fallback: caller }),
    },
    idKey: idKey === undefined ? undefined : readKeyFile(idKey, problems),
  };
}

function readPattern(source: string | undefined, problems: string[]): RegExp {
  if (source === undefined) problems.push("--path: is missing; give a pattern such as '^/assistant/'");
  try {
    return new RegExp(source ?? '');
  } catch (error) {
    problems.push(`--path: ${(error as Error).message}`);
    return /^/;
  }
}

async function readRules(file: string, problems: string[]): Promise<CallerRules> {
  const bytes = readSmallFile('--caller-rules', file, problems);
  if (bytes === undefined) return {};
  // Loaded only here: the schema library takes longer to load than the rest of a command.
  const { parseRulesFile } = await import('../../app/import/rules-file.js');
  const rules = parseRulesFile(bytes);
  if (rules.ok) return rules.value;
  problems.push(...rules.problems.map((problem) => `--caller-rules: ${file}: ${problem}`));
  return {};
}

function readKeyFile(file: string, problems: string[]): Uint8Array | undefined {
  const key = readSmallFile('--id-key', file, problems);
  if (key !== undefined && key.length < idKeyBytesMin) {
    problems.push(
      `--id-key: ${file} has fewer than ${idKeyBytesMin} bytes; make one with: openssl rand -base64 32`,
    );
  }
  return key;
}

function readSmallFile(flag: string, file: string, problems: string[]): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    problems.push(`${flag}: ${file} cannot be read: ${fileProblem(error)}`);
    return undefined;
  }
}
