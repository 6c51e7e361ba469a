/** Two-factor authentication: its state, and dialogs to turn it on or off. */
import { ShieldCheck, ShieldOff } from 'lucide-react';
import { useState } from 'react';
import { useUser } from '../../api/session.js';
import { Section } from '../../components/content/page.js';
import { Badge } from '../../components/feedback/badge.js';
import { Button } from '../../components/forms/button.js';
import { lazyPart } from '../../navigation/lazy-code.js';

const loadDialogs = () => import('./two-factor-dialogs.js');
const StartDialog = lazyPart(loadDialogs, 'TwoFactorStartDialog');
const StopDialog = lazyPart(loadDialogs, 'TwoFactorStopDialog');

export function TwoFactorSection() {
  const { codes, secondFactor } = useUser();
  const [open, setOpen] = useState<'start' | 'stop' | null>(null);
  const close = (): void => setOpen(null);
  return (
    <Section
      title="Two-factor authentication"
      lead="A passkey, or a code from an app on your phone, is asked for after your password. A stolen password alone then opens nothing."
    >
      <div className="row">
        <Badge kind={secondFactor ? 'good' : 'plain'}>{secondFactor ? 'On' : 'Off'}</Badge>
        {codes ? (
          <Button icon={ShieldOff} onClick={() => setOpen('stop')}>
            Turn off…
          </Button>
        ) : (
          <Button icon={ShieldCheck} onClick={() => setOpen('start')}>
            Set up…
          </Button>
        )}
      </div>
      {secondFactor && !codes && (
        <p className="quiet small">
          Your passkeys are your second factor. An authenticator app comes with backup codes, too.
        </p>
      )}
      {open === 'start' && <StartDialog onClose={close} />}
      {open === 'stop' && <StopDialog onClose={close} />}
    </Section>
  );
}
