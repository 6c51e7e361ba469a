/** Schema version 32: lists of one organization read no rows of others. `schema` begins the names of tables. Released: never change it. */
export const listIndexes = (schema = ''): readonly string[] => [
  `CREATE INDEX api_key_of_organization ON ${schema}api_key (organization_id, created_at, id)`,
  `CREATE INDEX project_of_organization ON ${schema}project (organization_id, created_at, id)`,
];
