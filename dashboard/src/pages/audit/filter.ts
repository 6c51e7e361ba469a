/** The filter of the audit log, as the URL stores it. */
import type { AuditFilter } from '../../api/audit.js';
import { addDays, toDay } from '../../time/calendar.js';
import { startOfDay } from '../../time/zone.js';

export const FIELDS = ['action', 'actor', 'target', 'from', 'to'] as const;

type Field = (typeof FIELDS)[number];

/** Unset fields are ''. `from` and `to` are days, both inclusive. */
export type Filter = Readonly<Record<Field, string>>;

export function readFilter(query: URLSearchParams): Filter {
  const text = (field: Field): string => query.get(field)?.trim() ?? '';
  const day = (field: Field): string => toDay(text(field)) ?? '';
  return {
    action: text('action'),
    actor: text('actor'),
    target: text('target'),
    from: day('from'),
    to: day('to'),
  };
}

/** The query string without `?`. */
export function writeFilter(filter: Filter): string {
  const used = FIELDS.filter((field) => filter[field] !== '');
  return new URLSearchParams(Object.fromEntries(used.map((field) => [field, filter[field]]))).toString();
}

/** The filter for the server, with days of a zone converted to instants. */
export function toAuditFilter(filter: Filter, zone: string): AuditFilter {
  const { from, to, ...texts } = filter;
  const at = (day: string): string => new Date(startOfDay(day, zone)).toISOString();
  return {
    ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== '')),
    ...(from === '' ? {} : { from: at(from) }),
    ...(to === '' ? {} : { to: at(addDays(to, 1)) }),
  };
}
