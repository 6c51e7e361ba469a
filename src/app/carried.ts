/** Carries corrections from one store to another, with queries as they were recorded and what they are now. */
import {
  type CarriedChange,
  type CarriedCorrection,
  type CarriedCount,
  type CarriedQuery,
  toRecorded,
} from '../domain/corrections/carried.js';
import { type Applied, correct, type QueryState } from '../domain/corrections/state.js';
import { correctionStepQueriesMax } from '../domain/limits.js';
import { dayOf, type RecordedQuery, type Sender } from '../domain/queries/receipt.js';
import { Turns } from '../shared/turns.js';
import type { CorrectionReads } from '../storage/ports/corrections.js';
import type { RecordedCount } from '../storage/ports/counts.js';
import type { RecordResult } from '../storage/ports/store.js';
import { type CorrectionTarget, finishAll } from './corrections.js';
import { type RecordTarget, recordCounts, recordQueries } from './record.js';

/** One may name ten thousand ids, which the store reads. */
const pageCorrections = 10;

/** All who read them share its turns. */
const turns = new Turns();

/** A move takes less. Looking at older queries again would make each further copy of a long history three times as slow. */
const toldDays = 30;

/** The corrections of a project that were finished when they were read, and the state of its queries after them. */
export class Carried {
  /** Those that change queries, by number; an undone one is empty. */
  readonly #applied = new Map<number, { readonly id: string; readonly applied: Applied | undefined }>();
  readonly #numbers = new Map<string, number>();

  /** Reads the corrections in their order. Read all of them before `describe`. */
  async *read(
    corrections: Pick<CorrectionReads, 'listFinished'>,
    projectId: string,
  ): AsyncGenerator<CarriedCorrection> {
    let after = 0;
    let read: number;
    do {
      const before = after;
      const page = await turns.next(() => corrections.listFinished(projectId, before, pageCorrections));
      for (const { number, ...carried } of page) {
        this.#add(number, carried);
        yield carried;
        after = number;
      }
      read = page.length;
    } while (read === pageCorrections);
  }

  /** The id of a correction; undefined if it was not read. */
  idOf(number: number | undefined): string | undefined {
    return number === undefined ? undefined : this.#applied.get(number)?.id;
  }

  /** What the corrections that were read have made of a query, whatever later ones have. */
  describe(recorded: RecordedQuery): CarriedQuery {
    if (recorded.corrected === undefined) return recorded;
    const { corrected, ...query } = recorded;
    const [first] = corrected.changes;
    let state: QueryState = { caller: first?.caller ?? query.caller, isWithdrawn: false };
    const changes: CarriedChange[] = [];
    let isKnown = true;
    for (const { correction, caller } of corrected.changes) {
      const known = this.#applied.get(correction);
      if (known === undefined) {
        isKnown = false;
        continue;
      }
      changes.push({ correction: known.id, caller });
      if (known.applied !== undefined) state = correct(state, known.applied);
    }
    const { known = [] } = corrected;
    // Telemetry has changed it as well.
    if (known.length > 0 && isKnown) state = { caller: query.caller, isWithdrawn: corrected.isWithdrawn };
    // No correction withdrew it: telemetry told that it is another query, or none.
    const isWithdrawn = state.isWithdrawn || (isKnown && corrected.isWithdrawn);
    return {
      ...{ ...query, caller: state.caller, isWithdrawn },
      ...(changes.length > 0 ? { changes } : {}),
      ...(known.length > 0 ? { known } : {}),
    };
  }

  /** The same of an imported count. */
  describeCount({ withdrawals: numbers = [], withdrawnBy: _, ...count }: RecordedCount): CarriedCount {
    const known = numbers.flatMap((number) => this.#applied.get(number) ?? []);
    const by = known.findLast(({ applied }) => applied !== undefined);
    return { ...count, withdrawals: known.map(({ id }) => id), withdrawnBy: by?.id ?? null };
  }

  #add(number: number, { request }: CarriedCorrection): void {
    const { id, action } = request;
    this.#numbers.set(id, number);
    if (action === 'undo') {
      const undone = this.#numbers.get(request.correction);
      const found = undone === undefined ? undefined : this.#applied.get(undone);
      if (undone !== undefined && found !== undefined)
        this.#applied.set(undone, { id: found.id, applied: undefined });
    }
    const applied =
      action === 'undo' ? undefined : { action, to: action === 'rename' ? request.to : undefined };
    this.#applied.set(number, { id, applied });
  }
}

/** Adds a correction to a project, after those that are there. */
export async function restoreCorrection(
  target: CorrectionTarget,
  projectId: string,
  carried: CarriedCorrection,
): Promise<void> {
  await finishAll(target, projectId);
  await target.store.corrections.restore(projectId, carried);
}

/**
 * Records queries as `recordQueries` does, and that restored corrections have changed some of them. Between the two steps they count
 * as if nothing had changed them. Safe to repeat.
 */
export async function recordCarriedQueries(
  target: RecordTarget & CorrectionTarget,
  sender: Sender,
  projectId: string,
  queries: readonly CarriedQuery[],
): Promise<RecordResult> {
  const result = await recordQueries(target, sender, projectId, queries.map(toRecorded));
  // Telemetry may have named their callers since they were copied, and nothing notes that on the day they arrived.
  const fromDay = dayOf(target.clock.now()) - toldDays;
  const isTold = ({ receipt }: CarriedQuery): boolean =>
    sender.kind === 'copy' &&
    result.duplicates > 0 &&
    (receipt?.day ?? 0) >= fromDay &&
    receipt?.sender.startsWith('telemetry:') === true;
  const changed = queries
    .filter((one) => one.changes?.length || one.known?.length || one.isWithdrawn || isTold(one))
    .map((one) => {
      const { id, caller, isWithdrawn = false, changes = [], known = [] } = one;
      return {
        id,
        caller,
        isWithdrawn,
        changes,
        known,
        occurredAt: isTold(one) ? one.occurredAt : undefined,
      };
    });
  for (let at = 0; at < changed.length; at += correctionStepQueriesMax)
    await target.store.corrections.restoreChanges(
      projectId,
      changed.slice(at, at + correctionStepQueriesMax),
    );
  return result;
}

/** Imports counts as `recordCounts` does, with the corrections that have withdrawn them. Safe to repeat. */
export async function recordCarriedCounts(
  target: Pick<RecordTarget, 'store' | 'clock'> & CorrectionTarget,
  projectId: string,
  counts: readonly CarriedCount[],
): Promise<RecordResult> {
  const plain = counts.map(({ withdrawals, withdrawnBy, ...count }) => count);
  const result = await recordCounts(target, projectId, plain);
  if (counts.some(({ withdrawals }) => withdrawals.length > 0))
    await target.store.corrections.restoreWithdrawals(projectId, counts);
  return result;
}
