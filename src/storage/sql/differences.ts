import { mapTypes, type TypeCounts } from '../../domain/counting/counts.js';
import type { CallerType } from '../../domain/queries/caller.js';
import type { CounterDifference } from '../ports/maintenance.js';

/** A row of the statements that compare counters with a recount. Counters of all callers have no `caller`. */
export interface DifferenceRow extends TypeCounts, Readonly<Record<`${CallerType}Again`, number>> {
  readonly bucket: number;
  readonly caller?: string;
}

export function toDifference(projectId: string, level: number, row: DifferenceRow): CounterDifference {
  return {
    projectId,
    level,
    bucket: row.bucket,
    ...(row.caller === undefined ? {} : { caller: row.caller }),
    counted: mapTypes((type) => row[type]),
    recounted: mapTypes((type) => row[`${type}Again`]),
  };
}
