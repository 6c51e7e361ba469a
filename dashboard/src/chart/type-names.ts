/** The names of the caller types on screen. */
import type { CallerType } from '../api/types.js';

export const TYPE_NAMES: Readonly<Record<CallerType, string>> = { web: 'Web', api: 'API', other: 'Other' };
