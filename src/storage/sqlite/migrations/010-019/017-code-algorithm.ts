/** The hash function of the codes of authenticator apps. Released: never change it. */
export const SQL = `
  ALTER TABLE user_second_factor ADD COLUMN algorithm TEXT NOT NULL DEFAULT 'SHA1'
    CHECK (algorithm IN ('SHA256', 'SHA1'));
`;
