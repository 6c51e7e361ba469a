/** A list of things, each with what is known of it and what can be done with it. */
import type { ReactNode } from 'react';
import './entries.css';

export function Entries({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul className="entries" aria-label={label}>
      {children}
    </ul>
  );
}

interface EntryProps {
  readonly title: ReactNode;
  /** Buttons, or a menu. */
  readonly actions?: ReactNode;
  /** Below the title. */
  readonly children: ReactNode;
}

export function Entry({ title, actions, children }: EntryProps) {
  return (
    <li className="entry">
      <div className="entry-about">
        <p>{title}</p>
        <div className="quiet small numbers">{children}</div>
      </div>
      {actions}
    </li>
  );
}
