/**
 * The organizations to which an account has proved its address with their own link: the account opens no others. Accounts that
 * were members before are proved; so is every account of a database with one organization. Released: never change it.
 */
export const sql = (schema: string): readonly string[] => [
  `CREATE TABLE ${schema}.user_organization (
    organization_id text COLLATE "C" NOT NULL REFERENCES ${schema}.organization (id),
    user_id text COLLATE "C" NOT NULL REFERENCES ${schema}.user_account (id) ON DELETE CASCADE,
    PRIMARY KEY (organization_id, user_id)
  )`,
  `CREATE INDEX user_organization_of_user ON ${schema}.user_organization (user_id)`,
  `INSERT INTO ${schema}.user_organization (organization_id, user_id)
    SELECT organization.id, user_account.id FROM ${schema}.organization CROSS JOIN ${schema}.user_account
    WHERE (SELECT count(*) FROM ${schema}.organization) = 1
      OR EXISTS (SELECT 1 FROM ${schema}.member WHERE organization_id = organization.id AND email = user_account.email)`,
];
