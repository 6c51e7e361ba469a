import type { Dialect } from '../sql/session.js';

/** A deleted project loses its row at once; `deleted_project` keeps its number until its queries are removed. */
export const SQLITE: Dialect = {
  table: (name) => name,
  lock: () => '',
  andNotDeleted: '',
  jsonElements: 'SELECT value FROM json_each($1)',
  deleteProject: async (session, projectId) => {
    // First the keys, which refer to the project.
    await session.run('DELETE FROM api_key WHERE project_id = $1', [projectId]);
    await session.run('INSERT INTO deleted_project (number) SELECT number FROM project WHERE id = $1', [
      projectId,
    ]);
    await session.run('DELETE FROM project WHERE id = $1', [projectId]);
  },
};
