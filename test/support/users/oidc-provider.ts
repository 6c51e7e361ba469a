/** A local OpenID Connect provider for single sign-on, with the users of a test. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import Provider, { type Configuration, type KoaContextWithOIDC } from 'oidc-provider';
import { whenOver } from '../cleanup.js';

export interface OidcUser {
  /** The user's permanent id. */
  readonly id: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string;
  /** How the provider authenticates the user (RFC 8176). */
  readonly amr?: readonly string[];
}

export interface OidcProvider {
  /** A URL with another host than that of servers under test. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** A test may change them at any time. */
  readonly users: OidcUser[];
  /** Stops the provider. */
  readonly stop: () => Promise<void>;
}

export interface OidcProviderOptions {
  readonly users: readonly OidcUser[];
  /** The path of the client's redirect URI, on any port of 127.0.0.1 and localhost. */
  readonly redirectPath: string;
}

/** Starts a provider with one client, which must use PKCE. It is stopped after the test. */
export async function startOidcProvider({
  users: first,
  redirectPath,
}: OidcProviderOptions): Promise<OidcProvider> {
  const users = [...first];
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The provider does not listen.');
  const issuer = `http://localhost:${address.port}`;
  const clientId = 'caller-stats';
  const clientSecret = randomBytes(16).toString('hex');
  const provider = new Provider(issuer, {
    ...configuration(users),
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        // Redirect URIs of native clients may have any port (RFC 8252, section 7.3).
        application_type: 'native',
        redirect_uris: ['127.0.0.1', 'localhost'].map((host) => `http://${host}${redirectPath}`),
      },
    ],
  });
  provider.use(async (context, next) => {
    if (context.path.startsWith('/sign-in/')) await signIn(provider, users, context);
    else await next();
  });
  server.on('request', provider.callback());
  const stop = () => close(server);
  whenOver(stop);
  return { issuer, clientId, clientSecret, users, stop };
}

/** Generated once, because that takes longer than the rest of a test. */
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

function configuration(users: readonly OidcUser[]): Configuration {
  return {
    // Most providers put the address into the ID token.
    conformIdTokenClaims: false,
    claims: { openid: ['sub', 'amr'], email: ['email', 'email_verified'], profile: ['name'] },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    // Its own pages load fonts from other hosts.
    features: { devInteractions: { enabled: false } },
    findAccount: (_context, id) => {
      const user = users.find((one) => one.id === id);
      return (
        user && {
          accountId: id,
          claims: () => ({
            sub: id,
            email: user.email,
            email_verified: user.emailVerified,
            name: user.name,
          }),
        }
      );
    },
    interactions: { url: (_context, { uid }) => `/sign-in/${uid}` },
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig' }] },
    // Signing in grants access without another page.
    loadExistingGrant: async ({ oidc }) => {
      const { client, params, provider, session } = oidc;
      if (client === undefined || session?.accountId === undefined) return undefined;
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope(String(params?.['scope'] ?? ''));
      await grant.save();
      return grant;
    },
    pkce: { methods: ['S256'], required: () => true },
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 60,
      Grant: 600,
      IdToken: 600,
      Interaction: 600,
      Session: 600,
    },
  };
}

/** The used part of the framework's context. */
type Context = Pick<KoaContextWithOIDC, 'req' | 'res' | 'body' | 'redirect'>;

/** The sign-in page. GET shows it; POST accepts `email` or `cancel`. */
async function signIn(provider: Provider, users: readonly OidcUser[], context: Context): Promise<void> {
  const { req, res } = context;
  if (req.method !== 'POST') {
    await provider.interactionDetails(req, res);
    context.body = page;
    return;
  }
  const form = new URLSearchParams(await text(req));
  const user = users.find(({ email }) => email === form.get('email'));
  const result =
    user === undefined || form.has('cancel')
      ? { error: 'access_denied', error_description: 'The user did not sign in.' }
      : { login: { accountId: user.id, ...(user.amr && { amr: [...user.amr] }) }, consent: {} };
  context.redirect(await provider.interactionResult(req, res, result));
}

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<link rel="icon" href="data:,">
<title>Example SSO</title>
<main>
<h1>Sign in with Example SSO</h1>
<form method="post">
<label>E-mail <input name="email" type="email" required></label>
<button>Sign in</button>
<button name="cancel" value="yes" formnovalidate>Cancel</button>
</form>
</main>
`;

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    // The callback also runs if it is already closed.
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
