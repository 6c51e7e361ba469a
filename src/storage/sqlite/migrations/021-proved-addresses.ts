/**
 * The organizations to which an account has proved its address with their own link: the account opens no others. Accounts that
 * were members before are proved; so is every account of a database with one organization. Released: never change it.
 */
export const SQL = `
  CREATE TABLE user_organization (
    organization_id TEXT NOT NULL REFERENCES organization (id),
    user_id TEXT NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
    PRIMARY KEY (organization_id, user_id)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX user_organization_of_user ON user_organization (user_id);

  INSERT INTO user_organization (organization_id, user_id)
    SELECT organization.id, user_account.id FROM organization CROSS JOIN user_account
    WHERE (SELECT count(*) FROM organization) = 1
      OR EXISTS (SELECT 1 FROM member WHERE organization_id = organization.id AND email = user_account.email);
`;
