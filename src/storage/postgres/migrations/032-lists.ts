/** Lists of one organization read nothing of others. Released: never change it. */
export const sql = (schema: string): readonly string[] => [
  `CREATE INDEX api_key_of_organization ON ${schema}.api_key (organization_id, created_at, id)`,
  `CREATE INDEX project_of_organization ON ${schema}.project (organization_id, created_at, id)`,
];
