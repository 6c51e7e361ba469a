/** Changes nothing: only PostgreSQL can be distributed. Released: never change it. */
export const SQL = '';
