/** The layout of pages without a session: one column. */
import type { ReactNode } from 'react';
import { Logo } from './header/logo.js';
import { PageFooter } from './page-footer.js';
import './sign-in-layout.css';

export function SignInLayout({ children }: { children: ReactNode }) {
  return (
    <div className="sign">
      <header className="sign-brand">
        <Logo />
        <span>caller-stats</span>
      </header>
      <main className="sign-main">{children}</main>
      <PageFooter />
    </div>
  );
}
