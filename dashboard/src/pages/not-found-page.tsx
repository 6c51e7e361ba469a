/** The page for unknown URLs. */

import { Page } from '../components/content/page.js';
import { ButtonLink } from '../components/forms/button.js';

export function NotFoundPage({ what = 'There is no such page.' }: { what?: string }) {
  return (
    <Page title="Not found" lead={what} isNarrow>
      <div className="row">
        <ButtonLink href="/">Go to the overview</ButtonLink>
      </div>
    </Page>
  );
}
