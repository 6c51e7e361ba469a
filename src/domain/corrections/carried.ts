/** Corrections that another database has finished, as exports and copies carry them. */
import { createHash } from 'node:crypto';
import { formatTime } from '../format.js';
import { correctionCallersMax } from '../limits.js';
import { isCallerName } from '../queries/caller.js';
import { isQueryId } from '../queries/query.js';
import { type ArrivingQuery, parseExportedQuery } from '../queries/receipt.js';
import { collectProblems, failure, prefixProblems, type Result, success } from '../result.js';
import { parseTimestamp } from '../time/date-time.js';
import {
  type CorrectionRequest,
  parseCorrection,
  type SelectionSummary,
  showSelection,
} from './correction.js';
import type { Figures } from './figures.js';

/** A correction with what it has done. */
export interface CarriedCorrection {
  readonly request: CorrectionRequest<SelectionSummary>;
  /** See `hashIds`; null if it names no ids. */
  readonly idsHash: string | null;
  readonly figures: Figures;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly finishedAt: number;
}

/** The correction that changed a query, by its id, and the caller for which the query counted before. */
export interface CarriedChange {
  readonly correction: string;
  readonly caller: string;
}

/** A query as exports and copies carry it: what it is now, and the corrections that made it so, in their order. */
export interface CarriedQuery extends ArrivingQuery {
  readonly isWithdrawn?: boolean;
  readonly changes?: readonly CarriedChange[];
}

const idsHashPattern = /^sha256:[0-9a-f]{64}$/;

/** What tells whether two corrections name the same ids, however many they are. Takes their JSON. */
export function hashIds(ids: string): string {
  if (idsHashPattern.test(ids)) return ids;
  return `sha256:${createHash('sha256').update(ids).digest('hex')}`;
}

/** The query as it was recorded first. */
export function toRecorded({ isWithdrawn, changes, ...query }: CarriedQuery): ArrivingQuery {
  return { ...query, caller: changes?.[0]?.caller ?? query.caller };
}

/** As exports have it, with the names of a request. `parseCarriedCorrection` reads it. */
export function showCarriedCorrection({ request, idsHash, ...done }: CarriedCorrection): object {
  const { id, action, reason } = request;
  return {
    ...{ id, action, reason, ...showSelection(request) },
    ...(idsHash === null ? {} : { idsHash }),
    ...(request.action === 'rename' ? { to: request.to } : {}),
    ...(request.action === 'undo' ? { correction: request.correction } : {}),
    createdBy: done.createdBy,
    createdAt: formatTime(done.createdAt),
    finishedAt: formatTime(done.finishedAt),
    figures: done.figures,
  };
}

/** Whether a line of an export is a correction. */
export function isCarriedCorrection(input: unknown): input is { readonly correction: unknown } {
  return isObject(input) && Object.keys(input).join() === 'correction';
}

/** Parses what `JSON.stringify` makes of the fields of a correction. Reports every problem. */
export function parseCarriedCorrection(input: unknown): Result<CarriedCorrection> {
  if (!isObject(input)) return failure('correction: is not an object');
  const { figures: givenFigures, createdBy, createdAt, finishedAt, idsHash, ids, ...fields } = input;
  // How many ids there were, instead of them.
  const namesIds = Number.isSafeInteger(ids) && Number(ids) > 0;
  const request = parseCorrection({ ...fields, ...(namesIds ? { ids: ['-'] } : {}) });
  const figures = parseFigures(givenFigures);
  const [created, finished] = [
    prefixProblems('createdAt', parseTimestamp(String(createdAt))),
    prefixProblems('finishedAt', parseTimestamp(String(finishedAt))),
  ];
  const problems = [
    ...collectProblems(request, figures, created, finished),
    ...(typeof createdBy === 'string' && /^\P{Cc}{1,1000}$/u.test(createdBy)
      ? []
      : ['createdBy: is not a name']),
    ...(isHash(idsHash, namesIds) ? [] : ['idsHash: is not a hash']),
  ];
  if (problems.length > 0 || !request.ok || !figures.ok || !created.ok || !finished.ok)
    return failure(...problems.map((problem) => `correction: ${problem}`));
  return success({
    request: (namesIds
      ? { ...request.value, selection: { ids } }
      : request.value) as CarriedCorrection['request'],
    idsHash: namesIds ? String(idsHash) : null,
    figures: figures.value,
    createdBy: String(createdBy),
    createdAt: created.value,
    finishedAt: finished.value,
  });
}

function isHash(hash: unknown, isNeeded: boolean): boolean {
  return isNeeded ? typeof hash === 'string' && idsHashPattern.test(hash) : hash === undefined;
}

function parseFigures(input: unknown): Result<Figures> {
  const problem = failure('figures: are not those of a correction');
  if (!isObject(input)) return problem;
  const { callers, rest, first, last } = input;
  const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
  const isTime = (value: unknown) => value === null || Number.isSafeInteger(value);
  if (!isObject(callers) || !isCount(rest) || !isTime(first) || !isTime(last)) return problem;
  const counted = Object.entries(callers);
  const isSound = counted.every(([caller, count]) => isCallerName(caller) && isCount(count));
  if (!isSound || counted.length > correctionCallersMax + 2) return problem;
  return success({ callers, rest, first, last } as unknown as Figures);
}

/** As `parseExportedQuery`, for a query that may also say what corrected it. */
export function parseCarriedQuery(input: unknown, nowMs: number): Result<CarriedQuery> {
  if (!isObject(input) || !('corrections' in input || 'withdrawn' in input))
    return parseExportedQuery(input, nowMs);
  const { corrections, withdrawn = false, ...fields } = input;
  const query = parseExportedQuery(fields, nowMs);
  const changes = corrections === undefined ? success([]) : parseChanges(corrections);
  const problems = [
    ...collectProblems(query, changes),
    ...(typeof withdrawn === 'boolean' ? [] : ['withdrawn: is not true or false']),
  ];
  if (problems.length > 0 || !query.ok || !changes.ok) return failure(...problems);
  return success({ ...query.value, isWithdrawn: withdrawn === true, changes: changes.value });
}

function parseChanges(input: unknown): Result<readonly CarriedChange[]> {
  const isChange = (one: unknown): boolean =>
    isObject(one) &&
    Object.keys(one).toSorted().join() === 'caller,id' &&
    typeof one['id'] === 'string' &&
    isQueryId(one['id']) &&
    typeof one['caller'] === 'string' &&
    isCallerName(one['caller']);
  if (!Array.isArray(input) || input.length === 0 || !input.every(isChange))
    return failure('corrections: is not a list of corrections, each with its id and the caller before');
  const changes = input as readonly { readonly id: string; readonly caller: string }[];
  return success(changes.map(({ id, caller }) => ({ correction: id, caller })));
}

function isObject(input: unknown): input is Readonly<Record<string, unknown>> {
  return typeof input === 'object' && input !== null && !Array.isArray(input);
}
