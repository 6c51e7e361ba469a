/** Copies what tells to which queries further spans belong, so that a question whose spans reach both sides counts once. */
import type { Clock } from '../../domain/time/clock.js';
import type { CarriedKey, CarriedState, KnownIdentities } from '../../storage/ports/identities.js';
import type { Store } from '../../storage/ports/store.js';
import { settleAll } from '../record-telemetry.js';
import type { Side } from './side.js';

/** Added in one transaction, for which the servers of the target wait. */
const pageRows = 1_000;

/** After the queries, and states before keys: see `Identities.restore`. */
export async function copyIdentities(projectId: string, from: Side, to: Side, clock: Clock): Promise<void> {
  const nowMs = clock.now();
  const restore = (known: KnownIdentities) =>
    to.ask((store) => restoreIdentities({ store, clock }, projectId, known));
  for await (const states of readStates(projectId, from, nowMs)) await restore({ states });
  let keys: readonly CarriedKey[] = [];
  do {
    const after = keys.at(-1)?.name;
    keys = await from.ask((store) => store.identities.readKeys(projectId, after, pageRows, nowMs));
    if (keys.length > 0) await restore({ keys });
  } while (keys.length === pageRows);
}

async function* readStates(projectId: string, side: Side, nowMs: number) {
  let states: readonly CarriedState[] = [];
  do {
    const after = states.at(-1)?.id;
    states = await side.ask((store) => store.identities.readStates(projectId, after, pageRows, nowMs));
    if (states.length > 0) yield states;
  } while (states.length === pageRows);
}

/** The queries that turned out to be the same as others, or none. */
export async function listJoined(projectId: string, side: Side, clock: Clock): Promise<ReadonlySet<string>> {
  const joined = new Set<string>();
  for await (const states of readStates(projectId, side, clock.now()))
    for (const { id, countsAs } of states) if (countsAs !== null) joined.add(id);
  return joined;
}

/** Adds what another store knows, and corrects what is recorded here. Safe to repeat. */
export async function restoreIdentities(
  target: { readonly store: Pick<Store, 'counts' | 'identities'>; readonly clock: Clock },
  projectId: string,
  known: KnownIdentities,
): Promise<void> {
  const nowMs = target.clock.now();
  const pending = await target.store.identities.restore(projectId, known, nowMs);
  const readMore = () => target.store.identities.restore(projectId, {}, nowMs);
  await settleAll(target, { kind: 'copy' }, projectId, pending, { nowMs, readMore });
}
