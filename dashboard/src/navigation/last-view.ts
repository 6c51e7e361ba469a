/** Remembers the last view of each project's overview, to restore it on return. */

const queries = new Map<string, string>();

/** The query string of the overview, or ''. */
export function lastQuery(projectId: string): string {
  return queries.get(projectId) ?? '';
}

export function keepQuery(projectId: string, query: string): void {
  queries.set(projectId, query);
}
