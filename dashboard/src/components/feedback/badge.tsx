/** A status in one or two words. */
import type { ReactNode } from 'react';
import './badge.css';

export type BadgeKind = 'plain' | 'good' | 'warn' | 'danger' | 'accent';

export function Badge({ kind = 'plain', children }: { kind?: BadgeKind; children: ReactNode }) {
  return <span className={`badge kind-${kind}`}>{children}</span>;
}
