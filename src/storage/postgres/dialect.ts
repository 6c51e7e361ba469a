import { CallerStatsError } from '../../domain/errors.js';
import type { Dialect } from '../sql/session.js';
import { copyProject } from './project-copy.js';
import { bytesOf, decodeQueryId } from './query-id.js';
import { statementsIn } from './statements/statements.js';

/** A deleted project keeps its row, with `deleted_at`, until its queries are removed: so its id stays taken. */
export function dialectFor(schema: string): Dialect {
  const statements = statementsIn(schema);
  const { holdShard, shareRecording, stopRecording, markDeleted } = statements;
  return {
    table: (name) => `${schema}.${name}`,
    typeCounters: `${schema}.caller_type_counter`,
    lock: (strength) => `FOR ${strength}`,
    andNotDeleted: 'AND deleted_at IS NULL',
    jsonElements: (parameter) => `SELECT json_array_elements_text(${parameter}::json)`,
    projectColumn: 'project_id',
    projectKeyColumn: 'id',
    findProjectKey: async (session, projectId) => {
      // Two statements, because a deletion may have been committed while the first one waited for its lock.
      await session.all(shareRecording, [projectId]);
      const find = `SELECT id FROM ${schema}.project WHERE id = $1 AND deleted_at IS NULL`;
      const [project] = await session.all(find, [projectId]);
      if (project === undefined) throw new CallerStatsError('not_found', `There is no project ${projectId}.`);
      return projectId;
    },
    findRecordedIds: async (session, projectId, ids) => {
      const rows = await session.all<{ readonly id: Buffer }>(
        `SELECT id FROM ${schema}.query WHERE project_id = $1 AND id = ANY ($2)`,
        [projectId, ids.map(bytesOf)],
      );
      return rows.map(({ id }) => decodeQueryId(id));
    },
    holdProject: (session, projectId) => session.run(holdShard, [projectId]),
    stopRecording: async (session, projectId) => {
      await session.run(stopRecording, [projectId]);
    },
    projectChanged: (session, projectId) => copyProject(session, statements, projectId),
    deleteProject: async (session, projectId, at) => {
      await session.run(stopRecording, [projectId]);
      await session.run(markDeleted, [projectId, at]);
      await copyProject(session, statements, projectId);
      await session.run(`DELETE FROM ${schema}.api_key WHERE project_id = $1`, [projectId]);
    },
  };
}
