/** Placeholders for content that is loading. */
import type { ReactNode } from 'react';
import './skeleton.css';

export function Skeleton({ shape }: { shape: 'text' | 'title' | 'row' | 'block' | 'chart' }) {
  return <span className={`skeleton skeleton-${shape}`} aria-hidden />;
}

/** Screen readers announce loading here; the shapes are hidden from them. */
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

/** A placeholder for a table that is loading. */
export function LoadingRows({ what, rows }: { what: string; rows: number }) {
  return (
    <Loading what={what}>
      {[...Array(rows).keys()].map((row) => (
        <Skeleton key={row} shape="row" />
      ))}
    </Loading>
  );
}
