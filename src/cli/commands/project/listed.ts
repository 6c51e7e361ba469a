import type { Project } from '../../../domain/projects/project.js';
import { formatTime } from '../../terminal/output.js';

/** What is shown of a project. */
export function toListed({ id, name, createdAt, timeZone, retentionDays, rowsFrom }: Project) {
  return {
    id,
    name,
    createdAt: formatTime(createdAt),
    timeZone,
    retentionDays,
    rowsFrom: rowsFrom === null ? null : formatTime(rowsFrom),
  };
}
