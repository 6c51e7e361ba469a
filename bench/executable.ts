/** The executable (`npm run binary`): its size, and the time until it serves. */
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Report } from './support/report.js';
import { Database } from './support/service.js';
import type { Workspace } from './support/workspace.js';

export interface ExecutableOptions {
  readonly rounds: number;
  readonly note: (line: string) => void;
}

const file = fileURLToPath(new URL('../dist-binary/caller-stats', import.meta.url));
const aimStart = 3;
const aimMegabytes = 150;

/** Throws early if there is none. */
export function requireExecutable(): void {
  if (!existsSync(file)) throw new Error(`There is no ${file}; make it with: npm run binary`);
}

export async function benchExecutable(
  workspace: Workspace,
  { rounds, note }: ExecutableOptions,
): Promise<Report> {
  const database = await Database.create(workspace, 'executable');
  const serve = ['serve', '--port', '0', '--log-level', 'warn', '--database', `sqlite:${database.file}`];
  const starts = {
    node: async () => (await workspace.run(process.execPath, ['-e', '0'])).seconds * 1000,
    package: () => workspace.msUntilReady(() => database.serve()),
    executable: () => workspace.msUntilReady(() => workspace.start(serve, file)),
  };
  const taken: Record<keyof typeof starts, number[]> = { node: [], package: [], executable: [] };
  // Round 0 reads the files once and is not counted.
  for (let round = 0; round <= rounds; round++) {
    note(`executable: ${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}`);
    for (const name of ['node', 'package', 'executable'] as const) {
      const ms = await starts[name]();
      if (round > 0) taken[name].push(ms);
    }
  }
  return {
    name: 'executable',
    method:
      'The time from the start of the executable, with the command `serve`, until `/readyz` responds with 200, alternating with ' +
      '`node -e 0` from start to exit, and with the built files on the same Node as the benchmark.',
    ratios: [
      {
        what: 'start to ready of the executable over `node -e 0`',
        values: taken.executable.map((ms, round) => ms / (taken.node[round] ?? Number.NaN)),
        atMost: aimStart,
      },
      {
        what: 'the same over the built files',
        values: taken.executable.map((ms, round) => ms / (taken.package[round] ?? Number.NaN)),
      },
    ],
    absolutes: [
      { what: '`node -e 0`', unit: 'ms', values: taken.node },
      { what: 'start to ready, built files', unit: 'ms', values: taken.package },
      { what: 'start to ready, executable', unit: 'ms', values: taken.executable },
      {
        what: 'size of the executable',
        unit: 'MB',
        values: [statSync(file).size / 1e6],
        atMost: aimMegabytes,
      },
    ],
  };
}
