/** The range that is selected: a period, whose dates the server knows, or two ends. */
import type { Period } from '../api/types.js';
import { addDays, isDay } from './calendar.js';

/**
 * Ends are local times in the selected zone: `YYYY-MM-DD`, including the last day, or `YYYY-MM-DDTHH:mm`, excluding the last
 * minute.
 */
export type Choice = { readonly period: Period } | { readonly from: string; readonly to: string };

export const DEFAULT_CHOICE: Choice = { period: '30-days-to-date' };

/** Whether both ends exist and are in order. */
export function isChoice(choice: Choice): boolean {
  if ('period' in choice) return true;
  const { dateFrom, dateTo } = boundsOf(choice);
  return isEnd(choice.from) && isEnd(choice.to) && dateFrom < dateTo;
}

/** The range as parameters of the API, which excludes the end. */
export function rangeParameters(choice: Choice): Readonly<Record<string, string>> {
  return 'period' in choice ? choice : boundsOf(choice);
}

function boundsOf({ from, to }: { from: string; to: string }): { dateFrom: string; dateTo: string } {
  return {
    dateFrom: from.includes('T') ? `${from}:00` : from,
    dateTo: to.includes('T') ? `${to}:00` : isDay(to) ? addDays(to, 1) : to,
  };
}

function isEnd(text: string): boolean {
  const [day = '', time = '00:00'] = text.split('T');
  return isDay(day) && /^([01]\d|2[0-3]):[0-5]\d$/.test(time);
}
