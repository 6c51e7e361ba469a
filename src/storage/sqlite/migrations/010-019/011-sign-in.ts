/**
 * Hardens sign-in. Sessions and other tokens are stored as hashes from now on, so the old ones end: everybody signs in once
 * more. Nobody has verified the addresses of accounts without single sign-on. Released: never change it.
 */
export const SQL = `
  DELETE FROM user_session;
  DELETE FROM user_verification;

  -- For trusted devices.
  ALTER TABLE user_verification ADD COLUMN ip_address TEXT;
  ALTER TABLE user_verification ADD COLUMN user_agent TEXT;

  -- The time step of the last code that was accepted.
  ALTER TABLE user_second_factor ADD COLUMN last_step INTEGER NOT NULL DEFAULT 0;

  UPDATE user_account SET email_verified = 0
   WHERE NOT EXISTS (SELECT 1 FROM user_credential
                      WHERE user_credential.user_id = user_account.id AND user_credential.provider_id = 'sso');
`;
