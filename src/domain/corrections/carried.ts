/** Corrections that another database has finished, as exports and copies carry them. */
import { createHash } from 'node:crypto';
import { type ArrivingCount, parseImportedCount } from '../counting/imported-count.js';
import { formatTime } from '../format.js';
import { correctionCallersMax } from '../limits.js';
import { isCallerName } from '../queries/caller.js';
import { isQueryId } from '../queries/query.js';
import { type ArrivingQuery, formatDay, parseDay, parseExportedQuery } from '../queries/receipt.js';
import { collectProblems, failure, prefixProblems, type Result, success } from '../result.js';
import { parseTimestamp } from '../time/date-time.js';
import {
  type CorrectionRequest,
  parseCorrection,
  type SelectionSummary,
  showSelection,
} from './correction.js';
import type { Figures } from './figures.js';
import type { KnownState } from './state.js';

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
  readonly known?: readonly KnownState[];
}

/** An imported count with the ids of all corrections that have withdrawn it, also of those that were undone. */
export interface CarriedCount extends ArrivingCount {
  readonly withdrawals: readonly string[];
  /** The one of them that has withdrawn it; null if it counts. */
  readonly withdrawnBy: string | null;
}

const idsHashPattern = /^sha256:[0-9a-f]{64}$/;

/** What tells whether two corrections name the same ids, however many they are. Takes their JSON. */
export function hashIds(ids: string): string {
  if (idsHashPattern.test(ids)) return ids;
  return `sha256:${createHash('sha256').update(ids).digest('hex')}`;
}

/** The query as it was recorded first. */
export function toRecorded(carried: CarriedQuery): ArrivingQuery {
  // Most queries were never corrected, and are not copied.
  const { isWithdrawn, changes, known } = carried;
  if (isWithdrawn === undefined && changes === undefined && known === undefined) return carried;
  const { id, occurredAt, receipt, caller } = carried;
  return { id, occurredAt, receipt, caller: changes?.[0]?.caller ?? caller };
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

/** As exports have it. `parseCarriedCount` reads it. */
export function showCarriedCount({ start, end, day, withdrawals, ...count }: CarriedCount): object {
  return {
    ...{ source: count.source, caller: count.caller, start: formatTime(start), end: formatTime(end) },
    ...{ count: count.count, recordedOn: day === null || day === undefined ? null : formatDay(day) },
    ...(withdrawals.length === 0 ? {} : { withdrawals, withdrawnBy: count.withdrawnBy }),
  };
}

/** Whether a line of an export is an imported count. */
export function isCarriedCount(input: unknown): input is { readonly importedCount: unknown } {
  return hasOnly(input, 'importedCount');
}

function hasOnly(input: unknown, field: string): boolean {
  return isObject(input) && Object.hasOwn(input, field) && Object.keys(input).length === 1;
}

/** Parses what `JSON.stringify` makes of the fields of an imported count. Reports every problem. */
export function parseCarriedCount(input: unknown, nowMs: number): Result<CarriedCount> {
  if (!isObject(input)) return failure('importedCount: is not an object');
  const { recordedOn = null, withdrawals = [], withdrawnBy = null, ...fields } = input;
  const count = parseImportedCount(fields, nowMs);
  const day =
    recordedOn === null ? success(null) : prefixProblems('recordedOn', parseDay(String(recordedOn)));
  const isSound = areIds(withdrawals) && (withdrawnBy === null || withdrawals.includes(`${withdrawnBy}`));
  const problems = [
    ...collectProblems(count, day),
    ...(isSound ? [] : ['withdrawals: are not the ids of corrections, with that of withdrawnBy']),
  ];
  if (problems.length > 0 || !count.ok || !day.ok || !areIds(withdrawals))
    return failure(...problems.map((problem) => `importedCount: ${problem}`));
  const by = withdrawnBy === null ? null : `${withdrawnBy}`;
  return success({ ...count.value, day: day.value, withdrawals, withdrawnBy: by });
}

function areIds(input: unknown): input is readonly string[] {
  return Array.isArray(input) && input.every((one) => typeof one === 'string' && isQueryId(one));
}

/** Whether a line of an export is a correction. */
export function isCarriedCorrection(input: unknown): input is { readonly correction: unknown } {
  return hasOnly(input, 'correction');
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
  if (!isObject(input) || !['corrections', 'withdrawn', 'known'].some((field) => field in input))
    return parseExportedQuery(input, nowMs);
  const { corrections, withdrawn = false, known, ...fields } = input;
  const query = parseExportedQuery(fields, nowMs);
  const changes = corrections === undefined ? success([]) : parseChanges(corrections);
  const states = known === undefined ? success([]) : parseKnown(known);
  const problems = [
    ...collectProblems(query, changes, states),
    ...(typeof withdrawn === 'boolean' ? [] : ['withdrawn: is not true or false']),
  ];
  if (problems.length > 0 || !query.ok || !changes.ok || !states.ok) return failure(...problems);
  const isWithdrawn = withdrawn === true;
  return success({ ...query.value, isWithdrawn, changes: changes.value, known: states.value });
}

/** As exports have it. */
export function showKnown({ day, caller, isWithdrawn, isCorrected }: KnownState): object {
  return { day: formatDay(day), caller, withdrawn: isWithdrawn, corrected: isCorrected };
}

function parseKnown(input: unknown): Result<readonly KnownState[]> {
  const problem = failure('known: is not a list of days with what the query was then');
  if (!Array.isArray(input) || input.length === 0) return problem;
  const states: KnownState[] = [];
  for (const one of input) {
    if (!isObject(one) || Object.keys(one).toSorted().join() !== 'caller,corrected,day,withdrawn')
      return problem;
    const { day, caller, withdrawn, corrected } = one;
    const parsed = parseDay(String(day));
    if (!parsed.ok || typeof caller !== 'string' || !isCallerName(caller)) return problem;
    if (typeof withdrawn !== 'boolean' || typeof corrected !== 'boolean') return problem;
    states.push({ day: parsed.value, caller, isWithdrawn: withdrawn, isCorrected: corrected });
  }
  return success(states);
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
