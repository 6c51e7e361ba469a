/** Signs in with a passkey: with a button, or by choosing one in the field of the e-mail address. */
import { KeyRound } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { hasPasskeys, offersPasskeysInFields, signInWithPasskey } from '../../api/people/passkeys.js';
import { enterSession, useSession } from '../../api/session.js';
import { Button } from '../../components/forms/button.js';
import { useAction } from '../../components/forms/use-action.js';

export function PasskeyButton() {
  const { passkeyProblem } = useSession();
  return passkeyProblem === null && hasPasskeys ? <Available /> : null;
}

function Available() {
  const { run, isBusy } = useAction();
  const offer = useRef<AbortController>(null);
  useEffect(() => {
    const controller = new AbortController();
    offer.current = controller;
    const work = async (): Promise<void> => {
      if (!(await offersPasskeysInFields()) || controller.signal.aborted) return;
      await signInWithPasskey(controller.signal);
      await enterSession();
    };
    // The button tells what fails.
    work().catch(() => undefined);
    return () => controller.abort();
  }, []);
  return (
    <>
      <p className="sign-or">or</p>
      <Button
        icon={KeyRound}
        wide
        busy={isBusy}
        onClick={() =>
          run(async () => {
            // The browser asks for one passkey at a time.
            offer.current?.abort();
            await signInWithPasskey();
            await enterSession();
          })
        }
      >
        Sign in with a passkey
      </Button>
    </>
  );
}
