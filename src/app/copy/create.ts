import { CallerStatsError } from '../../domain/errors.js';

/** How many of a kind were made at the target, and how many were there already. */
export interface Tally {
  copied: number;
  present: number;
}

/** Whether it was made; false where there is one already. */
export async function createUnlessTaken(create: () => Promise<void>): Promise<boolean> {
  try {
    await create();
    return true;
  } catch (error) {
    if (error instanceof CallerStatsError && error.code === 'already_exists') return false;
    throw error;
  }
}
