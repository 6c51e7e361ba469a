/** Accepts an invitation. */
import { useQuery } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { ApiError } from '../api/client.js';
import { acceptInvitation, lookUpInvitation } from '../api/people/sign-in.js';
import { enterSession, useSession } from '../api/session.js';
import type { InvitationPreview } from '../api/types.js';
import { Page } from '../components/content/page.js';
import { Failure, Notice } from '../components/feedback/notice.js';
import { Loading, Skeleton } from '../components/feedback/skeleton.js';
import { ButtonLink } from '../components/forms/button.js';
import { NameField, TextField } from '../components/forms/field.js';
import { Form, getPassword, getText } from '../components/forms/form.js';
import { NewPassword } from '../components/forms/passwords.js';
import { SignInLayout } from '../layout/sign-in-layout.js';
import { useToken } from '../navigation/token.js';
import { remember } from '../preferences/local-storage.js';
import { DeadLink } from './dead-link.js';

export function JoinPage() {
  const token = useToken('/join');
  return (
    <SignInLayout>
      {token === null ? (
        <DeadLink title="This invitation does not work">
          The part after the # is missing. Copy the whole link that you were sent.
        </DeadLink>
      ) : (
        <Invitation token={token} />
      )}
    </SignInLayout>
  );
}

function Invitation({ token }: { token: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => lookUpInvitation(token),
    gcTime: 0,
  });
  if (data !== undefined) return <InvitationDetails invitation={data} token={token} />;
  if (error instanceof ApiError && error.status === 404)
    return (
      <DeadLink title="This invitation does not work">
        It was already used, was withdrawn or has expired. Ask the person who invited you for a new one.
      </DeadLink>
    );
  if (error !== null)
    return <Failure error={error} what="The invitation could not be read." onRetry={() => void refetch()} />;
  return (
    <Loading what="Loading the invitation">
      <Skeleton shape="title" />
      <Skeleton shape="row" />
    </Loading>
  );
}

function InvitationDetails({ invitation, token }: { invitation: InvitationPreview; token: string }) {
  const { user } = useSession();
  const [, navigate] = useLocation();
  const { organization, email, invitedBy, role } = invitation;
  const join = async (account?: { name: string; password: string }): Promise<void> => {
    await acceptInvitation(token, account);
    remember('organization', organization.id);
    remember('project', null);
    await enterSession();
    navigate('/', { replace: true });
  };
  const isRightUser = user?.email === email;
  return (
    <Page
      title={`Join ${organization.name}`}
      lead={`${invitedBy} invites ${email} as ${role === 'viewer' || role === 'reader' ? 'a' : 'an'} ${role}.`}
    >
      {user !== null && !isRightUser && (
        <Notice kind="warn">
          You are signed in as {user.email}. Sign out, then open the link again to accept as {email}.
        </Notice>
      )}
      {user === null && invitation.hasAccount && (
        <>
          <p className="quiet">
            There is an account with this address. Sign in to it, and you come back here. If it is not yours,
            ask your administrator for a link that sets a new password.
          </p>
          <div className="row">
            <ButtonLink href="/sign-in?to=/join" kind="primary">
              Sign in
            </ButtonLink>
          </div>
        </>
      )}
      {isRightUser && (
        <Form label="Join" onSend={() => join()} submit={`Join ${organization.name}`} kind="primary" wide />
      )}
      {user === null && !invitation.hasAccount && (
        <Form
          label="Join"
          onSend={(data) => join({ name: getText(data, 'name'), password: getPassword(data, 'password') })}
          submit={`Join ${organization.name}`}
          kind="primary"
          wide
        >
          <TextField
            label="E-mail"
            name="email"
            type="email"
            autoComplete="username"
            value={email}
            readOnly
          />
          <NameField autoComplete="name" />
          <NewPassword />
        </Form>
      )}
    </Page>
  );
}
