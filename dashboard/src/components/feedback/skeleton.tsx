/** The shape of what is about to be there. */
import type { ReactNode } from 'react';
import './skeleton.css';

export function Skeleton({ shape }: { shape: 'text' | 'title' | 'row' | 'block' | 'chart' }) {
  return <span className={`skeleton skeleton-${shape}`} aria-hidden />;
}

/** What is read out in the meantime stands in one place; the shapes themselves say nothing. */
export function Loading({ what, children }: { what: string; children: ReactNode }) {
  return (
    <div className="stack" aria-busy="true">
      <p className="out-of-sight" role="status">
        {what}
      </p>
      {children}
    </div>
  );
}

/** As many rows of a table that is not there yet. */
export function LoadingRows({ what, rows }: { what: string; rows: number }) {
  return (
    <Loading what={what}>
      {[...Array(rows).keys()].map((row) => (
        <Skeleton key={row} shape="row" />
      ))}
    </Loading>
  );
}
