/** Corrections of what was recorded: queries are withdrawn or renamed, and each correction can be undone. */
import { parseDateRange } from '../counting/date-bounds.js';
import { ALL_TIME, type DateRange } from '../counting/date-range.js';
import { sourceProblems } from '../counting/imported-count.js';
import { formatQuantity, formatTime } from '../format.js';
import { correctionIdsMax, correctionReasonCharactersMax, unknownItemNamesMax } from '../limits.js';
import { isLongerThan } from '../names.js';
import { CALLER_FORM, isCallerName } from '../queries/caller.js';
import { isQueryId } from '../queries/query.js';
import { formatDay, parseReceiptFilter, type ReceiptFilter, type ReceiptNames } from '../queries/receipt.js';
import { collectProblems, failure, quote, type Result, success } from '../result.js';
import { unknownNameMessages } from '../suggest.js';
import { countFigures, type Figures } from './figures.js';

export const CORRECTION_ACTIONS = ['withdraw', 'rename', 'undo'] as const;

export type CorrectionAction = (typeof CORRECTION_ACTIONS)[number];

/** The queries to correct, or the imported counts of a source. Of queries, only those that were recorded before the correction. */
export type Selection =
  | { readonly ids: readonly string[] }
  | { readonly range: DateRange; readonly caller: string | null; readonly receipts: ReceiptFilter }
  | { readonly source: string };

interface Request {
  /** The sender's own, unique within the project. */
  readonly id: string;
  readonly reason: string;
}

/** What somebody asks for. */
export type CorrectionRequest<Selected = Selection> = Request &
  (
    | { readonly action: 'withdraw'; readonly selection: Selected }
    | { readonly action: 'rename'; readonly selection: Selected; readonly to: string }
    | { readonly action: 'undo'; readonly correction: string }
  );

/** A selection with the number of its ids instead of them. */
export type SelectionSummary =
  | Exclude<Selection, { readonly ids: readonly string[] }>
  | { readonly ids: number };

/** Splits a request into what is shown of it, and its ids. */
export function splitRequest(request: CorrectionRequest): {
  readonly summary: CorrectionRequest<SelectionSummary>;
  readonly ids: readonly string[] | null;
} {
  if (request.action === 'undo' || !('ids' in request.selection))
    return { summary: request as CorrectionRequest<SelectionSummary>, ids: null };
  const { ids } = request.selection;
  return { summary: { ...request, selection: { ids: ids.length } }, ids };
}

export interface Correction {
  /** Ascends within the project. */
  readonly number: number;
  readonly request: CorrectionRequest<SelectionSummary>;
  /** Of what has been done so far. */
  readonly figures: Figures;
  readonly createdBy: string;
  readonly createdAt: number;
  /** Null while it runs, or waits for earlier ones. */
  readonly finishedAt: number | null;
  /** The id of the correction that undoes it. */
  readonly undoneBy: string | null;
}

/** The fields of a filter. */
const FILTER_FIELDS = ['caller', 'dateFrom', 'dateTo', 'recordedFrom', 'recordedTo', 'recordedBy'] as const;

const SELECTION_FIELDS = ['ids', ...FILTER_FIELDS, 'source'] as const;

const CORRECTION_FIELDS = [
  ...['id', 'action', 'reason'],
  ...SELECTION_FIELDS,
  ...['to', 'correction', 'dryRun'],
] as const;

type Field = (typeof CORRECTION_FIELDS)[number];

/** The names of the fields in messages; by default those of the HTTP API. */
export type CorrectionNames = Readonly<Partial<Record<Field, string>>>;

type Input = Readonly<Record<string, unknown>>;

/** Parses a request from JSON. Reports every problem, each beginning with the field's name. */
export function parseCorrection(input: unknown, names: CorrectionNames = {}): Result<CorrectionRequest> {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return failure('is not a correction: send an object with id, action, reason and what to correct');
  const nameOf = (field: Field): string => names[field] ?? field;
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  const problems = [
    ...idProblems(given['id']).map((problem) => `${nameOf('id')}: ${problem}`),
    ...reasonProblems(given['reason']).map((problem) => `${nameOf('reason')}: ${problem}`),
    ...unknownNameMessages('field', Object.keys(given), CORRECTION_FIELDS, unknownItemNamesMax),
  ];
  const action = CORRECTION_ACTIONS.find((one) => one === given['action']);
  if (action === undefined)
    return failure(...problems, `${nameOf('action')}: is not one of ${CORRECTION_ACTIONS.join(', ')}`);
  const rest = parseAction(action, given, nameOf);
  if (problems.length > 0 || !rest.ok) return failure(...problems, ...collectProblems(rest));
  return success({ id: given['id'] as string, reason: given['reason'] as string, ...rest.value });
}

type ActionOf<R> = R extends Request ? Omit<R, keyof Request> : never;

function parseAction(
  action: CorrectionAction,
  given: Input,
  nameOf: (field: Field) => string,
): Result<ActionOf<CorrectionRequest>> {
  const misplaced = (fields: readonly Field[]): string[] =>
    fields
      .filter((field) => given[field] !== undefined)
      .map((field) => `${nameOf(field)}: does not belong to ${action}`);
  switch (action) {
    case 'undo': {
      const correction = given['correction'];
      const problems = [
        ...misplaced([...SELECTION_FIELDS, 'to']),
        ...(correction === undefined
          ? ['is missing; give the id of the correction to take back']
          : idProblems(correction)
        ).map((problem) => `${nameOf('correction')}: ${problem}`),
      ];
      return problems.length > 0 ? failure(...problems) : success({ action, correction: String(correction) });
    }
    case 'withdraw': {
      const selection = parseSelection(given, nameOf);
      const problems = misplaced(['to', 'correction']);
      if (problems.length > 0 || !selection.ok) return failure(...problems, ...collectProblems(selection));
      return success({ action, selection: selection.value });
    }
    case 'rename': {
      const selection = parseSelection(given, nameOf);
      const problems = [
        ...misplaced(['correction', 'source']),
        ...newCallerProblems(given['to'], given['caller']).map((problem) => `${nameOf('to')}: ${problem}`),
      ];
      if (problems.length > 0 || !selection.ok) return failure(...problems, ...collectProblems(selection));
      return success({ action, selection: selection.value, to: String(given['to']) });
    }
  }
}

/** Ids, a filter with at least one field, or a source. */
function parseSelection(given: Input, nameOf: (field: Field) => string): Result<Selection> {
  const isGiven = (field: Field): boolean => given[field] !== undefined;
  const filters = FILTER_FIELDS.filter(isGiven);
  const ways = [...(['ids', 'source'] as const).filter(isGiven), ...filters.slice(0, 1)];
  if (ways.length === 0) {
    const all = SELECTION_FIELDS.map(nameOf).join(', ');
    return failure(`${nameOf('ids')}: is missing, and so is every filter; name what to correct with ${all}`);
  }
  if (ways.length > 1) {
    const [one, other] = ways.map((field) => nameOf(field));
    return failure(`${one}: is given together with ${other}; give either ids, filters, or a source`);
  }
  if (isGiven('ids')) return parseIds(given['ids'], nameOf('ids'));
  if (isGiven('source')) {
    const problems = sourceProblems(given['source']);
    return problems.length > 0 ? failure(...problems) : success({ source: String(given['source']) });
  }
  return parseFilter(given, filters, nameOf);
}

function parseIds(ids: unknown, name: string): Result<Selection> {
  if (!Array.isArray(ids)) return failure(`${name}: is not an array of ids`);
  if (ids.length === 0) return failure(`${name}: is empty`);
  if (ids.length > correctionIdsMax)
    return failure(`${name}: has ${ids.length} ids; a correction takes ${correctionIdsMax}, or use a filter`);
  const problems = ids.flatMap((id, at) =>
    typeof id === 'string' && isQueryId(id) ? [] : [`${name}[${at}]: is not the id of a query`],
  );
  if (problems.length > 0) return failure(...problems);
  return success({ ids: [...new Set(ids as string[])] });
}

function parseFilter(
  given: Input,
  filters: readonly (typeof FILTER_FIELDS)[number][],
  nameOf: (field: Field) => string,
): Result<Selection> {
  const wrong = filters.filter((field) => typeof given[field] !== 'string');
  if (wrong.length > 0) return failure(...wrong.map((field) => `${nameOf(field)}: is not a string`));
  const textOf = (field: Field): string | undefined => given[field] as string | undefined;
  const range = parseDateRange(
    { from: textOf('dateFrom'), to: textOf('dateTo') },
    { from: nameOf('dateFrom'), to: nameOf('dateTo') },
  );
  const receiptFields = ['recordedFrom', 'recordedTo', 'recordedBy'] as const;
  const receipts = parseReceiptFilter(
    Object.fromEntries(receiptFields.map((field) => [field, textOf(field)])),
    Object.fromEntries(receiptFields.map((field) => [field, nameOf(field)])) as ReceiptNames,
  );
  const caller = textOf('caller') ?? null;
  const problems = [
    ...collectProblems(range, receipts),
    ...(caller === null || isCallerName(caller)
      ? []
      : [`${nameOf('caller')}: ${quote(caller)} is not a caller; a caller is ${CALLER_FORM}`]),
  ];
  if (problems.length > 0 || !range.ok || !receipts.ok) return failure(...problems);
  return success({ range: range.value, caller, receipts: receipts.value });
}

function idProblems(id: unknown): string[] {
  if (id === undefined) return ['is missing; choose an id, so that a repeat of the request changes nothing'];
  return typeof id === 'string' && isQueryId(id) ? [] : ['is not a text of 1 to 128 characters'];
}

function reasonProblems(reason: unknown): string[] {
  if (reason === undefined) return ['is missing; say why, for those who wonder about the numbers later'];
  if (typeof reason === 'string' && reason.trim() === '')
    return ['is empty; say why, for those who wonder about the numbers later'];
  if (typeof reason !== 'string' || /\p{Cc}/u.test(reason) || !reason.isWellFormed())
    return ['is not a text of one line'];
  const max = correctionReasonCharactersMax;
  return isLongerThan(reason, max) ? [`is longer than ${max} characters`] : [];
}

function newCallerProblems(to: unknown, from: unknown): string[] {
  if (to === undefined) return ['is missing; name the caller for which the queries count from now on'];
  if (typeof to !== 'string' || !isCallerName(to)) return [`is not ${CALLER_FORM}`];
  return to === from ? ['is the caller that the queries have'] : [];
}

/** What was asked for, under the names of the request. Of ids, how many there are. */
export function showSelection(
  request: CorrectionRequest<SelectionSummary>,
): Readonly<Record<string, string | number>> {
  if (request.action === 'undo') return {};
  const { selection } = request;
  if (!('receipts' in selection)) return selection;
  const { caller, range, receipts } = selection;
  const day = (number: number | null | undefined) => (number == null ? undefined : formatDay(number));
  const fields = {
    caller: caller ?? undefined,
    dateFrom: range.from === ALL_TIME.from ? undefined : formatTime(range.from),
    dateTo: range.to === ALL_TIME.to ? undefined : formatTime(range.to),
    recordedFrom: day(receipts.from),
    recordedTo: day(receipts.to),
    recordedBy: receipts.sender,
  };
  const given = Object.entries(fields).filter((field): field is [string, string] => field[1] != null);
  return Object.fromEntries(given);
}

/** A finished correction, in a sentence for the audit log. */
export function describeCorrection({ request, figures }: Pick<Correction, 'request' | 'figures'>): string {
  const { web, api, other, total } = countFigures(figures);
  const queries = `${formatQuantity(total, 'query', 'queries')} (web ${web}, api ${api}, other ${other})`;
  const { id, action, reason } = request;
  switch (action) {
    case 'withdraw':
      return `${id} withdrew ${queries}: ${reason}`;
    case 'rename':
      return `${id} renamed ${queries} to ${request.to}: ${reason}`;
    case 'undo':
      return `${id} undid ${request.correction}, ${queries}: ${reason}`;
  }
}
