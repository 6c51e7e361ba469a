/**
 * Recording over HTTP, with each request acknowledged once it is on disk: arrays of 1,000 queries, compared with the
 * bare writer in its own process, and single queries over 64 connections, compared with a bare echo server. Fails
 * unless everything acknowledged was counted.
 */
import { LiveTraffic } from './support/recording.js';
import type { Figure, Report } from './support/report.js';
import { Database, projectId } from './support/service.js';
import { type Message, type Sample, sendMade, type Target } from './support/traffic.js';
import { programArguments, type Workspace } from './support/workspace.js';

export interface RecordingOptions {
  readonly rounds: number;
  /** Approximate seconds of load per contestant and round. */
  readonly seconds: number;
  readonly note: (line: string) => void;
}

const queriesInArray = 1_000;
const arrayConnections = 4;
const singleConnections = 64;

/** Amounts of the warm-up, which determine the amounts of the first round: enough for V8 to compile what a request needs. */
const warmUp = { arrays: 40, singles: 20_000, echoes: 20_000 };

const aimArrays = 0.6;
const aimSingles = 0.5;

/** The samples of one round; all but `samples` in rows per second. */
interface Round {
  readonly arrays: Sample;
  readonly inProcess: number;
  readonly singles: Sample;
  readonly echoes: Sample;
}

export async function benchRecording(workspace: Workspace, options: RecordingOptions): Promise<Report> {
  const { rounds, seconds, note } = options;
  const database = await Database.create(workspace, 'recording');
  const headers = {
    authorization: `Bearer ${await database.createAdminKey()}`,
    'content-type': 'application/json',
  };
  const ours: Target = { servers: [await database.serve()], headers };
  const echo = await workspace.start(programArguments('echo-server'));
  const alone = new InProcess(workspace, await Database.create(workspace, 'recording-in-process'));
  const traffic = new LiveTraffic();
  const echoed = new LiveTraffic();

  const array = (): Message => traffic.next([projectId], 'ordered', queriesInArray);
  const single = (): Message => traffic.next([projectId], 'ordered', 1);
  const done: Round[] = [];
  let amounts = warmUp;
  // Round 0 warms up and is not counted.
  for (let round = 0; round <= rounds; round++) {
    note(`recording: ${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}`);
    const arrays = await sendMade(ours, amounts.arrays, arrayConnections, array);
    const inProcess = await alone.rate(amounts.arrays);
    const singles = await sendMade(ours, amounts.singles, singleConnections, single);
    const echoes = await sendMade({ servers: [echo], headers: {} }, amounts.echoes, singleConnections, () =>
      echoed.next([projectId], 'ordered', 1),
    );
    const planAmount = ({ requestsPerSecond }: Sample): number => Math.ceil(requestsPerSecond * seconds);
    amounts = { arrays: planAmount(arrays), singles: planAmount(singles), echoes: planAmount(echoes) };
    if (round > 0) done.push({ arrays, inProcess, singles, echoes });
  }
  await Promise.all([requireAll(database, traffic.sent), requireAll(alone.database, alone.recorded)]);
  return toReport(done, options);
}

/** The bare writer. */
class InProcess {
  readonly database: Database;
  readonly #workspace: Workspace;
  recorded = 0;

  constructor(workspace: Workspace, database: Database) {
    this.#workspace = workspace;
    this.database = database;
  }

  async rate(transactions: number): Promise<number> {
    const numbers = [this.recorded, transactions, queriesInArray].map(String);
    const args = [...programArguments('in-process'), this.database.file, projectId, ...numbers];
    const { stdout } = await this.#workspace.run(process.execPath, args);
    this.recorded += transactions * queriesInArray;
    return (transactions * queriesInArray) / (JSON.parse(stdout) as { seconds: number }).seconds;
  }
}

async function requireAll(database: Database, acknowledged: number): Promise<void> {
  const { total } = JSON.parse(await database.command('stats', projectId, '--json')) as { total: number };
  if (total !== acknowledged) throw new Error(`${acknowledged} were acknowledged, ${total} are counted`);
  await database.verify();
}

function toReport(rounds: readonly Round[], { seconds }: RecordingOptions): Report {
  const rows = ({ requestsPerSecond }: Sample): number => requestsPerSecond * queriesInArray;
  const us = (of: (round: Round) => Sample, per: number): number[] =>
    rounds.map((round) => (of(round).serversUs ?? Number.NaN) / per);
  const absolutes: Figure[] = [
    { what: 'arrays over HTTP', unit: 'rows/s', values: rounds.map(({ arrays }) => rows(arrays)) },
    { what: 'writer in-process', unit: 'rows/s', values: rounds.map(({ inProcess }) => inProcess) },
    {
      what: 'arrays over HTTP: processor time of the server',
      unit: 'µs/row',
      values: us(({ arrays }) => arrays, queriesInArray),
    },
    {
      what: 'single queries',
      unit: 'requests/s',
      values: rounds.map(({ singles }) => singles.requestsPerSecond),
    },
    {
      what: 'bare echo',
      unit: 'requests/s',
      values: rounds.map(({ echoes }) => echoes.requestsPerSecond),
    },
    {
      what: 'single queries: processor time of the server',
      unit: 'µs/request',
      values: us(({ singles }) => singles, 1),
    },
    {
      what: 'bare echo: processor time of the server',
      unit: 'µs/request',
      values: us(({ echoes }) => echoes, 1),
    },
    { what: 'single queries: p99', unit: 'ms', values: rounds.map(({ singles }) => singles.p99Ms) },
  ];
  return {
    name: 'recording',
    method:
      `Arrays of ${queriesInArray.toLocaleString('en-US')} queries with ids in time order over ${arrayConnections} connections, each acknowledged on disk, compared with the ` +
      "service's own writer in a separate process with transactions of the same size, without HTTP, JSON and threads. " +
      `Single queries over ${singleConnections} connections, each acknowledged on disk, compared with a bare \`node:http\` process that ` +
      `sends the same bodies back. They alternate, about ${seconds} s each per round. At the end the benchmark checks that ` +
      'everything acknowledged was counted, and runs `verify`.',
    ratios: [
      {
        what: 'arrays of 1,000, rows per second over the writer in-process',
        values: rounds.map(({ arrays, inProcess }) => rows(arrays) / inProcess),
        atLeast: aimArrays,
      },
      {
        what: 'single queries over 64 connections, requests per second over a bare echo',
        values: rounds.map(({ singles, echoes }) => singles.requestsPerSecond / echoes.requestsPerSecond),
        atLeast: aimSingles,
      },
    ],
    absolutes,
  };
}
