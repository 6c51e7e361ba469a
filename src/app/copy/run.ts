/** Copies everything from one store into another, and compares their counts. */

import { type CallerCount, type Counts, withTotal, zeroCounts } from '../../domain/counting/counts.js';
import { ALL_TIME } from '../../domain/counting/date-range.js';
import { CallerStatsError } from '../../domain/errors.js';
import { formatTime } from '../../domain/format.js';
import type { ApiKey } from '../../domain/keys/api-key.js';
import { importedCountsMax } from '../../domain/limits.js';
import type { Actor } from '../../domain/people/audit.js';
import { describeRights, type Member } from '../../domain/people/member.js';
import type { Organization } from '../../domain/projects/organization.js';
import type { Project } from '../../domain/projects/project.js';
import type { RecordedQuery } from '../../domain/queries/receipt.js';
import type { Clock } from '../../domain/time/clock.js';
import type { Corrections } from '../../storage/ports/corrections.js';
import type { RecordedCount } from '../../storage/ports/counts.js';
import type { RecordResult } from '../../storage/ports/store.js';
import { Carried, recordCarriedCounts, recordCarriedQueries, restoreCorrection } from '../carried.js';
import { Batcher } from '../import/batcher.js';
import type { Progress } from '../progress.js';
import { pagesOf } from '../reading/pages.js';
import { copyKeys } from './keys.js';
import { createUnlessTaken, type Side, type Tally } from './side.js';

/** A page of this size takes much less time than the deadline of a database query. */
const pageQueries = 10_000;

export interface CopiedProject extends RecordResult {
  readonly id: string;
  /** How many of the queries that were read are withdrawn. */
  readonly withdrawn: number;
  /** The queries in imported counts that are not withdrawn. */
  readonly importedQueries: number;
  /** Whether the source has corrections that are not in the target. */
  readonly correctedMeanwhile: boolean;
  /** The counts after copying. */
  readonly source: Counts;
  readonly target: Counts;
  /** The same by caller. */
  readonly callers: Readonly<Record<'source' | 'target', readonly CallerCount[]>>;
}

export type Stock = Awaited<ReturnType<typeof takeStock>>;

export type Copied = Awaited<ReturnType<typeof copyStock>>;

/** Everything to copy, with the keys of each organization. Of the queries only their number; more may be recorded meanwhile. */
export async function takeStock(from: Side, nowMs: number) {
  const organizations = await from.ask((store) => store.directory.listOrganizations());
  const members: Member[] = [];
  const keys = new Map<string, readonly ApiKey[]>();
  const projects: Project[] = [];
  for (const { id } of organizations)
    members.push(...(await from.ask((store) => store.directory.listMembers(id))));
  // Keys before projects, so that the project of each key is listed even if both are new.
  for (const { id } of organizations) keys.set(id, await from.ask((store) => store.directory.listKeys(id)));
  for (const { id } of organizations)
    projects.push(...(await from.ask((store) => store.directory.listProjects(id))));
  for (const project of projects) requireAllRows(project, from);
  let queries = 0;
  for (const { id } of projects) queries += (await countAll(from, id)).total;
  return {
    organizations,
    members,
    keys,
    projects,
    queries,
    left: await countLeftOut(organizations, projects, from, nowMs),
  };
}

/** What organizations and projects have that is not copied. */
async function countLeftOut(
  organizations: readonly Organization[],
  projects: readonly Project[],
  from: Side,
  nowMs: number,
) {
  const left = { invitations: 0, shareLinks: 0, notifications: 0 };
  for (const { id } of organizations) {
    const open = await from.ask((store) => store.directory.listInvitations(id, nowMs));
    left.invitations += open.length;
  }
  for (const { organizationId, id } of projects) {
    const [links, rules] = await from.ask((store) =>
      Promise.all([
        store.directory.listShareLinks(organizationId, id),
        store.notifications.listNotifications(organizationId, id),
      ]),
    );
    left.shareLinks += links.length;
    left.notifications += rules.length;
  }
  return left;
}

/** Counts whose rows were removed by retention cannot be copied. */
function requireAllRows({ id, rowsFrom }: Project, { name }: Side): void {
  if (rowsFrom === null) return;
  throw new CallerStatsError(
    'invalid',
    `The retention of the project ${id} in ${name} has removed the rows of its queries from before ` +
      `${formatTime(rowsFrom)}. They still count there, but cannot be copied. Nothing was copied.`,
  );
}

/** Copies everything. Safe to repeat, because existing things are not created again. */
export async function copyStock(
  { organizations, members, keys, projects }: Stock,
  from: Side,
  to: Side,
  io: { readonly clock: Clock; readonly randomInt: (max: number) => number },
  progress: Progress,
) {
  const by: Actor = { name: 'copy', address: null, at: io.clock.now() };
  const organizationTally: Tally = { copied: 0, present: 0 };
  const keyTally: Tally = { copied: 0, present: 0 };
  for (const organization of organizations) {
    const made = await createUnlessTaken(() =>
      to.ask((store) => store.directory.createOrganization(organization, by)),
    );
    organizationTally[made ? 'copied' : 'present']++;
    const { id, secondFactor } = organization;
    if (!made) await to.ask((store) => store.directory.changeOrganization(id, { secondFactor }, by));
  }
  for (const project of projects) await copyProject(project, to, by);
  // After the projects of readers. Owners first: the store refuses to demote the last owner of the target.
  const rank = ({ role }: Member) => (role === 'owner' ? 0 : 1);
  for (const member of members.toSorted((a, b) => rank(a) - rank(b))) await copyMember(member, to, by);
  for (const [organizationId, organizationKeys] of keys) {
    const { copied, present } = await copyKeys(organizationId, organizationKeys, to, { ...io, by });
    keyTally.copied += copied;
    keyTally.present += present;
  }
  let read = 0;
  const onRead = (queries: number) => {
    read += queries;
    progress.advance(queries);
    progress.show(read);
  };
  const results = new Map<string, Rows & { readonly carried: Carried }>();
  for (const { id } of projects) {
    const carried = await copyCorrections(id, from, to, io.clock);
    const importedQueries = await copyImportedCounts(id, carried, from, to, io.clock, onRead);
    results.set(id, {
      carried,
      importedQueries,
      ...(await copyQueries(id, carried, from, to, io.clock, onRead)),
    });
  }
  const copied: CopiedProject[] = [];
  for (const [id, { carried, ...result }] of results) {
    const source = await countWithCallers(from, id);
    const target = await countWithCallers(to, id);
    const [newest] = await from.ask((store) => store.corrections.listCorrections(id, undefined, 1));
    const correctedMeanwhile = newest !== undefined && carried.idOf(newest.number) === undefined;
    copied.push({
      ...{ id, source: source.counts, target: target.counts, correctedMeanwhile },
      ...{ callers: { source: source.callers, target: target.callers }, ...result },
    });
  }
  for (const project of projects) await copyRetention(project, to, by);
  return { organizations: organizationTally, keys: keyTally, projects: copied };
}

/** An existing member gets the role and projects of the source. */
async function copyMember(member: Member, to: Side, by: Actor): Promise<void> {
  if (await createUnlessTaken(() => to.ask((store) => store.directory.addMember(member, by)))) return;
  const { organizationId, email } = member;
  const there = await to.ask((store) => store.directory.listMembers(organizationId));
  const rights = describeRights(member);
  if (there.some((one) => one.email === email && describeRights(one) === rights)) return;
  await to.ask((store) => store.directory.changeMember(organizationId, email, member, by));
}

/** Queries are copied into the project of the same id, but not if that belongs to another organization. */
async function copyProject(project: Project, to: Side, by: Actor): Promise<void> {
  // Without retention, which would refuse older queries: see `copyRetention`.
  const made = { ...project, retentionDays: null };
  if (await createUnlessTaken(() => to.ask((store) => store.directory.createProject(made, by)))) return;
  const there = await to.ask((store) => store.directory.findProject(project.organizationId, project.id));
  if (there !== undefined) return requireAllRows(there, to);
  throw new CallerStatsError(
    'already_exists',
    `The project ${project.id} belongs to the organization ${project.organizationId}, but in the target ${to.name} a project ` +
      'with this id belongs to another organization, or was deleted a moment ago. Copy into another database.',
  );
}

/** Sets the retention after all queries are copied. An existing retention stays. */
async function copyRetention(project: Project, to: Side, by: Actor): Promise<void> {
  const { organizationId, id, retentionDays } = project;
  if (retentionDays === null) return;
  const there = await to.ask((store) => store.directory.findProject(organizationId, id));
  if (there?.retentionDays !== null) return;
  await to.ask((store) => store.directory.changeProject(organizationId, id, { retentionDays }, by));
}

type Rows = Pick<CopiedProject, 'recorded' | 'duplicates' | 'withdrawn' | 'importedQueries'>;

/** Corrections that are finished. Those that follow are for another copy. */
async function copyCorrections(projectId: string, from: Side, to: Side, clock: Clock): Promise<Carried> {
  const carried = new Carried();
  const reads = {
    listFinished: (...args: ListFinished) => from.ask((store) => store.corrections.listFinished(...args)),
  };
  for await (const one of carried.read(reads, projectId))
    await to.ask((store) => restoreCorrection({ store, clock }, projectId, one));
  return carried;
}

type ListFinished = Parameters<Corrections['listFinished']>;

/** Reads one page while the last is being recorded. */
async function copyQueries(
  projectId: string,
  carried: Carried,
  from: Side,
  to: Side,
  clock: Clock,
  onRead: (queries: number) => void,
): Promise<Omit<Rows, 'importedQueries'>> {
  const batcher = new Batcher((queries) =>
    to.ask((store) => recordCarriedQueries({ store, clock }, { kind: 'copy' }, projectId, queries)),
  );
  let withdrawn = 0;
  const read = (after: RecordedQuery | undefined) =>
    from.ask((store) => store.counts.readQueries(projectId, after?.id, pageQueries));
  for await (const page of pagesOf(read)) {
    for (const one of page) {
      const query = carried.describe(one);
      if (query.isWithdrawn) withdrawn++;
      await batcher.add(query);
    }
    onRead(page.length);
  }
  await batcher.flush();
  return { recorded: batcher.recorded, duplicates: batcher.duplicates, withdrawn };
}

/** Returns the number of queries in the counts that are not withdrawn. */
async function copyImportedCounts(
  projectId: string,
  carried: Carried,
  from: Side,
  to: Side,
  clock: Clock,
  onRead: (queries: number) => void,
): Promise<number> {
  let queries = 0;
  const readPage = (after: RecordedCount | undefined) =>
    from.ask((store) => store.counts.readImportedCounts(projectId, after, importedCountsMax));
  for await (const page of pagesOf(readPage)) {
    const counts = page.map((one) => carried.describeCount(one));
    await to.ask((store) => recordCarriedCounts({ store, clock }, projectId, counts));
    const read = counts.reduce((sum, { count, withdrawnBy }) => sum + (withdrawnBy === null ? count : 0), 0);
    onRead(read);
    queries += read;
  }
  return queries;
}

function countAll(side: Side, projectId: string): Promise<Counts> {
  return side.ask((store) => store.counts.count(projectId, ALL_TIME));
}

/** One snapshot. */
function countWithCallers({ ask }: Side, projectId: string) {
  return ask((store) =>
    store.counts.readTogether(projectId, async (reads) => {
      const [counts] = await reads.countSeries(projectId, [ALL_TIME.from, ALL_TIME.to]);
      const { callers } = await reads.countCallers(projectId, ALL_TIME);
      return { counts: counts ?? withTotal(zeroCounts()), callers };
    }),
  );
}
