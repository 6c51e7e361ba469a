/** The options of `import` that describe the files. */
import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import type { LogReading } from '../../app/import/access-log.js';
import type { FieldMap, QueryField, Reading } from '../../app/import/fields.js';
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

interface LogOptions {
  readonly path?: string;
  readonly method?: readonly string[];
  readonly status?: readonly string[];
  readonly site?: readonly string[];
  readonly callerRules?: string;
  readonly idKey?: string;
}

export interface FormOptions extends LogOptions {
  readonly format?: Format;
  readonly map?: readonly string[];
  readonly caller?: string;
  readonly callerValue?: readonly string[];
  readonly timeFormat?: TimeFormat;
  readonly event?: readonly string[];
}

export function addFormOptions(command: Command): Command {
  command
    .addOption(
      new Option(
        '--format <format>',
        'ndjson: one object per line; csv: columns named in the first line; stream: events of a documentation platform; access-log: of nginx or Apache',
      ).choices(FORMATS),
    )
    .option(
      '--map <field=name>',
      "the name of a query's id, caller or occurredAt in the files; ignores all other fields (repeatable)",
      collect,
    )
    .option('--caller <name>', 'the caller of queries without one')
    .option('--caller-value <value=name>', 'the caller for a value in the files (repeatable)', collect)
    .addOption(
      new Option(
        '--time-format <format>',
        'rfc3339 (the default); utc: UTC without an offset, as databases write it; s, ms: since 1970',
      ).choices(TIME_FORMATS),
    )
    .option(
      '--event <type>',
      `stream: the type of events that are queries (repeatable; ${ASSISTANT_EVENT})`,
      collect,
    );
  return addLogOptions(command);
}

/** Checks the options together. Throws `UsageError` with every problem. */
export async function readForm(given: FormOptions): Promise<Form> {
  const options = withCallerOfProperty(given);
  const problems: string[] = [];
  const { format, caller, event = [ASSISTANT_EVENT] } = options;
  const map = readMap(options, problems);
  const callerValues = readCallerValues(options.callerValue ?? [], problems);
  if (caller !== undefined && !isCallerName(caller)) problems.push(`--caller: ${notCaller(caller)}`);
  problems.push(...misplaced(options));
  if (
    format === 'stream' &&
    caller === undefined &&
    !(options.map ?? []).some((one) => one.startsWith('caller='))
  ) {
    problems.push(
      '--caller: is missing; name the caller of all events, or the property that has it, as properties.source',
    );
  }
  const log = format === 'access-log' ? await readLogOptions(options, caller, problems) : undefined;
  if (problems.length > 0) throw new UsageError(problems);
  const reading: Reading = { map, caller, callerValues, timeFormat: options.timeFormat ?? 'rfc3339' };
  return { format, reading, eventTypes: new Set(event), log };
}

/** For streams, `--caller properties.source` is short for `--map caller=properties.source`. */
function withCallerOfProperty({ caller, ...options }: FormOptions): FormOptions {
  if (caller === undefined) return options;
  if (options.format !== 'stream' || !caller.startsWith('properties.')) return { ...options, caller };
  return { ...options, map: [...(options.map ?? []), `caller=${caller}`] };
}

/** Problems with options that do not apply to the format. */
function misplaced(options: FormOptions): string[] {
  const { format, event, map, callerValue, timeFormat } = options;
  const problems = event !== undefined && format !== 'stream' ? ['--event: is for --format stream'] : [];
  if (format === 'access-log') {
    const fields = { '--map': map, '--caller-value': callerValue, '--time-format': timeFormat };
    const given = Object.entries(fields).filter(([, value]) => value !== undefined);
    return [
      ...problems,
      ...given.map(([flag]) => `${flag}: does not apply to access logs, which have no fields`),
    ];
  }
  const given = Object.entries(LOG_FLAGS).filter(([name]) => options[name as keyof LogOptions] !== undefined);
  return [...problems, ...given.map(([, flag]) => `${flag}: is for --format access-log`)];
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
  const own: FieldMap =
    format === 'stream' ? STREAM_FIELDS : { id: 'id', caller: 'caller', occurredAt: 'occurredAt' };
  return { ...own, ...Object.fromEntries(map) };
}

function readCallerValues(given: readonly string[], problems: string[]): ReadonlyMap<string, string> {
  const callers = new Map<string, string>();
  for (const one of given) {
    // Only the value can contain "=".
    const at = one.lastIndexOf('=');
    const [value, name] = [one.slice(0, Math.max(at, 0)), one.slice(at + 1)];
    if (at < 1) problems.push(`--caller-value: ${quote(one)} is not VALUE=NAME`);
    else if (!isCallerName(name)) problems.push(`--caller-value: ${notCaller(name)}`);
    else if (callers.has(value)) problems.push(`--caller-value: ${quote(value)} is given twice`);
    else callers.set(value, name);
  }
  return callers;
}

function notCaller(name: string): string {
  return `${quote(name)} is not ${CALLER_FORM}`;
}

/** The flags of `LogOptions`. */
const LOG_FLAGS: Readonly<Record<keyof LogOptions, string>> = {
  path: '--path',
  method: '--method',
  status: '--status',
  site: '--site',
  callerRules: '--caller-rules',
  idKey: '--id-key',
};

/** A shorter key could be guessed. */
const idKeyBytesMin = 16;

function addLogOptions(command: Command): Command {
  return command
    .option('--path <pattern>', "access-log: a regular expression for the paths of the assistant's requests")
    .option('--method <name>', 'access-log: a method of its requests (repeatable; POST)', collect)
    .option(
      '--status <status>',
      'access-log: a status of requests that count, 200 or 2xx (repeatable; 2xx)',
      collect,
    )
    .option(
      '--site <origin>',
      'access-log: an origin of the documentation site, https://docs.example.com (repeatable)',
      collect,
    )
    .option('--caller-rules <file>', 'access-log: a JSON file with rules that name callers')
    .option('--id-key <file>', 'access-log: a file with a secret from which ids are derived');
}

/** Adds all problems to `problems`; the result is valid only if there are none. `caller` is the default caller. */
async function readLogOptions(
  options: LogOptions,
  caller: string | undefined,
  problems: string[],
): Promise<LogReading> {
  const { path, method = ['POST'], status = ['2xx'], site, callerRules, idKey } = options;
  problems.push(
    ...method
      .filter((one) => !/^[A-Za-z]+$/.test(one))
      .map((one) => `--method: ${quote(one)} is not a method`),
  );
  problems.push(
    ...status
      .filter((one) => !/^[1-5](\d\d|xx)$/.test(one))
      .map((one) => `--status: ${quote(one)} is not a status such as 200 or 2xx`),
  );
  if ((site ?? callerRules ?? caller) === undefined) {
    // A recorded query cannot be changed, so an import without any rule is more likely a mistake.
    problems.push('--site: is missing; name the documentation site, or give --caller-rules or --caller');
  }
  return {
    path: readPattern(path, problems),
    methods: new Set(method.map((one) => one.toUpperCase())),
    statuses: new Set(status),
    rules: completeRules(
      site ?? [],
      callerRules === undefined ? {} : await readRules(callerRules, problems),
      caller,
      problems,
    ),
    idKey: idKey === undefined ? undefined : readKeyFile(idKey, problems),
  };
}

/** Adds the sites and the default caller to the rules of the file. */
function completeRules(
  sites: readonly string[],
  rules: CallerRules,
  caller: string | undefined,
  problems: string[],
): CallerRules {
  for (const problem of callerRulesProblems({ siteOrigins: sites })) {
    problems.push(`--site: ${problem.replace(/^[^:]*: /, '')}`);
  }
  const siteOrigins = [...(rules.siteOrigins ?? []), ...sites];
  return { ...rules, siteOrigins, ...(caller === undefined ? {} : { fallback: caller }) };
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
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    problems.push(`--caller-rules: ${file} is not JSON: ${(error as Error).message}`);
    return {};
  }
  // Loaded only here: the schema library takes longer to load than the rest of a command.
  const { parseRulesFile } = await import('../../app/import/rules-file.js');
  const parsed = parseRulesFile(value);
  const wrong = parsed.ok ? callerRulesProblems(parsed.value) : parsed.problems;
  problems.push(...wrong.map((problem) => `--caller-rules: ${file}: ${problem}`));
  return parsed.ok ? parsed.value : {};
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
