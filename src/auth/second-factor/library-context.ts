import type { createAuthMiddleware } from 'better-auth/api';

/** The context of an endpoint of the library. */
export type LibraryContext = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0];
