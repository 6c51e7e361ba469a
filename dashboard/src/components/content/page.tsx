/** A page with a document title and a heading, which gets the focus after navigation. */
import { type ReactNode, useEffect, useRef } from 'react';
import './page.css';

/** The first page of a visit keeps the focus at the top, before the skip link. */
let isFirst = true;

interface PageProps {
  readonly title: string;
  /** Added to the document title: `API keys · Docs`. */
  readonly of?: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  /** For forms and lists that would be hard to read at full width. */
  readonly isNarrow?: boolean;
  readonly children: ReactNode;
}

export function Page({ title, of, lead, actions, isNarrow = false, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);

  useEffect(() => {
    document.title = [title, of, 'caller-stats'].filter((part) => part !== undefined).join(' · ');
  }, [title, of]);

  useEffect(() => {
    if (!isFirst) {
      scrollTo(0, 0);
      heading.current?.focus();
    }
    isFirst = false;
  }, []);

  return (
    <div className={isNarrow ? 'page page-narrow' : 'page'}>
      <header className="page-head">
        <div className="page-titles">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead !== undefined && <div className="page-lead">{lead}</div>}
        </div>
        {actions !== undefined && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface SectionProps {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  /** `danger`: its actions cannot be undone. */
  readonly kind?: 'plain' | 'danger';
  readonly children: ReactNode;
}

/** A section of a page with its own heading. */
export function Section({ title, lead, actions, kind = 'plain', children }: SectionProps) {
  return (
    <section className={`section section-${kind}`} aria-label={title}>
      <div className="section-head">
        <div>
          <h2>{title}</h2>
          {lead !== undefined && <p className="section-lead">{lead}</p>}
        </div>
        {actions !== undefined && <div className="page-actions">{actions}</div>}
      </div>
      {children}
    </section>
  );
}
