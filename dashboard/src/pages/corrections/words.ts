/** What a correction does, in words. */
import type { Correction } from '../../api/types.js';
import { moment, span } from '../../format/dates.js';
import { count } from '../../format/numbers.js';
import type { Senders } from './senders.js';

export const ACTION_NAMES: Readonly<Record<Correction['action'], string>> = {
  withdraw: 'Withdraw',
  rename: 'Rename',
  undo: 'Undo',
};

export function queriesInWords(queries: number): string {
  return queries === 1 ? '1 query' : `${count(queries)} queries`;
}

/** `Rename slak to slack`, `Withdraw 12 queries by id`. */
export function titleOf({ action, selection, to, correction }: Correction): string {
  if (action === 'undo') return `Undo ${correction}`;
  const { caller, ids, source } = selection;
  const what =
    ids !== undefined
      ? `${queriesInWords(Number(ids))} by id`
      : source !== undefined
        ? `imported counts of ${source}`
        : `${caller ?? 'all callers'}`;
  return `${ACTION_NAMES[action]} ${what}${to === null ? '' : ` to ${to}`}`;
}

/** Which queries, besides their caller, in UTC: `Occurred 3 – 9 Mar 2026, sent by Nightly`. */
export function conditionsOf({ selection }: Correction, senders: Senders | undefined): string {
  const { dateFrom, dateTo, recordedFrom, recordedTo, recordedBy } = selection;
  const parts = [
    within('occurred', dateFrom, dateTo),
    within('arrived', recordedFrom, recordedTo),
    recordedBy === undefined ? '' : `sent by ${senders?.get(`${recordedBy}`) ?? recordedBy}`,
  ];
  return parts
    .filter((part) => part !== '')
    .join(', ')
    .replace(/^./, (first) => first.toUpperCase());
}

function within(what: string, from: string | number | undefined, to: string | number | undefined): string {
  const [start, end] = [from, to].map((at) => at && new Date(at).toISOString());
  if (start && end) return `${what} ${span({ start, end })} (UTC)`;
  if (start) return `${what} from ${moment(start)}`;
  return end ? `${what} before ${moment(end)}` : '';
}
