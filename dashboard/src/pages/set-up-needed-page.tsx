/** Shown until the first owner exists. The set-up link is in the server's output, which only its operator can read. */
import { Link } from 'wouter';
import { Page } from '../components/content/page.js';
import { SignInLayout } from '../layout/sign-in-layout.js';
import { serverUrl } from '../navigation/base-path.js';
import '../components/content/copy.css';

export function SetUpNeededPage() {
  return (
    <SignInLayout>
      <Page title="Set up this server">
        <p className="quiet">
          This server has no owner yet. When the server started, it made a one-time address for making the
          first account. Look for a line like this, and open the address:
        </p>
        <p className="copied">
          <code>{serverUrl()}/set-up#…</code>
        </p>
        <p className="quiet">
          It stands in the terminal that the server runs in. A service or container writes it to the file
          whose name its log has. Is it gone? Start the server again: it makes a new one for as long as there
          is no owner, and the last one counts.
        </p>
        <p className="quiet">
          You have an account already? <Link href="/sign-in">Sign in</Link>
        </p>
      </Page>
    </SignInLayout>
  );
}
