/** Share links for the HTTP tests. */
import type { CreatedShareLinkResponse } from '../../../src/http/dashboard/responses.js';
import type { Browser } from './dashboard.js';
import type { Service } from './http.js';
import type { Answer } from './http-checks.js';

export const SHARE_LINKS = '/api/organizations/default/projects/docs/share-links';

/** Creates a link of the project `docs`. From now on, the log may not contain its token. */
export async function share(
  { hide }: Pick<Service, 'hide'>,
  editor: Browser,
  body: object = {},
): Promise<CreatedShareLinkResponse> {
  const wanted = { path: SHARE_LINKS, body: { name: 'Board', ...body } };
  const created = await editor.ask<CreatedShareLinkResponse>(wanted, 201);
  hide(created.token);
  return created;
}

/** Asks as somebody who has nothing but the address of the link. `path` begins with what comes after the token. */
export async function open(
  { send }: Pick<Service, 'send'>,
  token: string,
  path = '',
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return send({ path: `/api/shared/${token}${path}`, key: null, headers });
}
