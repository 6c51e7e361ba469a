import type { createAuthMiddleware } from 'better-auth/api';

/** The context of an endpoint of the library. */
export type LibraryContext = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0];

/** The form of a body, for the types of the library. */
export function bodyOf<Body>() {
  return { method: 'POST', metadata: { $Infer: { body: {} as Body } } } as const;
}
