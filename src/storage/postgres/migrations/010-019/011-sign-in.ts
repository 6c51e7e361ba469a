/**
 * Hardens sign-in. Sessions and other tokens are stored as hashes from now on, so the old ones end: everybody signs in once
 * more. Nobody has verified the addresses of accounts without single sign-on. Released: never change it.
 */
export const sql = (schema: string): readonly string[] => [
  `
  DELETE FROM ${schema}.user_session;
`,
  `  DELETE FROM ${schema}.user_verification;
`,
  `
  -- For trusted devices.
  ALTER TABLE ${schema}.user_verification ADD COLUMN ip_address text;
`,
  `  ALTER TABLE ${schema}.user_verification ADD COLUMN user_agent text;
`,
  `
  -- The time step of the last code that was accepted.
  ALTER TABLE ${schema}.user_second_factor ADD COLUMN last_step bigint NOT NULL DEFAULT 0;
`,
  `
  UPDATE ${schema}.user_account SET email_verified = false
   WHERE NOT EXISTS (SELECT 1 FROM ${schema}.user_credential
                      WHERE user_credential.user_id = user_account.id AND user_credential.provider_id = 'sso');
`,
];
