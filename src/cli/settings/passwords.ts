/** Keeps the passwords of database URLs from where others could read them. */

/** Whether a text that should be a database URL may hold a password, well-formed or not. */
export function mayHoldPassword(text: string): boolean {
  return /@|password=/i.test(text);
}

/** An argument of the command line with asterisks for the password of a URL in it. */
export function withoutPassword(argument: string): string {
  return argument
    .replace(/(:\/\/[^/:@?#]*):.*@/, '$1:***@')
    .replaceAll(/([?&](?:password|sslpassword)=)[^&]*/gi, '$1***');
}
