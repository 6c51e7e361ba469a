/** The latest messages of a project's notifications. */
import { Entries, Entry } from '../../../components/content/entries.js';
import { Time } from '../../../components/content/time.js';
import { Badge } from '../../../components/feedback/badge.js';
import type { Delivery } from './api.js';

export function Deliveries({ deliveries }: { readonly deliveries: readonly Delivery[] }) {
  return (
    <details>
      <summary>Latest messages ({deliveries.length})</summary>
      <Entries label="Latest messages">
        {deliveries.map((one) => (
          <Entry
            key={one.id}
            title={
              <>
                {one.title} <State {...one} />
              </>
            }
          >
            <Time at={one.createdAt} /> {one.error !== null && <Problem {...one} />}
          </Entry>
        ))}
      </Entries>
    </details>
  );
}

function State({ state, attempts, error }: Delivery) {
  switch (state) {
    case 'delivered':
      return <Badge kind="good">Delivered</Badge>;
    case 'failed':
      return <Badge kind="danger">Given up</Badge>;
    case 'pending':
      return error === null ? <Badge>Sending</Badge> : <Badge kind="warn">Tried {attempts} ×</Badge>;
  }
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
