/** A one-time link that is invalid or expired. */
import type { ReactNode } from 'react';
import { Page } from '../components/content/page.js';
import { ButtonLink } from '../components/forms/button.js';

export function DeadLink({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Page title={title}>
      <p className="quiet">{children}</p>
      <div className="row">
        <ButtonLink href="/sign-in">Go to sign-in</ButtonLink>
      </div>
    </Page>
  );
}
