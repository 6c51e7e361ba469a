/** Whether all members need a second factor, for owners. */
import { ShieldCheck, ShieldOff } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { changeOrganization } from '../../api/people/members.js';
import { useUser } from '../../api/session.js';
import type { Member, Organization } from '../../api/types.js';
import { Section } from '../../components/content/page.js';
import { Badge } from '../../components/feedback/badge.js';
import { Button } from '../../components/forms/button.js';
import { ConfirmDialog } from '../../components/overlays/confirm-dialog.js';

interface RuleProps {
  readonly organization: Organization;
  readonly members: readonly Member[];
}

export function SecondFactorRule({ organization, members }: RuleProps) {
  const { secondFactor } = useUser();
  const [isAsking, setAsking] = useState(false);
  const isRequired = organization.secondFactor === 'required';
  const without = members.filter((member) => member.secondFactor === false).length;
  return (
    <Section
      title="Two-factor authentication"
      lead="If it is required, members without a passkey or an authenticator app see nothing until they set one up. API keys are not affected."
    >
      <div className="row">
        <Badge kind={isRequired ? 'good' : 'plain'}>{isRequired ? 'Required' : 'Optional'}</Badge>
        <Button icon={isRequired ? ShieldOff : ShieldCheck} onClick={() => setAsking(true)}>
          {isRequired ? 'Make optional…' : 'Require of all members…'}
        </Button>
      </div>
      {!isRequired && !secondFactor && (
        <p className="quiet small">
          First, <Link href="/account">set it up for your own account</Link>.
        </p>
      )}
      {isAsking && (
        <ConfirmDialog
          title={
            isRequired ? 'Make two-factor authentication optional?' : 'Require two-factor authentication?'
          }
          action={isRequired ? 'Make optional' : 'Require'}
          kind={isRequired ? 'danger' : 'primary'}
          done={isRequired ? 'It is optional now' : 'It is required of all members now'}
          onConfirm={() =>
            changeOrganization(organization.id, { secondFactor: isRequired ? 'optional' : 'required' })
          }
          onClose={() => setAsking(false)}
        >
          <p>
            {isRequired ? 'A stolen password is then enough to sign in as some members.' : describe(without)}
          </p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

function describe(without: number): string {
  if (without === 0) return 'All members have it already.';
  const who = without === 1 ? 'One member does' : `${without} members do`;
  return `${who} not have it yet. They see nothing of the organization until they set it up.`;
}
