/** The name of a range. */
import { span } from '../../../format/dates.js';
import { type Choice, type Preset, resolveRange } from '../../../time/range.js';

export const PRESET_NAMES: Readonly<Record<Preset, string>> = {
  today: 'Today',
  yesterday: 'Yesterday',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  '90d': 'Last 90 days',
  month: 'This month',
  'last-month': 'Last month',
  year: 'This year',
  '12m': 'Last 12 months',
  all: 'All time',
};

export function choiceName(choice: Choice, zone: string, locale?: string): string {
  if ('preset' in choice) return PRESET_NAMES[choice.preset];
  // The ends of a custom range do not depend on the current time.
  const { from, to } = resolveRange(choice, zone, 0);
  return from === null || to === null ? '' : span(from, to, zone, locale);
}
