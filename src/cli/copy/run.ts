/** Copies what one store holds into another, and holds the two against each other. Knows nothing of options. */
import type { ApiKey } from '../../domain/api-key.js';
import type { Counts } from '../../domain/counts.js';
import { ALL_TIME } from '../../domain/date-range.js';
import { CallerStatsError } from '../../domain/errors.js';
import type { Organization, Project } from '../../domain/project.js';
import type { RecordResult } from '../../storage/store.js';
import { Batcher } from '../batcher.js';
import type { Io } from '../io.js';
import type { Progress } from '../progress.js';
import { createUnlessTaken, type Tally } from './create.js';
import { copyKeys } from './keys.js';
import type { Side } from './side.js';

/** Queries read at a time: well below what a database takes its deadline for. */
const pageQueries = 10_000;

/** What there is to copy, but for the queries. */
export interface Stock {
  readonly organizations: readonly Organization[];
  /** By organization. */
  readonly keys: ReadonlyMap<string, readonly ApiKey[]>;
  readonly projects: readonly Project[];
  /** How many queries there are; more may arrive meanwhile. */
  readonly queries: number;
}

export interface CopiedProject extends RecordResult {
  readonly id: string;
  /** The counts of all time when everything was copied. */
  readonly source: Counts;
  readonly target: Counts;
}

export interface Copied {
  readonly organizations: Tally;
  readonly keys: Tally;
  readonly projects: readonly CopiedProject[];
}

export async function takeStock(from: Side): Promise<Stock> {
  const organizations = await from.ask((store) => store.listOrganizations());
  const keys = new Map<string, readonly ApiKey[]>();
  const projects: Project[] = [];
  // Keys first: the project of each is then among the projects, even where both were made a moment ago.
  for (const { id } of organizations) keys.set(id, await from.ask((store) => store.listKeys(id)));
  for (const { id } of organizations) projects.push(...(await from.ask((store) => store.listProjects(id))));
  let queries = 0;
  for (const { id } of projects) queries += (await countAll(from, id)).total;
  return { organizations, keys, projects, queries };
}

/** Everything it does may be done again: what is there already stays as it is. */
export async function copyStock(
  { organizations, keys, projects }: Stock,
  { from, to, io, progress }: { from: Side; to: Side; io: Pick<Io, 'randomInt'>; progress: Progress },
): Promise<Copied> {
  const organizationTally: Tally = { copied: 0, present: 0 };
  const keyTally: Tally = { copied: 0, present: 0 };
  for (const organization of organizations) {
    const made = await createUnlessTaken(() => to.ask((store) => store.createOrganization(organization)));
    organizationTally[made ? 'copied' : 'present']++;
  }
  for (const project of projects) await copyProject(project, to);
  for (const [organizationId, ofOrganization] of keys) {
    const { copied, present } = await copyKeys(organizationId, ofOrganization, to, io);
    keyTally.copied += copied;
    keyTally.present += present;
  }
  const recordings = new Map<string, RecordResult>();
  let read = 0;
  for (const { id } of projects) {
    const result = await copyQueries(id, from, to, (queries) => {
      read += queries;
      progress.advance(queries);
      progress.show(read);
    });
    recordings.set(id, result);
  }
  const copied: CopiedProject[] = [];
  for (const [id, { recorded, duplicates }] of recordings) {
    const source = await countAll(from, id);
    copied.push({ id, source, target: await countAll(to, id), recorded, duplicates });
  }
  return { organizations: organizationTally, keys: keyTally, projects: copied };
}

/** Its queries go into the project of the same id; one of another organization is somebody else's. */
async function copyProject(project: Project, to: Side): Promise<void> {
  if (await createUnlessTaken(() => to.ask((store) => store.createProject(project)))) return;
  const there = await to.ask((store) => store.findProject(project.organizationId, project.id));
  if (there !== undefined) return;
  throw new CallerStatsError(
    'already_exists',
    `The project ${project.id} is of the organization ${project.organizationId}, and in the target ${to.name} there is ` +
      'one of that id of another organization. Copy into another database.',
  );
}

/** Reads a page while the last is being recorded. */
async function copyQueries(
  projectId: string,
  from: Side,
  to: Side,
  onRead: (queries: number) => void,
): Promise<RecordResult> {
  const batcher = new Batcher((queries) => to.ask((store) => store.record(projectId, queries)));
  let afterId: string | undefined;
  do {
    const page = await from.ask((store) => store.readQueries(projectId, afterId, pageQueries));
    for (const query of page) await batcher.add(query);
    onRead(page.length);
    afterId = page.length < pageQueries ? undefined : page.at(-1)?.id;
  } while (afterId !== undefined);
  await batcher.flush();
  return { recorded: batcher.recorded, duplicates: batcher.duplicates };
}

function countAll(side: Side, projectId: string): Promise<Counts> {
  return side.ask((store) => store.count(projectId, ALL_TIME));
}
