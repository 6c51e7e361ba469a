/** The time zones to select from. */
import { getQuery } from './client.js';
import type { Zones } from './types.js';

export const zonesQuery = { ...getQuery<Zones>('/api/zones'), staleTime: Number.POSITIVE_INFINITY };
