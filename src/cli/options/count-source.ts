/** The options of commands that read reports from the store or a running server. */
import { type Command, Option } from 'commander';
import { createStoreSource, type Report, type ReportSource } from '../../app/reports.js';
import { REPORT_PARAMETER_NAMES, type ReportInput } from '../../domain/counting/report-request.js';
import type { Io } from '../io.js';
import { ServerClient } from '../server-client.js';
import { settingOption } from '../settings/settings.js';
import { organizationOption, readStoreSettings, runOnStore } from '../store-command.js';

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
        _asked: Asked,
        input: ReportInput,
      ) => {
        const given = parameters.map((one) => [REPORT_PARAMETER_NAMES[one], input[one]] as const);
        return (await client.get(projectId, operation, Object.fromEntries(given))) as Answer;
      },
      projects: () => client.listProjects(),
    });
  }
  const settings = readStoreSettings({ database }, io);
  return runOnStore(settings, (store) =>
    work(createStoreSource(store, { organizationId: organization }, listing)),
  );
}
