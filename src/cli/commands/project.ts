/** `caller-stats project`: creates, lists, changes and deletes projects. */
import type { Command } from 'commander';
import { purgeAll } from '../../app/jobs/purge.js';
import { type ProjectJson, projectToJson } from '../../app/json.js';
import { changeProject, createProject, deleteProject } from '../../app/projects.js';
import { CallerStatsError } from '../../domain/errors.js';
import { nameCharactersMax, retentionDaysMax } from '../../domain/limits.js';
import { parseName } from '../../domain/names.js';
import { PROJECT_ID_PATTERN, type ProjectChange } from '../../domain/projects/project.js';
import { parseRetentionDays } from '../../domain/projects/retention.js';
import { TELEMETRY_DEFAULTS } from '../../domain/queries/telemetry-defaults.js';
import {
  mapTelemetrySettings,
  parseTelemetryText,
  TELEMETRY_SETTINGS,
  type TelemetrySetting,
} from '../../domain/queries/telemetry-settings.js';
import { failure, prefixProblems, quote, type Result, success } from '../../domain/result.js';
import { DEFAULT_WEEK_START, parseWeekStart, WEEK_STARTS } from '../../domain/time/calendar.js';
import { parseBound } from '../../domain/time/date-time.js';
import { parseTimeZone } from '../../domain/time/time-zone.js';
import { type Io, UsageError } from '../io.js';
import { toFlag } from '../settings/setting.js';
import { addStoreAction, readNewName } from '../store-command.js';
import { formatTable } from '../terminal/output.js';

export function addProjectCommand(program: Command, io: Io): void {
  const project = program.command('project').description('creates, lists, changes and deletes projects');
  addCreate(project, io);
  addList(project, io);
  addChange(project, io);
  addDelete(project, io);
}

function addCreate(project: Command, io: Io): void {
  const command = project
    .command('create')
    .description('creates a project and prints its id')
    .argument('<name>', `a name for people, 1 to ${nameCharactersMax} characters`)
    .option('--id <id>', `its id, which appears in URLs: ${PROJECT_ID_PATTERN} (default: a generated one)`);
  addStoreAction(command, io, {
    json: 'print the project as JSON',
    mustExist: false,
    parse: ({ id }: { id?: string }, name) => readNewName(name, id),
    run: async ({ store, organizationId, input, by }) => {
      const wanted = { organizationId, ...input };
      const created = await createProject({ store, randomInt: io.randomInt }, wanted, by);
      return { json: projectToJson(created), text: created.id };
    },
  });
}

function addList(project: Command, io: Io): void {
  addStoreAction(project.command('list').description('lists the projects'), io, {
    json: 'print them as JSON',
    run: async ({ store, organizationId }) => {
      const json = (await store.directory.listProjects(organizationId)).map(projectToJson);
      const rows = json.map((row) => [
        row.id,
        row.name,
        row.createdAt,
        row.timeZone ?? '(reader’s)',
        row.weekStart ?? DEFAULT_WEEK_START,
        row.retentionDays === null ? 'none' : `${row.retentionDays}d`,
        row.earliestAt ?? '',
        row.rowsFrom ?? '',
        describeTelemetry(row),
      ]);
      const titles = [
        'ID',
        'NAME',
        'CREATED',
        'TIME ZONE',
        'WEEK START',
        'RETENTION',
        'EARLIEST',
        'ROWS FROM',
        'OPENTELEMETRY',
      ];
      return { json, text: formatTable(titles, rows) };
    },
  });
}

/** The project's own texts, by their flags. */
function describeTelemetry(project: ProjectJson): string {
  const own = TELEMETRY_SETTINGS.filter((name) => project[name] !== null);
  return own.map((name) => `${toFlag(name)} ${project[name]}`).join(', ');
}

/** The placeholder and the description of each OpenTelemetry setting. */
const TELEMETRY_OPTIONS: { readonly [Name in TelemetrySetting]: readonly [string, string] } = {
  otlpQuery: [
    'rules',
    'which OpenTelemetry spans and log records belong to questions: those with one of these values, such as ' +
      'http.route=/api/ask,/api/chat; several rules with ; between; default is the known instrumentations',
  ],
  otlpId: [
    'source',
    'what tells queries apart: question (their id, else the span of the server, else the trace), trace, span, or an ' +
      'attribute whose values identify queries',
  ],
  otlpCaller: ['attribute', 'attribute with the caller, of the span, log record or resource'],
  otlpDefaultCaller: ['caller', 'caller if neither attributes nor headers name one'],
  otlpSiteOrigins: [
    'origins',
    'origins of the documentation site, such as https://docs.example.com, or none; requests from them have the caller web',
  ],
};

type ChangeOptions = {
  readonly [Name in
    | 'name'
    | 'timeZone'
    | 'weekStart'
    | 'retentionDays'
    | 'earliestAt'
    | TelemetrySetting]?: string;
};

function addChange(project: Command, io: Io): void {
  const command = project
    .command('change')
    .description('changes the properties of a project that are given')
    .argument('<id>', 'its id, from project list')
    .option('--name <name>', `a name for people, 1 to ${nameCharactersMax} characters`)
    .option('--time-zone <zone>', "an IANA name such as Europe/Berlin, or none for the reader's own")
    .option('--week-start <day>', `the day on which weeks begin: ${WEEK_STARTS.join(', ')}`)
    .option(
      '--retention-days <days>',
      `days after which queries lose their rows, but not their counts: 1 to ${retentionDaysMax}, or none for never`,
    )
    .option(
      '--earliest-at <time>',
      'refuse queries of senders from before this date or time (UTC); none to record them, and flag those before 2000',
    );
  for (const name of TELEMETRY_SETTINGS) {
    const [placeholder, description] = TELEMETRY_OPTIONS[name];
    command.option(
      `--${toFlag(name)} <${placeholder}>`,
      `${description} (default: ${TELEMETRY_DEFAULTS[name]})`,
    );
  }
  addStoreAction(command, io, {
    json: 'print the project as JSON',
    parse: (options: ChangeOptions, id) => ({ id, change: readChange(options) }),
    run: async ({ store, organizationId, input: { id, change }, by }) => {
      const changed = await changeProject(store, { organizationId, id }, change, by);
      return { json: projectToJson(changed), text: `changed ${id} (${changed.name})` };
    },
  });
}

/** The parsers of the options. */
const CHANGES: { readonly [Name in keyof ChangeOptions]-?: (text: string) => Result<unknown> } = {
  name: parseName,
  timeZone: (text) => (text === 'none' ? success(null) : parseTimeZone(text)),
  weekStart: parseWeekStart,
  retentionDays: parseRetentionDays,
  earliestAt: (text) => (text === 'none' ? success(null) : parseBound(text)),
  ...mapTelemetrySettings((setting) => (text: string) => readTelemetryText(setting, text)),
};

/** Throws `UsageError` with every problem. */
function readChange(options: ChangeOptions): ProjectChange {
  const names = Object.keys(CHANGES) as (keyof ChangeOptions)[];
  const change: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const name of names) {
    const text = options[name];
    if (text === undefined) continue;
    const parsed = prefixProblems(`--${toFlag(name)}`, CHANGES[name](text));
    if (parsed.ok) change[name] = parsed.value;
    else problems.push(...parsed.problems);
  }
  if (problems.length === 0 && Object.keys(change).length === 0)
    problems.push(`project change: give at least one of --${names.map(toFlag).join(', --')}`);
  if (problems.length > 0) throw new UsageError(problems);
  return change;
}

function readTelemetryText(setting: TelemetrySetting, text: string): Result<string | null> {
  if (text === TELEMETRY_DEFAULTS[setting]) return success(null);
  const parsed = parseTelemetryText(setting, text);
  return parsed.ok ? parsed : failure(...parsed.problems.map((problem) => `${quote(text)} ${problem}`));
}

function addDelete(project: Command, io: Io): void {
  const command = project
    .command('delete')
    .description('deletes a project forever, with its recording and reading keys, its queries and its counts')
    .argument('<id>', 'its id, from project list')
    .requiredOption('--confirm <name>', 'the name of the project, to make sure that it is the right one')
    .addHelpText(
      'after',
      '\nThe project is gone at once. Removing its data takes a while; if interrupted, a running server continues.',
    );
  addStoreAction(command, io, {
    json: 'print the deleted project as JSON',
    parse: ({ confirm }: { confirm: string }, id) => ({ id, confirm }),
    run: async ({ store, organizationId, input: { id, confirm }, by }) => {
      const confirmation = { name: confirm, field: '--confirm' };
      try {
        const deleted = await deleteProject(store, { organizationId, id }, confirmation, by);
        await purgeAll(store);
        return { json: projectToJson(deleted), text: `deleted ${id} (${deleted.name})` };
      } catch (error) {
        if (!(error instanceof CallerStatsError && error.code === 'invalid')) throw error;
        throw new UsageError(error.details.map((detail) => `${detail}; project list shows its name`));
      }
    },
  });
}
