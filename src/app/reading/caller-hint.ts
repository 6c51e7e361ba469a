/** Says of a report without queries that its caller is not one that the project ever had: likely, it is misspelt. */
import type { CallerCounts } from '../../domain/counting/counts.js';
import { suggest } from '../../domain/suggest.js';
import { CALLERS, type ReportSource } from './reports.js';

/** Of the callers with the most queries, so many are compared with the name. */
const comparedMax = 1000;

/** Undefined if the report has queries or names no caller, or the project had the caller. */
export async function findCallerHint(
  { caller }: { readonly caller?: string | undefined },
  answer: object,
  listCallers: () => Promise<CallerCounts>,
): Promise<string | undefined> {
  if (caller === undefined || !isEmpty(answer)) return undefined;
  const { callers } = await listCallers();
  if (callers.length === 0 || callers.some((one) => one.caller === caller)) return undefined;
  const near = suggest(
    caller,
    callers.slice(0, comparedMax).map((one) => one.caller),
  );
  return `no query of the caller ${caller} was ever recorded in this project${near === undefined ? '' : `; did you mean ${near}?`}`;
}

function isEmpty(answer: object): boolean {
  if ('buckets' in answer) return (answer.buckets as readonly { total: number }[]).every(isEmpty);
  return 'total' in answer && answer.total === 0;
}

export async function callersOf(
  source: ReportSource,
  projectId: string,
  nowMs: number,
): Promise<CallerCounts> {
  const ask = () => {
    const all = CALLERS.parse({}, { nowMs });
    if (!all.ok) throw new Error(all.problems.join());
    return all.value;
  };
  return (await source.read(CALLERS, projectId, ask, {})).answer;
}
