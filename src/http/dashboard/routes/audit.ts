/** `GET …/audit`: who changed what, newest first. */
import type { FastifyInstance } from 'fastify';
import { parseDateRange } from '../../../domain/counting/date-range.js';
import { auditEntriesMax } from '../../../domain/limits.js';
import {
  AUDIT_ACTIONS,
  type AuditAction,
  type AuditEntry,
  type AuditFilter,
} from '../../../domain/people/audit.js';
import { failure, quote, type Result, success } from '../../../domain/result.js';
import { readParameters } from '../../request/parameters.js';
import { addResource } from '../../resource.js';
import type { Dashboard } from '../context.js';
import { getOrganizationId, toTime } from '../requests.js';
import type { AuditResponse } from '../responses.js';

const NAMES = {
  from: 'from',
  to: 'to',
  actor: 'actor',
  action: 'action',
  target: 'target',
  before: 'before',
  limit: 'limit',
} as const;

/** Entries in an answer, unless it says how many. */
const pageEntries = 50;

export function addAudit(app: FastifyInstance, { store, sessionGuard }: Dashboard): void {
  addResource(app, '/api/organizations/:organizationId/audit', {
    onRequest: sessionGuard.requireMember('owner'),
    GET: {
      schema: { hide: true },
      handler: async (request): Promise<AuditResponse> => {
        const filter = readParameters(request, NAMES, parseFilter);
        // One more than is shown tells whether there are more.
        const wanted = { ...filter, limit: filter.limit + 1 };
        const entries = await store.readAudit(getOrganizationId(request), wanted);
        return {
          entries: entries.slice(0, filter.limit).map(toListed),
          more: entries.length > filter.limit,
        };
      },
    },
  });
}

function parseFilter(
  parameters: Partial<Record<keyof typeof NAMES, string | undefined>>,
): Result<AuditFilter> {
  const { from, to, actor, action, target, before, limit = String(pageEntries) } = parameters;
  const range = parseDateRange({ from, to }, { from: NAMES.from, to: NAMES.to });
  const numbers = [
    ...(before === undefined ? [] : [wholeNumber(NAMES.before, before, Number.MAX_SAFE_INTEGER)]),
    wholeNumber(NAMES.limit, limit, auditEntriesMax - 1),
  ];
  const known = AUDIT_ACTIONS.find((one) => one === action);
  const problems = [
    ...(range.ok ? [] : range.problems),
    ...numbers.flatMap((number) => (number.ok ? [] : number.problems)),
    ...(action === undefined || known !== undefined
      ? []
      : [`action: ${quote(action)} is none of ${AUDIT_ACTIONS.join(', ')}`]),
  ];
  if (problems.length > 0 || !range.ok) return failure(...problems);
  return success({
    ...range.value,
    ...(actor === undefined ? {} : { actor }),
    ...(known === undefined ? {} : { action: known satisfies AuditAction }),
    ...(target === undefined ? {} : { targetId: target }),
    ...(before === undefined ? {} : { before: Number(before) }),
    limit: Number(limit),
  });
}

function wholeNumber(parameter: string, text: string, max: number): Result<number> {
  const number = Number(text);
  return /^\d{1,16}$/.test(text) && number >= 1 && number <= max
    ? success(number)
    : failure(`${parameter}: ${quote(text)} is not a whole number from 1 to ${max}`);
}

function toListed({ at, ...entry }: AuditEntry) {
  return { at: toTime(at), ...entry };
}
