/** An application that somebody allows to read in the name of a user, without HTTP. */
import { createHash } from 'node:crypto';
import { Applications, type Tokens } from '../../../src/auth/applications/applications.js';
import type { Store } from '../../../src/storage/ports/store.js';
import type { Node } from './visitor.js';

const redirectUri = 'https://application.example/back';

/** It has a code. `exchange` turns it into tokens, and `refresh` renews them. */
export async function allowApplication(node: Node, store: Store, userId: string) {
  const of = ({ authProvider }: Node) => new Applications(authProvider, store.directory);
  const verifier = 'v'.repeat(43);
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const clientId = await of(node).register({ name: 'Reader', redirectUris: [redirectUri] });
  const about = { userId, name: 'Reader', address: null, providerFactor: false };
  const code = await of(node).allow({ clientId, redirectUri, challenge }, about);
  return {
    exchange: (on = node) => of(on).exchange(code, { clientId, redirectUri, verifier }),
    refresh: ({ refresh }: Tokens, on = node) => of(on).refresh(refresh, clientId),
    /** Whether the tokens read. */
    reads: async (tokens: Tokens | undefined) =>
      tokens !== undefined && (await of(node).holderOf(tokens.access)) !== undefined,
  };
}
