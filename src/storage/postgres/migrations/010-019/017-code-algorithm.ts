/** The hash function of the codes of authenticator apps. Released: never change it. */
export const sql = (schema: string): readonly string[] => [
  `
  ALTER TABLE ${schema}.user_second_factor ADD COLUMN algorithm text NOT NULL DEFAULT 'SHA1'
    CHECK (algorithm IN ('SHA256', 'SHA1'));
`,
];
