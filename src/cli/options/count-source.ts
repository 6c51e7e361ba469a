/** Where commands that read counts read them from: the store, or a running server. */
import { type Command, Option } from 'commander';
import { CallerStatsError } from '../../domain/errors.js';
import type { Project } from '../../domain/projects/project.js';
import type { Store } from '../../storage/ports/store.js';
import type { Io } from '../io.js';
import { existing, withStore } from '../open-store.js';
import { ServerClient } from '../server-client.js';
import { readKey, readSettings, STORE_SETTINGS, settingOption } from '../settings/settings.js';
import type { Asked, View } from '../stats-views.js';
import { organizationOption } from './organization.js';

/** What the options of `addSourceOptions` say. */
export interface SourceOptions {
  readonly organization: string;
  readonly database?: string;
  readonly url?: string;
}

export interface Source {
  /**
   * The answer to a question about a project. `asked` is the same question in the words it was asked in, which a server
   * parses for itself. `CallerStatsError` where there is no such project, or the server refuses or cannot be reached.
   */
  readonly read: <Question, Answer>(
    view: View<Question, Answer>,
    projectId: string,
    question: Question,
    asked: Asked,
  ) => Promise<Answer>;
  /** The projects that can be asked about, by id. A server does not tell. */
  readonly projects?: () => Promise<readonly Project[]>;
}

export function addSourceOptions(command: Command): Command {
  return command
    .addOption(organizationOption().conflicts('url'))
    .addOption(settingOption('database').conflicts('url'))
    .addOption(
      new Option(
        '--url <url>',
        'ask a running server, with the key in CALLER_STATS_KEY, instead of the database',
      ),
    );
}

/**
 * Opens what the options name, works with it, and closes it whatever happens. `listing` says where projects are listed,
 * for whoever asks about one that is not there. `UsageError` where an option or the key is not usable.
 */
export async function withSource<T>(
  { organization, database, url }: SourceOptions,
  io: Io,
  listing: string,
  work: (source: Source) => Promise<T>,
): Promise<T> {
  if (url !== undefined) {
    const once = { triesMax: 1, note: () => {} };
    return work(serverSource(new ServerClient(url, readKey(io.env), once)));
  }
  const settings = readSettings(STORE_SETTINGS, { database }, io.env);
  return withStore(settings, existing, (store) => work(storeSource(store, organization, listing)));
}

function storeSource(store: Store, organizationId: string, listing: string): Source {
  return {
    read: async (view, projectId, question) => {
      if ((await store.findProject(organizationId, projectId)) === undefined) {
        throw new CallerStatsError('not_found', `There is no project ${projectId}; see ${listing}.`);
      }
      return view.read(store, projectId, question);
    },
    projects: () => store.listProjects(organizationId),
  };
}

function serverSource(client: ServerClient): Source {
  return {
    read: async <Question, Answer>(
      { operation }: View<Question, Answer>,
      projectId: string,
      _question: Question,
      { from, to, interval, timeZone }: Asked,
    ) =>
      (await client.get(projectId, operation, { dateFrom: from, dateTo: to, interval, timeZone })) as Answer,
  };
}
