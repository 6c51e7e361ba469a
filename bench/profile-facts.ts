/** What a CPU profile does not show: the composition of the file and of memory, and the bytes written per row. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { residentBytesOf } from '../test/support/resident-memory.js';
import { projects } from './ids.js';
import { makeEvents } from './support/events.js';
import { load } from './support/load.js';
import { makeRanges, toQueryString } from './support/ranges.js';
import { type Ids, LiveTraffic } from './support/recording.js';
import { Database, projectId } from './support/service.js';
import { sendMade } from './support/traffic.js';
import type { Server, Workspace } from './support/workspace.js';

const many = 1_000_000;
const few = 10_000;
const loadSeconds = 5;
const arrays = 200;
const queriesInArray = 1_000;
const connections = 4;
const waitMsMax = 10_000;

/** The size of each table and index in the file, largest first. */
export async function bytesOnDisk(workspace: Workspace): Promise<string[]> {
  const database = await Database.create(workspace, 'bytes');
  await database.importEvents(makeEvents(many, 1), many);
  let lines: string[] = [];
  database.change((db) => {
    const rows = db
      .prepare(
        `SELECT name, sum(pgsize) AS bytes, sum(unused) AS unused, sum(payload) AS payload FROM dbstat
         GROUP BY name ORDER BY bytes DESC LIMIT 4`,
      )
      .all() as { name: string; bytes: number; unused: number; payload: number }[];
    lines = rows.map(({ name, bytes, unused, payload }) => {
      const of = (part: number) => (part / many).toFixed(1);
      return `${of(bytes)} bytes per query in \`${name}\`: ${of(payload)} of them data, ${of(unused)} free`;
    });
  });
  return [
    ...lines,
    `${(database.sizeBytes() / many).toFixed(1)} bytes per query in total, with ${shown(many)} queries in a year`,
  ];
}

/** Bytes written to disk per row, with time-ordered and with random ids. */
export async function bytesWritten(workspace: Workspace): Promise<string[]> {
  const database = await Database.create(workspace, 'written');
  await database.importEvents(makeEvents(many, 1), many);
  await database.fill('random');
  const headers = await headersFor(database);
  const server = await database.serve();
  const lines: string[] = [];
  for (const ids of ['ordered', 'random'] as const) {
    const before = readWrittenBytes(server);
    await record(server, headers, ids);
    const bytes = (readWrittenBytes(server) - before) / (arrays * queriesInArray);
    lines.push(
      `${Math.round(bytes)} bytes written per row with ${ids} ids, in a table of ${shown(many)} rows of the same kind`,
    );
  }
  await workspace.finish(server);
  return lines;
}

/** The composition of the server's memory, idle and after a load. */
export async function memory(workspace: Workspace): Promise<string[]> {
  const database = await Database.create(workspace, 'memory');
  await database.importEvents(makeEvents(few, 1), few);
  const headers = await headersFor(database);
  const folder = workspace.path('reports');
  mkdirSync(folder);
  const server = await database.serveWith(['--report-on-signal', `--report-directory=${folder}`]);
  const rest = await measureMemory(server, folder, 1);
  const paths = makeRanges('ms').map(
    (range) => `/v1/analytics/${projectId}/assistant/caller-stats?${toQueryString(range, 'ms')}`,
  );
  await load(server, paths, headers, loadSeconds);
  await record(server, headers, 'ordered');
  const loaded = await measureMemory(server, folder, 2);
  await workspace.finish(server);
  return rest.map(([what, bytes], at) => {
    const later = loaded[at]?.[1] ?? Number.NaN;
    return `${what}: ${(bytes / 1e6).toFixed(1)} MB at rest, ${(later / 1e6).toFixed(1)} MB after ${loadSeconds} s of exports and ${shown(arrays * queriesInArray)} recorded queries`;
  });
}

async function headersFor(database: Database): Promise<Record<string, string>> {
  return { authorization: `Bearer ${await database.createAdminKey()}`, 'content-type': 'application/json' };
}

async function record(server: Server, headers: Readonly<Record<string, string>>, ids: Ids): Promise<void> {
  const traffic = new LiveTraffic();
  await sendMade({ servers: [server], headers }, arrays, connections, () =>
    traffic.next([projects[ids]], ids, queriesInArray),
  );
}

function readWrittenBytes({ pid }: Server): number {
  return Number(/^wchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
}

/** The used part of Node's diagnostic report. */
interface NodeReport {
  readonly javascriptHeap: {
    readonly heapSpaces: Readonly<Record<string, { readonly committedMemory: number }>>;
  };
  readonly workers: readonly NodeReport[];
}

async function measureMemory(
  server: Server,
  folder: string,
  reports: number,
): Promise<(readonly [what: string, bytes: number])[]> {
  const resident = residentBytesOf(server.pid) ?? Number.NaN;
  const program =
    1024 * Number(/^RssFile:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]);
  process.kill(server.pid, 'SIGUSR2');
  const report = await readReport(folder, reports);
  const heap = ({ javascriptHeap: { heapSpaces } }: NodeReport, isYoung: boolean): number =>
    Object.entries(heapSpaces)
      .filter(([name]) => name.startsWith('new_') === isYoung)
      .reduce((sum, [, { committedMemory }]) => sum + committedMemory, 0);
  const [writer] = report.workers;
  if (writer === undefined) throw new Error('The report has no writer thread.');
  const heaps = [
    ['old objects of the main thread', heap(report, false)],
    ['space for new objects of the main thread', heap(report, true)],
    ['old objects of the writer thread', heap(writer, false)],
    ['space for new objects of the writer thread', heap(writer, true)],
  ] as const;
  const known = program + heaps.reduce((sum, [, bytes]) => sum + bytes, 0);
  return [
    ['resident, in total', resident],
    ['programs and libraries', program],
    ...heaps,
    ["everything else: SQLite's pages, buffers, V8 itself", resident - known],
  ];
}

/** Waits for the report with this number. */
async function readReport(folder: string, number: number): Promise<NodeReport> {
  const deadline = performance.now() + waitMsMax;
  while (performance.now() < deadline) {
    const names = readdirSync(folder).sort();
    const name = names[number - 1];
    try {
      if (name !== undefined) return JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')) as NodeReport;
    } catch {
      // Not completely written yet.
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error(`${folder} has no report of the process.`);
}

const shown = (count: number): string => count.toLocaleString('en-US');
