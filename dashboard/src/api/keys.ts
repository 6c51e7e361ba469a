/** The API keys of an organization. */
import { useMutation } from '@tanstack/react-query';
import { listQuery, request } from './client.js';
import { organizationPath } from './paths.js';
import { queryClient } from './query-client.js';
import type { Key, KeyType, KeyWithSecret, Scope } from './types.js';

export function keysQuery(organizationId: string) {
  return listQuery<{ keys: Key[] }>(organizationId, 'keys');
}

export interface NewKey {
  readonly name: string;
  readonly type: KeyType;
  /** Not of admin keys. */
  readonly projectId?: string;
  /** `90d`, a date, or `never`. */
  readonly expires: string;
  /** Admin keys only. */
  readonly scopes?: readonly Scope[];
  readonly allow?: readonly string[];
}

/** Creates a key. Only this response contains its secret. */
export async function createKey(organizationId: string, key: NewKey): Promise<KeyWithSecret> {
  const created = await request<KeyWithSecret>('POST', `${organizationPath(organizationId)}/keys`, key);
  await queryClient.invalidateQueries(keysQuery(organizationId));
  return created;
}

/** Creates a key that replaces another one; the old key stays valid for `graceHours`. */
export async function rotateKey(
  organizationId: string,
  id: string,
  graceHours: number,
): Promise<KeyWithSecret> {
  const created = await request<KeyWithSecret>('POST', keyPath(organizationId, id, 'rotate'), { graceHours });
  await queryClient.invalidateQueries(keysQuery(organizationId));
  return created;
}

export async function revokeKey(organizationId: string, id: string): Promise<void> {
  put(organizationId, await request<Key>('POST', keyPath(organizationId, id, 'revoke'), {}));
}

/** Enables or disables a key optimistically, and reverts the change if the server refuses. */
export function useKeySwitch(organizationId: string) {
  return useMutation({
    mutationFn: ({ key, on }: { key: Key; on: boolean }) =>
      request<Key>('POST', keyPath(organizationId, key.id, on ? 'enable' : 'disable'), {}),
    onMutate: async ({ key, on }) => {
      await queryClient.cancelQueries(keysQuery(organizationId));
      put(organizationId, { ...key, status: on ? 'active' : 'disabled' });
    },
    onSuccess: (key) => put(organizationId, key),
    onError: (_error, { key }) => put(organizationId, key),
  });
}

function keyPath(organizationId: string, id: string, what: string): string {
  return `${organizationPath(organizationId)}/keys/${encodeURIComponent(id)}/${what}`;
}

function put(organizationId: string, key: Key): void {
  queryClient.setQueryData(keysQuery(organizationId).queryKey, (old) =>
    old === undefined ? old : { keys: old.keys.map((one) => (one.id === key.id ? key : one)) },
  );
}
