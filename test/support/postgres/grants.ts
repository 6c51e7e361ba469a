/** The privileges of a node's user, from the docs. */
import { readFileSync } from 'node:fs';

/** The documented statements for a schema and a user. */
export function documentedGrants(schema: string, user: string): string[] {
  const page = readFileSync(new URL('../../../docs/reference/settings.md', import.meta.url), 'utf8');
  const block = /```sql\n(GRANT [^`]+)```/.exec(page)?.[1] ?? '';
  return block
    .trim()
    .split('\n')
    .map((line) => line.replaceAll('caller_stats', schema).replaceAll('node_user', user));
}

/** Splits grants into one for each privilege on each object, as written after GRANT or REVOKE. */
export function oneByOne(grants: readonly string[]): string[] {
  return grants.flatMap((grant) => {
    const [, privileges = '', kind = '', things = ''] =
      /^GRANT ([A-Z, ]+) ON (SCHEMA )?(.+) TO \w+;$/.exec(grant) ?? [];
    return things
      .split(', ')
      .flatMap((thing) => privileges.split(', ').map((one) => `${one} ON ${kind}${thing}`));
  });
}

/** Whether a privilege is only needed for people who sign in, or open share links. */
export function isOfPeople(privilege: string): boolean {
  return /\.(user_\w+|invitation|share_link|server_secret|login_throttle)$|^UPDATE ON \w+\.organization$/.test(
    privilege,
  );
}
