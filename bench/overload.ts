/**
 * Overload: the latency of exports while a server receives more recordings than it accepts, compared with idle; and the
 * recorded queries, compared with as many connections as it accepts. Alternately on one server.
 */

import autocannon from 'autocannon';
import { recordingsMax } from '../src/domain/limits.js';
import { residentBytesOf } from '../test/support/resident-memory.js';
import { makeEvents, writeNdjson } from './support/events.js';
import { makeRanges, toQueryString } from './support/ranges.js';
import type { Figure, Report } from './support/report.js';
import { Database, projectId } from './support/service.js';
import { quantile } from './support/statistics.js';
import { programArguments, type Server, type Workspace } from './support/workspace.js';

export interface OverloadOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly lines: number;
  readonly note: (line: string) => void;
}

/** The connections that are opened beyond those that the server accepts at once. */
const connectionsBeyond = 4 * recordingsMax;
/** Exports per second and their connections: few enough to wait only for the recordings. */
const exportsPerSecond = 100;
const exportConnections = 4;
const aimLatency = 3;

interface Recorded {
  readonly accepted: number;
  readonly refused: number;
  readonly otherwise: number;
  readonly seconds: number;
}

interface Round {
  readonly idle: readonly number[];
  readonly beside: readonly number[];
  readonly fitting: Recorded;
  readonly beyond: Recorded;
  readonly rssBytes: number;
}

export async function benchOverload(
  workspace: Workspace,
  { rounds, seconds, lines, note }: OverloadOptions,
): Promise<Report> {
  const database = await Database.create(workspace, 'overload');
  const file = workspace.path('overload.ndjson');
  await writeNdjson(file, makeEvents(lines, 1));
  await database.import(file, lines);
  const key = await database.createAdminKey();
  const server = await database.serve('--log-level', 'error');
  const record = async (connections: number, time: number): Promise<Recorded> => {
    const args = [...programArguments('recording-load'), server.url, key, `${connections}`, `${time}`];
    const recorded = JSON.parse((await workspace.run(process.execPath, args)).stdout) as Recorded;
    if (recorded.otherwise > 0)
      throw new Error(`${recorded.otherwise} recordings were neither accepted nor refused`);
    return recorded;
  };
  const done: Round[] = [];
  let acceptedInAll = 0;
  // Round 0 warms up and is not counted.
  for (let round = 0; round <= rounds; round++) {
    note(`overload: ${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}`);
    const time = round === 0 ? 1 : seconds;
    const idle = await exportTimes(server, key, time);
    // Run exports beside both, so that only the number of senders differs.
    const [fitting] = await Promise.all([record(recordingsMax, time), exportTimes(server, key, time)]);
    const [beyond, beside] = await Promise.all([
      record(connectionsBeyond, time),
      exportTimes(server, key, time),
    ]);
    acceptedInAll += fitting.accepted + beyond.accepted;
    if (round > 0)
      done.push({ idle, beside, fitting, beyond, rssBytes: residentBytesOf(server.pid) ?? Number.NaN });
  }
  const counted = await readTotal(server, key);
  // Requests in flight at the end of a round were recorded, but their responses did not arrive.
  const unheardMax = (rounds + 1) * (recordingsMax + connectionsBeyond);
  const unheard = counted - lines - acceptedInAll;
  if (unheard < 0 || unheard > unheardMax)
    throw new Error(`${counted} are counted, ${lines} were imported and ${acceptedInAll} acknowledged`);
  await database.verify();
  return toReport(done);
}

function toReport(rounds: readonly Round[]): Report {
  const ratio = (share: number) =>
    rounds.map(({ idle, beside }) => quantile(beside, share) / quantile(idle, share));
  const rate = ({ accepted, seconds }: Recorded) => accepted / seconds;
  const ms = (what: string, share: number, of: (round: Round) => readonly number[]): Figure => ({
    what,
    unit: 'ms',
    values: rounds.map((round) => quantile(of(round), share)),
  });
  return {
    name: 'overload',
    method:
      `${exportsPerSecond} exports per second over ${exportConnections} connections from a server on SQLite that accepts ${recordingsMax} concurrent recordings ` +
      `at a time: alone, and while ${connectionsBeyond} connections record single queries and retry at once when they are ` +
      `refused. The recording rate is compared with that of ${recordingsMax} connections beside the same exports. The senders run in ` +
      'a separate process on the same cores. The benchmark checks that everything acknowledged was counted.',
    ratios: [
      {
        what: 'time of an export, median, recording saturated over idle',
        values: ratio(0.5),
        atMost: aimLatency,
      },
      {
        what: 'time of an export, p99, recording saturated over idle',
        values: ratio(0.99),
        atMost: aimLatency,
      },
      {
        what: 'recorded per second, four times as many senders as are taken on over as many',
        values: rounds.map(({ fitting, beyond }) => rate(beyond) / rate(fitting)),
      },
      {
        what: 'share of recordings that are refused',
        values: rounds.map(({ beyond }) => beyond.refused / (beyond.refused + beyond.accepted)),
      },
    ],
    absolutes: [
      ms('export, idle: median', 0.5, ({ idle }) => idle),
      ms('export, idle: p99', 0.99, ({ idle }) => idle),
      ms('export, recording saturated: median', 0.5, ({ beside }) => beside),
      ms('export, recording saturated: p99', 0.99, ({ beside }) => beside),
      {
        what: 'recorded, as many senders as are taken on',
        unit: 'rows/s',
        values: rounds.map(({ fitting }) => rate(fitting)),
      },
      {
        what: 'recorded, four times as many',
        unit: 'rows/s',
        values: rounds.map(({ beyond }) => rate(beyond)),
      },
      {
        what: 'resident memory of the server',
        unit: 'MB',
        values: rounds.map(({ rssBytes }) => rssBytes / 1e6),
      },
    ],
  };
}

/** Milliseconds of each export. Throws where any was not answered with 200. */
/** Milliseconds of each of so many seconds' exports, at a rate that keeps nothing busy. */
async function exportTimes({ url }: Server, key: string, seconds: number): Promise<number[]> {
  const times: number[] = [];
  let failed = 0;
  const options = {
    url,
    connections: exportConnections,
    duration: seconds,
    overallRate: exportsPerSecond,
    ignoreCoordinatedOmission: true,
    requests: makeRanges('ms').map((range) => ({
      method: 'GET' as const,
      path: `/v1/analytics/${projectId}/assistant/caller-stats?${toQueryString(range, 'ms')}`,
      headers: { authorization: `Bearer ${key}` },
    })),
  };
  await new Promise<void>((resolve, reject) => {
    const load = autocannon(options, (error) => (error ? reject(error) : resolve()));
    load.on('response', (_client, status, _bytes, ms) => {
      times.push(ms);
      if (status !== 200) failed++;
    });
  });
  if (failed > 0 || times.length === 0) throw new Error(`${failed} of ${times.length} exports failed`);
  return times;
}

async function readTotal({ url }: Server, key: string): Promise<number> {
  const path = `${url}/v1/analytics/${projectId}/assistant/caller-stats`;
  const answer = await fetch(path, { headers: { authorization: `Bearer ${key}` } });
  return ((await answer.json()) as { total: number }).total;
}
