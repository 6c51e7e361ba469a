/** The options of `import` that say what is in the files, and what they mean together. */

import { type Command, Option } from 'commander';
import type { FieldMap, QueryField, Reading } from '../../app/import/fields.js';
import { FORMATS, type Form, type Format } from '../../app/import/formats.js';
import { ASSISTANT_EVENT, STREAM_FIELDS } from '../../app/import/stream.js';
import { CALLER_PATTERN, isCallerName } from '../../domain/queries/caller.js';
import { QUERY_FIELDS } from '../../domain/queries/query.js';
import { quote } from '../../domain/result.js';
import { TIME_FORMATS, type TimeFormat } from '../../domain/time/timestamp-formats.js';
import { UsageError } from '../io.js';
import { collect } from '../store-options.js';
import { addLogOptions, LOG_FLAGS, type LogOptions, readLogOptions } from './import-log.js';

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
        'ndjson: an object a line; csv: columns named in the first line; stream: events of a documentation platform; access-log: of nginx or Apache',
      ).choices(FORMATS),
    )
    .option(
      '--map <field=name>',
      "what a query's id, caller or occurredAt is called in the files; other fields are then ignored (repeatable)",
      collect,
    )
    .option('--caller <name>', 'the caller of every query that names none')
    .option(
      '--caller-value <value=name>',
      'the caller that a value in the files stands for (repeatable)',
      collect,
    )
    .addOption(
      new Option(
        '--time-format <format>',
        'rfc3339 (the default); utc: as databases write it, UTC without an offset; s, ms: since 1970',
      ).choices(TIME_FORMATS),
    )
    .option(
      '--event <type>',
      `stream: the type of events that are queries (repeatable; ${ASSISTANT_EVENT})`,
      collect,
    );
  return addLogOptions(command);
}

/** `UsageError` with all that is wrong. */
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

/** In a stream, `--caller properties.source` is short for `--map caller=properties.source`. */
function withCallerOfProperty({ caller, ...options }: FormOptions): FormOptions {
  if (caller === undefined) return options;
  if (options.format !== 'stream' || !caller.startsWith('properties.')) return { ...options, caller };
  return { ...options, map: [...(options.map ?? []), `caller=${caller}`] };
}

/** Options that mean nothing for the format. */
function misplaced(options: FormOptions): string[] {
  const { format, event, map, callerValue, timeFormat } = options;
  const problems = event !== undefined && format !== 'stream' ? ['--event: is for --format stream'] : [];
  if (format === 'access-log') {
    const fields = { '--map': map, '--caller-value': callerValue, '--time-format': timeFormat };
    const given = Object.entries(fields).filter(([, value]) => value !== undefined);
    return [...problems, ...given.map(([flag]) => `${flag}: is for files with fields, which a log has not`)];
  }
  const given = Object.entries(LOG_FLAGS).filter(([name]) => options[name as keyof LogOptions] !== undefined);
  return [...problems, ...given.map(([, flag]) => `${flag}: is for --format access-log`)];
}

/** What is not mapped has the name that it has by itself. */
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
    // A name has no "=", a value may.
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
  return `${quote(name)} is not web, api, or a name such as slack (${CALLER_PATTERN})`;
}
