/** The privileges that the docs say a node's user needs. */
import { readFileSync } from 'node:fs';

/** The statements of the docs, for a schema and a user. */
export function documentedGrants(schema: string, user: string): string[] {
  const page = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8');
  const block = /```sql\n(GRANT [^`]+)```/.exec(page)?.[1] ?? '';
  return block
    .trim()
    .split('\n')
    .map((line) => line.replaceAll('caller_stats', schema).replaceAll('node_user', user));
}

/** Each of the grants for one privilege on one thing, as what comes behind GRANT or REVOKE. */
export function oneByOne(grants: readonly string[]): string[] {
  return grants.flatMap((grant) => {
    const [, privileges = '', kind = '', things = ''] =
      /^GRANT ([A-Z, ]+) ON (SCHEMA )?(.+) TO \w+;$/.exec(grant) ?? [];
    return things
      .split(', ')
      .flatMap((thing) => privileges.split(', ').map((one) => `${one} ON ${kind}${thing}`));
  });
}

/** Those that only people who sign in are the reason for. */
export function isOfPeople(privilege: string): boolean {
  return /\.(user_\w+|invitation|server_secret|login_throttle)$|^UPDATE ON \w+\.organization$/.test(
    privilege,
  );
}
