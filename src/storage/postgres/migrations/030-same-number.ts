/** Nothing: the schema versions of both stores have the same number. Released: never change it. */
export const sql = (): readonly string[] => [];
