/** Copies withdrawn queries, so that their ids stay duplicates in the target. */
import { createHash } from 'node:crypto';
import type { CorrectionRequest } from '../../domain/corrections/correction.js';
import type { Actor } from '../../domain/people/audit.js';
import type { Query } from '../../domain/queries/query.js';
import type { Clock } from '../../domain/time/clock.js';
import type { WithdrawnPage } from '../../storage/ports/corrections.js';
import { finishAll } from '../corrections.js';
import { recordQueries } from '../record.js';
import type { Side } from './side.js';

/** Records them in the target, and withdraws them there. Returns how many they are. Safe to repeat. */
export async function copyWithdrawn(
  projectId: string,
  from: Side,
  to: Side,
  clock: Clock,
  by: Actor,
): Promise<number> {
  let copied = 0;
  let after: string | null = null;
  do {
    const start: string | null = after;
    const page: WithdrawnPage = await from.ask((store) => store.corrections.listWithdrawn(projectId, start));
    if (page.queries.length > 0) {
      await to.ask(async (store) => {
        await recordQueries({ store, clock }, { kind: 'copy' }, projectId, page.queries);
        await store.corrections.accept(projectId, withdrawalOf(page.queries), by);
        await finishAll({ store, clock }, projectId);
      });
    }
    copied += page.queries.length;
    after = page.next;
  } while (after !== null);
  return copied;
}

/** A repeat of the copy has the same id. */
function withdrawalOf(queries: readonly Query[]): CorrectionRequest {
  const ids = queries.map(({ id }) => id);
  const hash = createHash('sha256').update(JSON.stringify(ids)).digest('hex');
  const reason = 'withdrawn in the database that was copied';
  return { id: `copy-${hash.slice(0, 32)}`, reason, action: 'withdraw', selection: { ids } };
}
