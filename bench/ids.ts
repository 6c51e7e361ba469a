/**
 * Recording queries with random ids into a very large project, compared with time-ordered ids into a project of the
 * same size; alternately, in the same file and on one server.
 */
import { makeEvents } from './support/events.js';
import { type Ids, LiveTraffic } from './support/recording.js';
import type { Report } from './support/report.js';
import { Database, projectId } from './support/service.js';
import { type Sample, sendMade, type Target } from './support/traffic.js';
import type { Workspace } from './support/workspace.js';

export interface IdsOptions {
  readonly rounds: number;
  /** Approximate seconds of load per project and round. */
  readonly seconds: number;
  /** Queries in each project at the start. */
  readonly lines: number;
  readonly note: (line: string) => void;
}

export const projects: Readonly<Record<Ids, string>> = { ordered: projectId, random: 'random' };
const queriesInArray = 1_000;
const connections = 4;
const warmUp = 20;

export async function benchIds(workspace: Workspace, options: IdsOptions): Promise<Report> {
  const { rounds, seconds, lines, note } = options;
  note(`ids: recording ${lines} events`);
  const database = await Database.create(workspace, 'ids');
  await database.importEvents(makeEvents(lines, 1), lines);
  note('ids: making as many with random ids');
  await database.fill('random');
  const headers = {
    authorization: `Bearer ${await database.createAdminKey()}`,
    'content-type': 'application/json',
  };
  const target: Target = { servers: [await database.serve()], headers };
  const traffic: Readonly<Record<Ids, LiveTraffic>> = {
    ordered: new LiveTraffic(),
    random: new LiveTraffic(),
  };
  const samples: Record<Ids, Sample[]> = { ordered: [], random: [] };
  const amounts: Record<Ids, number> = { ordered: warmUp, random: warmUp };
  // Round 0 warms up and is not counted.
  for (let round = 0; round <= rounds; round++) {
    note(`ids: ${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}`);
    for (const ids of round % 2 === 0 ? (['ordered', 'random'] as const) : (['random', 'ordered'] as const)) {
      const sample = await sendMade(target, amounts[ids], connections, () =>
        traffic[ids].next([projects[ids]], ids, queriesInArray),
      );
      amounts[ids] = Math.ceil(sample.requestsPerSecond * seconds);
      if (round > 0) samples[ids].push(sample);
    }
  }
  for (const ids of ['ordered', 'random'] as const)
    await requireTotal(database, projects[ids], lines + traffic[ids].sent);
  return toReport(samples, options);
}

async function requireTotal(database: Database, project: string, expected: number): Promise<void> {
  const { total } = JSON.parse(await database.command('stats', project, '--json')) as { total: number };
  if (total !== expected) throw new Error(`${project}: ${expected} were recorded, ${total} are counted`);
}

function toReport(
  { ordered, random }: Readonly<Record<Ids, readonly Sample[]>>,
  { seconds, lines }: IdsOptions,
): Report {
  const rows = (samples: readonly Sample[]): number[] =>
    samples.map(({ requestsPerSecond }) => requestsPerSecond * queriesInArray);
  const us = (samples: readonly Sample[]): number[] =>
    samples.map(({ serversUs }) => (serversUs ?? Number.NaN) / queriesInArray);
  const ratio = (ours: readonly number[], others: readonly number[]): number[] =>
    ours.map((value, round) => value / (others[round] ?? Number.NaN));
  return {
    name: 'ids',
    method:
      `Arrays of ${queriesInArray.toLocaleString('en-US')} queries over ${connections} connections, each acknowledged on disk: with random ids (UUIDv4) into a project ` +
      `with ${lines.toLocaleString('en-US')} queries of this kind, compared with ids in time order (UUIDv7) into a project of the same size. Both ` +
      `use the same file and server and alternate, about ${seconds} s each per round.`,
    ratios: [
      {
        what: 'rows per second, random ids over ordered',
        values: ratio(rows(random), rows(ordered)),
      },
      { what: 'processor time of a row, random ids over ordered', values: ratio(us(random), us(ordered)) },
    ],
    absolutes: [
      { what: 'ordered ids', unit: 'rows/s', values: rows(ordered) },
      { what: 'random ids', unit: 'rows/s', values: rows(random) },
      { what: 'ordered ids: processor time', unit: 'µs/row', values: us(ordered) },
      { what: 'random ids: processor time', unit: 'µs/row', values: us(random) },
    ],
  };
}
