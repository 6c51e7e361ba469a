/** Reading the audit log, for the command line and the dashboard. */
import { parseDateRange } from '../domain/counting/date-bounds.js';
import { formatTime } from '../domain/format.js';
import { auditEntriesMax } from '../domain/limits.js';
import { AUDIT_ACTIONS, type AuditEntry, type AuditFilter } from '../domain/people/audit.js';
import { collectProblems, failure, prefixProblems, quote, type Result, success } from '../domain/result.js';
import type { Store } from '../storage/ports/store.js';

/** The names of a filter's fields in requests. */
export const AUDIT_FIELDS = ['from', 'to', 'actor', 'action', 'target', 'before', 'limit'] as const;

/** Entries in a page, unless the request says how many. */
const pageEntries = 50;

/** Checks a filter. Each problem begins with the name of its field; `names` has other names of the two bounds. */
export function parseAuditFilter(
  input: { readonly [Name in (typeof AUDIT_FIELDS)[number]]?: string | undefined },
  names = { from: 'from', to: 'to' },
): Result<AuditFilter> {
  const { actor, action, target } = input;
  const range = parseDateRange(input, names);
  const before =
    input.before === undefined
      ? success(undefined)
      : prefixProblems('before', parseNumber(input.before, Number.MAX_SAFE_INTEGER));
  const limit = prefixProblems('limit', parseNumber(input.limit ?? String(pageEntries), auditEntriesMax - 1));
  const known = AUDIT_ACTIONS.find((one) => one === action);
  const problems = collectProblems(range, before, limit);
  if (action !== known)
    problems.push(`action: ${quote(action ?? '')} is not one of ${AUDIT_ACTIONS.join(', ')}`);
  if (problems.length > 0 || !(range.ok && before.ok && limit.ok)) return failure(...problems);
  return success({
    ...range.value,
    ...(actor !== undefined && { actor }),
    ...(known !== undefined && { action: known }),
    ...(target !== undefined && { targetId: target }),
    ...(before.value !== undefined && { before: before.value }),
    limit: limit.value,
  });
}

/** A page of entries, newest first, and whether there are older ones. */
export async function readAuditPage(store: Store, organizationId: string, filter: AuditFilter) {
  const entries = await store.directory.readAudit(organizationId, { ...filter, limit: filter.limit + 1 });
  return {
    entries: entries.slice(0, filter.limit).map(auditEntryToJson),
    more: entries.length > filter.limit,
  };
}

/** All entries that match the filter, newest first, whatever its limit. Reads the store in pages. */
export async function readAllAudit(store: Store, organizationId: string, filter: AuditFilter) {
  const entries: AuditEntry[] = [];
  for (;;) {
    const before = entries.at(-1)?.number;
    const page = await store.directory.readAudit(organizationId, {
      ...filter,
      ...(before !== undefined && { before }),
      limit: auditEntriesMax,
    });
    entries.push(...page);
    if (page.length < auditEntriesMax) return entries.map(auditEntryToJson);
  }
}

function auditEntryToJson({ at, ...entry }: AuditEntry) {
  return { at: formatTime(at), ...entry };
}

function parseNumber(text: string, max: number): Result<number> {
  const number = Number(text);
  return /^\d{1,16}$/.test(text) && number >= 1 && number <= max
    ? success(number)
    : failure(`${quote(text)} is not a whole number from 1 to ${max}`);
}
