/** What the overview of each project showed last, so that coming back to it from another page shows it again. */

const queries = new Map<string, string>();

/** The query of the overview's address, or nothing. */
export function lastQueryOf(projectId: string): string {
  return queries.get(projectId) ?? '';
}

export function keepQuery(projectId: string, query: string): void {
  queries.set(projectId, query);
}
