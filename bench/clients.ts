/**
 * What the clients of all three languages cost, measured in one run: `npx tsx bench/clients.ts [--rounds 5]`. Each round runs a
 * process of each, which records 100,000 queries to a server that is away, and 100,000 to one that is there. Prints medians, and
 * fails unless all of the latter were counted. Needs Linux, Go, and Python 3.9 or later.
 */
import { copyFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Database, projectId } from './support/service.js';
import { median } from './support/statistics.js';
import { withWorkspace } from './support/workspace.js';

interface Cost {
  /** Nanoseconds for a call of `record`. */
  readonly median: number;
  readonly p99: number;
  /** Rows that a process gets acknowledged in a second. */
  readonly rate: number;
  /** What 100,000 waiting queries take. */
  readonly bytes: number;
}

const queries = 100_000;
const senders = fileURLToPath(new URL('./soak/senders/', import.meta.url));
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } });
const rounds = Number(values.rounds);

await withWorkspace(async (workspace) => {
  process.env['PYTHONPATH'] = fileURLToPath(new URL('../clients/python/src', import.meta.url));
  copyFileSync(`${senders}go/go.mod`, workspace.path('go.mod'));
  const modules = ['-mod=mod', `-modfile=${workspace.path('go.mod')}`];
  await workspace.run('go', ['build', '-C', `${senders}go`, ...modules, '-o', workspace.folder, './cost']);
  const commands = {
    JavaScript: [process.execPath, '--expose-gc', `${senders}cost.mjs`],
    Python: ['python3', `${senders}cost.py`],
    Go: [workspace.path('cost')],
  };
  const database = await Database.create(workspace, 'clients');
  const key = await database.createAdminKey();
  const { url } = await database.serve();
  const found = new Map<string, Cost[]>();
  for (let round = 0; round < rounds; round++)
    for (const [name, [program = '', ...args]] of Object.entries(commands)) {
      const { stdout } = await workspace.run(program, [...args, url, projectId, key]);
      found.set(name, [...(found.get(name) ?? []), JSON.parse(stdout) as Cost]);
    }
  const response = await fetch(`${url}/v1/analytics/${projectId}/assistant/caller-stats`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const { total } = (await response.json()) as { total: number };
  const sent = rounds * queries * Object.keys(commands).length;
  if (total !== sent) throw new Error(`The server counted ${total} of ${sent}.`);
  const middle = (costs: readonly Cost[], of: keyof Cost) => median(costs.map((cost) => cost[of]));
  for (const [name, costs] of found)
    process.stdout.write(
      `${name.padEnd(10)}  record: ${(middle(costs, 'median') / 1000).toFixed(1)} µs, ` +
        `99th percentile ${(middle(costs, 'p99') / 1000).toFixed(1)} µs; ` +
        `${Math.round(middle(costs, 'rate'))} rows/s; ${Math.round(middle(costs, 'bytes') / 1e6)} MB for ${queries} waiting\n`,
    );
});
