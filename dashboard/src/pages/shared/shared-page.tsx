/** The page of a share link. It knows nothing but the token in its address: no session, no organization. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useParams } from 'wouter';
import { ApiError } from '../../api/client.js';
import { sharedQuery, unlock } from '../../api/shared.js';
import { Page } from '../../components/content/page.js';
import { Failure } from '../../components/feedback/notice.js';
import { Form, getPassword } from '../../components/forms/form.js';
import { CurrentPassword } from '../../components/forms/passwords.js';
import { Logo } from '../../layout/header/logo.js';
import { PageBoundary, PageLoading } from '../../layout/page-boundary.js';
import { SharedNumbers } from './shared-numbers.js';
import './shared.css';

export function SharedPage() {
  const { token } = useParams<{ token: string }>();
  const { data, error, refetch } = useQuery(sharedQuery(token));
  const status = error instanceof ApiError ? error.status : undefined;
  if (status === 401)
    return (
      <SharedLayout isNarrow>
        <PasswordPage token={token} />
      </SharedLayout>
    );
  if (status === 404)
    return (
      <SharedLayout isNarrow>
        <Page title="This link does not work">
          <p className="quiet">
            It has expired, was revoked, or is incomplete. Ask the person who gave it to you for a new one.
          </p>
        </Page>
      </SharedLayout>
    );
  if (data !== undefined)
    return (
      <SharedLayout>
        <PageBoundary>
          <SharedNumbers token={token} project={data} />
        </PageBoundary>
      </SharedLayout>
    );
  return (
    <SharedLayout>
      {error === null ? (
        <PageLoading />
      ) : (
        <Failure error={error} what="The page could not be loaded." onRetry={() => void refetch()} />
      )}
    </SharedLayout>
  );
}

function SharedLayout({ isNarrow = false, children }: { isNarrow?: boolean; children: ReactNode }) {
  return (
    <div className="shared">
      <main className={isNarrow ? 'shared-main shared-narrow' : 'shared-main'}>{children}</main>
      <footer className="shared-footer">
        <Logo />
        <span>Shared with caller-stats</span>
      </footer>
    </div>
  );
}

function PasswordPage({ token }: { token: string }) {
  return (
    <Page title="Password needed" lead="The person who shared this page has set a password for it.">
      <Form
        label="Unlock"
        onSend={(data) => unlock(token, getPassword(data, 'password'))}
        submit="Show the page"
        kind="primary"
        wide
      >
        <CurrentPassword label="Password" />
      </Form>
    </Page>
  );
}
