/**
 * `npm run bench` measures the server on SQLite, `npm run bench -- NAME` runs any one benchmark. Prints tables and
 * writes the ratios to `bench/results.md`. Fewer rounds and lines are for trying it out, more for less noise.
 */
import { parseArgs } from 'node:util';
import { benchBeside } from './beside.js';
import { benchExport } from './export.js';
import { benchHandWritten } from './hand-written.js';
import { benchImport, requireSqliteTool } from './import.js';
import { benchOverload } from './overload.js';
import { benchPostgres } from './postgres.js';
import { benchRecording } from './recording.js';
import { benchSeries } from './series.js';
import { measured, type Report, saveReport, toText } from './support/report.js';
import { type Workspace, withWorkspace } from './support/workspace.js';

interface Options {
  readonly rounds: number | undefined;
  readonly seconds: number | undefined;
  readonly lines: number | undefined;
  readonly readers: number | undefined;
  readonly note: (line: string) => void;
}

interface Benchmark {
  /** Throws if the machine lacks a requirement. */
  readonly require: () => void;
  readonly run: (workspace: Workspace, options: Options) => Promise<Report>;
}

const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  beside: {
    require: () => {},
    run: (workspace, { rounds = 5, seconds = 5, lines = 100_000, readers = 8, note }) =>
      benchBeside(workspace, { rounds, seconds, lines, readers, note }),
  },
  export: {
    require: () => {},
    run: (workspace, { rounds = 9, seconds = 0.4, lines = 10_000_000, note }) =>
      benchExport(workspace, { rounds, seconds, lines, note }),
  },
  'hand-written': {
    require: () => {},
    run: (workspace, { rounds = 9, seconds = 1, note }) =>
      benchHandWritten(workspace, { rounds, seconds, note }),
  },
  import: {
    require: requireSqliteTool,
    run: (workspace, { rounds = 9, lines = 5_000_000, note }) =>
      benchImport(workspace, { rounds, lines, note }),
  },
  overload: {
    require: () => {},
    run: (workspace, { rounds = 3, seconds = 3, lines = 100_000, note }) =>
      benchOverload(workspace, { rounds, seconds, lines, note }),
  },
  postgres: {
    require: () => {},
    run: (workspace, { rounds = 3, seconds = 1, lines = 1_000_000, note }) =>
      benchPostgres(workspace, { rounds, seconds, lines, note }),
  },
  recording: {
    require: () => {},
    run: (workspace, { rounds = 9, seconds = 0.5, note }) =>
      benchRecording(workspace, { rounds, seconds, note }),
  },
  series: {
    require: () => {},
    run: (workspace, { rounds = 9, seconds = 0.4, lines = 100_000, note }) =>
      benchSeries(workspace, { rounds, seconds, lines, note }),
  },
};

/** They run by default and measure the server on SQLite. The one with the largest database comes last, because it slows the others. */
const BY_DEFAULT = ['series', 'recording', 'overload', 'export'];

const names = Object.keys(BENCHMARKS).join(', ');
const usage = `npm run bench -- [NAME...] [--rounds N] [--seconds N] [--lines N] [--readers N], where NAME is one of: ${names}`;

async function main(args: readonly string[]): Promise<void> {
  const { chosen, options, given } = readArguments(args);
  for (const { require } of chosen.values()) require();
  // Shared by all benchmarks, because large databases take long to create.
  await withWorkspace(async (workspace) => {
    for (const { run } of chosen.values()) {
      const startedAt = performance.now();
      const report = measured(await run(workspace, options));
      await workspace.stop();
      saveReport(report, given);
      process.stdout.write(toText(report));
      options.note(`${report.name}: took ${Math.round((performance.now() - startedAt) / 1000)} s`);
    }
  });
}

function readArguments(args: readonly string[]): {
  chosen: ReadonlyMap<string, Benchmark>;
  options: Options;
  /** The options as they were written. */
  given: string;
} {
  const string = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { rounds: string, seconds: string, lines: string, readers: string },
  });
  const chosen = new Map<string, Benchmark>();
  for (const name of positionals.length === 0 ? BY_DEFAULT : positionals) {
    const benchmark = Object.hasOwn(BENCHMARKS, name) ? BENCHMARKS[name] : undefined;
    if (benchmark === undefined) throw new Error(`There is no benchmark ${name}. ${usage}`);
    chosen.set(name, benchmark);
  }
  const options = {
    rounds: positive('rounds', values.rounds),
    seconds: positive('seconds', values.seconds),
    lines: positive('lines', values.lines),
    readers: positive('readers', values.readers),
    note: (line: string) => process.stderr.write(`${seconds()} s  ${line}\n`),
  };
  const given = Object.entries(values)
    .map(([name, value]) => ` --${name} ${value}`)
    .join('');
  return { chosen, options, given };
}

/** Seconds since the start. */
function seconds(): string {
  return Math.round(performance.now() / 1000)
    .toString()
    .padStart(4);
}

function positive(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new Error(`--${name}: ${text} is not a whole number above 0. ${usage}`);
  return Number(text);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
