/** The options of commands that read reports from the store or a running server. */
import { type Command, Option } from 'commander';
import { requireProject } from '../../app/projects.js';
import {
  createStoreSource,
  LIST_PROJECTS,
  type Report,
  type ReportSource,
  SERIES,
  unknownProject,
} from '../../app/reading/reports.js';
import { REPORT_PARAMETER_NAMES, type ReportInput } from '../../domain/counting/report-request.js';
import type { Series } from '../../domain/counting/series.js';
import type { Project } from '../../domain/projects/project.js';
import type { WeekStart } from '../../domain/time/calendar.js';
import type { TimeZone } from '../../domain/time/time-zone.js';
import { noSuchProject } from '../../http/server/errors.js';
import { RequestError } from '../../shared/api-client.js';
import type { Store } from '../../storage/ports/store.js';
import type { Io } from '../io.js';
import { ServerClient } from '../server-client.js';
import { settingOption } from '../settings/settings.js';
import { organizationOption, readStoreSettings, runOnStore } from '../store-command.js';

/** The command that lists projects, for messages. */
export const PROJECT_LIST = 'caller-stats project list';

/** The values of the options that `addSourceOptions` adds. */
export interface SourceOptions {
  readonly organization: string;
  readonly database?: string;
  readonly url?: string;
}

export function addSourceOptions(command: Command): Command {
  return command
    .addOption(organizationOption().conflicts('url'))
    .addOption(settingOption('database').conflicts('url'))
    .addOption(
      new Option(
        '--url <url>',
        'read from a running server, with the key in CALLER_STATS_KEY, instead of the database',
      ),
    );
}

/**
 * Opens the source that the options name, and closes it after `work`, even if that fails. `listing` is the command or tool
 * that lists projects. Throws `UsageError` if an option or the key is invalid.
 */
export async function runOnSource<T>(
  { organization, database, url }: SourceOptions,
  io: Io,
  listing: string,
  work: (source: ReportSource) => Promise<T>,
): Promise<T> {
  if (url !== undefined) {
    const client = new ServerClient(url, io);
    return work({
      read: async <Asked, Answer>(
        { operation, parameters }: Report<Asked, Answer>,
        projectId: string,
        ask: (weekStart: WeekStart | null) => Asked,
        input: ReportInput,
      ) => {
        const given = parameters.map((one) => [REPORT_PARAMETER_NAMES[one], input[one]] as const);
        const answer = (await client
          .get(projectId, operation, Object.fromEntries(given))
          .catch((error: unknown) => {
            throw asOfTool(error, projectId, listing);
          })) as Answer;
        // Only these depend on the project's setting, which the server knows.
        const isOfWeeks = input.weekStart === undefined && input.period?.endsWith('-week') === true;
        const projects = isOfWeeks ? await client.listProjects() : [];
        const weekStart = projects.find(({ id }) => id === projectId)?.weekStart ?? null;
        return { question: ask(weekStart), answer };
      },
      recordingBegan: (projectId, timeZone) => findBeginning(client, projectId, timeZone),
      projects: () => client.listProjects(),
    });
  }
  const settings = readStoreSettings({ database }, io);
  return runOnStore(settings, (store) =>
    work(createStoreSource(store, [{ organizationId: organization }], listing)),
  );
}

/** As `requireProject`, with an error that names the command which lists projects. */
export function requireListed(store: Store, organizationId: string, id: string): Promise<Project> {
  return requireProject(store, organizationId, id, () => unknownProject(id, PROJECT_LIST));
}

/** The tools of `mcp` say the same of an unknown project as those of a server at /mcp. */
function asOfTool(error: unknown, projectId: string, listing: string): unknown {
  const { cause } = error as Error;
  const isUnknown =
    cause instanceof RequestError && cause.status === 404 && cause.message === noSuchProject().message;
  return isUnknown && listing === LIST_PROJECTS ? unknownProject(projectId, listing) : error;
}

/** The first hour with queries, found by two reports of the server. */
async function findBeginning(
  client: ServerClient,
  projectId: string,
  timeZone: TimeZone,
): Promise<string | null> {
  const findFirst = async (input: Readonly<Record<string, string>>) => {
    const series = (await client.get(projectId, SERIES.operation, { timeZone, ...input })) as Series;
    return series.buckets.find(({ total }) => total > 0);
  };
  const month = await findFirst({ interval: 'month' });
  if (month === undefined) return null;
  const hour = await findFirst({ interval: 'hour', dateFrom: month.start, dateTo: month.end });
  return hour?.start ?? null;
}
