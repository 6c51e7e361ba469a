/** Changes nothing: only PostgreSQL needs fewer counters. Released: never change it. */
export const SQL = '';
