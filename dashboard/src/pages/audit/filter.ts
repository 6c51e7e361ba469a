/** The filter of the audit log, as the URL stores it. */
import type { AuditFilter } from '../../api/audit.js';
import { addDays, isDay } from '../../time/calendar.js';

export const FIELDS = ['action', 'actor', 'target', 'from', 'to'] as const;

type Field = (typeof FIELDS)[number];

/** Unset fields are ''. `from` and `to` are days, both inclusive. */
export type Filter = Readonly<Record<Field, string>>;

export function readFilter(query: URLSearchParams): Filter {
  const text = (field: Field): string => query.get(field)?.trim() ?? '';
  const day = (field: Field): string => (isDay(text(field)) ? text(field) : '');
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

/** The filter for the server, with the days of the reader converted to instants. */
export function toAuditFilter(filter: Filter): AuditFilter {
  const { from, to, ...texts } = filter;
  // Without an offset, the browser reads a time as one of its own zone.
  const at = (day: string): string => new Date(`${day}T00:00`).toISOString();
  return {
    ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== '')),
    ...(from === '' ? {} : { from: at(from) }),
    ...(to === '' ? {} : { to: at(addDays(to, 1)) }),
  };
}
