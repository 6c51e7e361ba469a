/** The latest messages of a project's notifications. */
import { Time } from '../../../components/content/time.js';
import { Badge } from '../../../components/feedback/badge.js';
import type { Delivery } from './api.js';
import '../entries.css';

export function Deliveries({ deliveries }: { readonly deliveries: readonly Delivery[] }) {
  return (
    <details>
      <summary>Latest messages ({deliveries.length})</summary>
      <ul className="entries" aria-label="Latest messages">
        {deliveries.map((one) => (
          <li key={one.id} className="entry">
            <div className="entry-about">
              <p>
                {one.title} <State {...one} />
              </p>
              <p className="quiet small">
                <Time at={one.createdAt} /> {one.error !== null && <Problem {...one} />}
              </p>
            </div>
          </li>
        ))}
      </ul>
    </details>
  );
}

function State({ state, attempts, error }: Delivery) {
  if (state === 'delivered') return <Badge kind="good">Delivered</Badge>;
  if (state === 'failed') return <Badge kind="danger">Given up</Badge>;
  return error === null ? <Badge>Sending</Badge> : <Badge kind="warn">Tried {attempts} ×</Badge>;
}

function Problem({ error, nextAttemptAt }: Delivery) {
  return (
    <>
      {error}
      {nextAttemptAt !== null && (
        <>
          ; next attempt <Time at={nextAttemptAt} />
        </>
      )}
    </>
  );
}
