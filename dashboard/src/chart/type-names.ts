/** The types of callers, and what they are called on screen. */
import type { CallerType } from '../api/types.js';

/** From the bottom of a bar up. */
export const TYPES = ['web', 'api', 'other'] as const satisfies readonly CallerType[];

export const TYPE_NAMES: Readonly<Record<CallerType, string>> = { web: 'Web', api: 'API', other: 'Other' };
