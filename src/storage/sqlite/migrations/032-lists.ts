/** Lists of one organization read nothing of others. Released: never change it. */
export const SQL = `
  CREATE INDEX api_key_of_organization ON api_key (organization_id, created_at, id);
  CREATE INDEX project_of_organization ON project (organization_id, created_at, id);
`;
