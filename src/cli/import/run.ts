/** Reads import files and records what is good in them. Knows nothing of options, stores and servers. */
import type { Clock } from '../../domain/clock.js';
import { parseQuery, type Query } from '../../domain/query.js';
import type { Progress } from './progress.js';
import { type Format, formatOf, readRecords } from './records.js';
import { Batcher, type Sink } from './sink.js';
import type { Source } from './source.js';
import { Spool } from './spool.js';

/** What an import did. Without `strict`, `read = recorded + duplicates + bad`. */
export interface ImportTotals {
  /** Records, good and bad. */
  read: number;
  recorded: number;
  duplicates: number;
  bad: number;
}

export interface ImportPlan {
  readonly sources: readonly Source[];
  /** Undefined: as each file's name says. */
  readonly format: Format | undefined;
  /** Records nothing unless every record is good. */
  readonly strict: boolean;
  readonly sink: Sink;
  readonly clock: Clock;
  readonly progress: Progress;
}

/** Notes each bad record as `file:line: reason`, and goes on. */
export async function runImport(plan: ImportPlan): Promise<ImportTotals> {
  const batcher = new Batcher(plan.sink);
  const totals: ImportTotals = { read: 0, recorded: 0, duplicates: 0, bad: 0 };
  if (plan.strict) await recordIfAllGood(plan, batcher, totals);
  else await readAll(plan, totals, (query) => batcher.add(query));
  await batcher.flush();
  return { ...totals, recorded: batcher.recorded, duplicates: batcher.duplicates };
}

async function recordIfAllGood(plan: ImportPlan, batcher: Batcher, totals: ImportTotals): Promise<void> {
  const spool = await Spool.create();
  try {
    await readAll(plan, totals, (query) => spool.add(query));
    if (totals.bad > 0) return;
    for await (const query of spool.read()) await batcher.add(query);
  } finally {
    await spool.remove();
  }
}

async function readAll(
  plan: ImportPlan,
  totals: ImportTotals,
  onQuery: (query: Query) => Promise<void>,
): Promise<void> {
  for (const source of plan.sources) {
    const format = plan.format ?? formatOf(source.name);
    for await (const { line, value } of readRecords(source.read(plan.progress.advance), format)) {
      totals.read++;
      if (totals.read % 1000 === 0) plan.progress.show(totals.read);
      const query = value.ok ? parseQuery(value.value, plan.clock.now()) : value;
      if (query.ok) {
        await onQuery(query.value);
      } else {
        totals.bad++;
        plan.progress.note(`${source.name}:${line}: ${query.problems.join('; ')}`);
      }
    }
  }
}
