/** Changes nothing: only PostgreSQL has functions that record. Released: never change it. */
export const SQL = '';
