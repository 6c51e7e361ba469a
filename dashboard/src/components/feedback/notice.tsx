/** A message that stands out. */
import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { ApiError } from '../../api/client.js';
import { Button } from '../forms/button.js';
import './notice.css';

const ICONS = { plain: Info, good: CircleCheck, warn: TriangleAlert, danger: CircleAlert };

interface NoticeProps {
  readonly kind?: keyof typeof ICONS;
  /** Announced by screen readers as soon as it appears. */
  readonly alert?: boolean;
  readonly children: ReactNode;
}

export function Notice({ kind = 'plain', alert = false, children }: NoticeProps) {
  const Icon = ICONS[kind];
  return (
    <div className={`notice kind-${kind}`} role={alert ? 'alert' : undefined}>
      <Icon aria-hidden />
      <div className="notice-body">{children}</div>
    </div>
  );
}

interface FailureProps {
  readonly error: Error;
  /** What failed: `The keys could not be read.` */
  readonly what?: string;
  readonly onRetry?: () => void;
}

/** The error of a failed request, and a button to retry. */
export function Failure({ error, what, onRetry }: FailureProps) {
  // The message may contain the first detail.
  const details =
    error instanceof ApiError ? error.details.filter((detail) => !error.message.includes(detail)) : [];
  return (
    <Notice kind="danger" alert>
      <p>
        {what !== undefined && <strong>{what} </strong>}
        {error.message}
      </p>
      {details.length > 0 && (
        <ul>
          {details.map((detail) => (
            <li key={detail}>{detail}</li>
          ))}
        </ul>
      )}
      {onRetry !== undefined && <Button onClick={onRetry}>Try again</Button>}
    </Notice>
  );
}
