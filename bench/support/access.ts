import type { Database } from './service.js';

/** What opens a server to all kinds of requests. */
export interface Access {
  readonly url: string;
  readonly key: string;
  /** The cookie of a dashboard session. */
  readonly cookie: string;
  readonly organization: string;
}

/** An admin key and the session of an owner. */
export async function accessTo(database: Database, url: string): Promise<Access> {
  const key = await database.createAdminKey();
  const invite = ['member', 'invite', 'bench@example.com', '--role', 'owner', '--public-url', url, '--json'];
  const { link } = JSON.parse(await database.command(...invite)) as { link: string };
  const token = new URL(link).hash.slice(1);
  const answer = await fetch(`${url}/api/invitations/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ token, name: 'Bench', password: 'long enough to measure' }),
  });
  const cookie = answer.headers
    .getSetCookie()
    .map((one) => one.replace(/;.*/s, ''))
    .join('; ');
  if (!answer.ok || cookie === '')
    throw new Error(`nobody could join: ${answer.status} ${await answer.text()}`);
  return { url, key, cookie, organization: 'default' };
}
