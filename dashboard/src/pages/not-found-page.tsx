/** Where nothing is. */
import { ButtonLink } from '../parts/button.js';
import { Page } from '../parts/page.js';

export function NotFoundPage({ what = 'There is no such page.' }: { what?: string }) {
  return (
    <Page title="Not found" lead={what} isNarrow>
      <div className="row">
        <ButtonLink href="/">Go to the overview</ButtonLink>
      </div>
    </Page>
  );
}
