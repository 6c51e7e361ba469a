import type { Dialect } from '../sql/session.js';
import { statementsIn } from './statements.js';

/** A deleted project keeps its row, with `deleted_at`, until its queries are removed: so its id stays taken. */
export function dialectFor(schema: string): Dialect {
  const { stopRecording, markDeleted } = statementsIn(schema);
  return {
    table: (name) => `${schema}.${name}`,
    lock: (strength) => `FOR ${strength}`,
    andNotDeleted: 'AND deleted_at IS NULL',
    jsonElements: 'SELECT json_array_elements_text($1::json)',
    deleteProject: async (session, projectId, at) => {
      await session.run(stopRecording, [projectId]);
      await session.run(markDeleted, [projectId, at]);
      await session.run(`DELETE FROM ${schema}.api_key WHERE project_id = $1`, [projectId]);
    },
  };
}
