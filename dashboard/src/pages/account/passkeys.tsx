/** The user's passkeys. */
import { useQuery } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { hasPasskeys, passkeysQuery } from '../../api/people/passkeys.js';
import { useSession } from '../../api/session.js';
import type { Passkey } from '../../api/types.js';
import { Entries, Entry } from '../../components/content/entries.js';
import { Section } from '../../components/content/page.js';
import { Time } from '../../components/content/time.js';
import { Badge } from '../../components/feedback/badge.js';
import { Loaded } from '../../components/feedback/loaded.js';
import { Notice } from '../../components/feedback/notice.js';
import { Button } from '../../components/forms/button.js';
import { lazyPart } from '../../navigation/lazy-code.js';

const PasskeyDialog = lazyPart(() => import('./passkey-dialogs.js'), 'PasskeyDialog');

type Open = { readonly kind: 'add' } | { readonly kind: 'rename' | 'remove'; readonly passkey: Passkey };

const lead =
  'Sign in with your fingerprint, face, PIN or security key instead of a password. Once you have a passkey, your password alone is not enough to sign in.';

export function Passkeys() {
  const { passkeyProblem } = useSession();
  const query = useQuery(passkeysQuery);
  const [open, setOpen] = useState<Open | null>(null);
  const problem = problemOf(passkeyProblem);
  return (
    <Section
      title="Passkeys"
      lead={lead}
      actions={
        problem === null && (
          <Button icon={KeyRound} onClick={() => setOpen({ kind: 'add' })}>
            Add passkey…
          </Button>
        )
      }
    >
      {problem !== null && <Notice>{problem}</Notice>}
      <Loaded query={query} what="The passkeys" rows={1}>
        {({ passkeys }) =>
          passkeys.length === 0 ? (
            problem === null && <p className="quiet">You have no passkeys.</p>
          ) : (
            <Entries label="Passkeys">
              {passkeys.map((passkey) => (
                <Row key={passkey.id} passkey={passkey} onOpen={setOpen} />
              ))}
            </Entries>
          )
        }
      </Loaded>
      {query.data?.passkeys.length === 1 && (
        <p className="quiet small">
          Add a second passkey or an authenticator app, so that you can sign in if you lose this one.
        </p>
      )}
      {open !== null && <PasskeyDialog {...open} onClose={() => setOpen(null)} />}
    </Section>
  );
}

/** Why no passkey can be added here; null if one can. */
function problemOf(passkeyProblem: ReturnType<typeof useSession>['passkeyProblem']): string | null {
  if (passkeyProblem === 'insecure')
    return 'Passkeys are not available: browsers allow them only over HTTPS or on localhost, and not at an IP address.';
  if (passkeyProblem === 'no_public_url')
    return 'Passkeys are not available: this server does not know its address. Its administrator sets it with --public-url.';
  return hasPasskeys
    ? null
    : 'This browser does not support passkeys, or is too old. Update it, or use another one.';
}

function Row({ passkey, onOpen }: { passkey: Passkey; onOpen: (open: Open) => void }) {
  const { name, host, createdAt, lastUsedAt } = passkey;
  const action = (label: string, kind: 'rename' | 'remove') => (
    <Button kind="quiet" onClick={() => onOpen({ kind, passkey })}>
      {label}
      <span className="out-of-sight"> {name}</span>
    </Button>
  );
  return (
    <Entry
      title={
        <>
          {name} {host !== location.hostname && <Badge>For {host}</Badge>}
        </>
      }
      actions={
        <div className="row">
          {action('Rename', 'rename')}
          {action('Remove', 'remove')}
        </div>
      }
    >
      added <Time at={createdAt} />, {lastUsedAt === null ? 'not used yet' : 'last used '}
      {lastUsedAt !== null && <Time at={lastUsedAt} />}
    </Entry>
  );
}
