import { CallerStatsError } from '../../domain/errors.js';
import type { Dialect } from '../sql/session.js';
import { encodeQueryId } from './query-id.js';

/** A deleted project loses its row at once; `deleted_project` keeps its number until its queries are removed. */
export const SQLITE: Dialect = {
  table: (name) => name,
  typeCounters: 'query_counter',
  lock: () => '',
  andNotDeleted: '',
  jsonElements: (parameter) => `SELECT value FROM json_each(${parameter})`,
  projectColumn: 'project',
  projectKeyColumn: 'number',
  findProjectKey: async (session, projectId) => {
    const [project] = await session.all('SELECT number FROM project WHERE id = $1', [projectId]);
    if (project === undefined) throw new CallerStatsError('not_found', `There is no project ${projectId}.`);
    return project['number'];
  },
  findRecordedIds: async (session, projectId, ids) => {
    const found: string[] = [];
    for (const id of ids) {
      const rows = await session.all(
        'SELECT 1 FROM query WHERE project = (SELECT number FROM project WHERE id = $1) AND id = $2',
        [projectId, encodeQueryId(id)],
      );
      if (rows.length > 0) found.push(id);
    }
    return found;
  },
  // There is only one writer.
  holdProject: () => {},
  stopRecording: async () => {},
  projectChanged: () => {},
  deleteProject: async (session, projectId) => {
    // First the keys, which refer to the project.
    await session.run('DELETE FROM api_key WHERE project_id = $1', [projectId]);
    await session.run('INSERT INTO deleted_project (number) SELECT number FROM project WHERE id = $1', [
      projectId,
    ]);
    await session.run('DELETE FROM project WHERE id = $1', [projectId]);
  },
};
