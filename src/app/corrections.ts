/** Corrects what was recorded, and describes corrections to those who ask. */
import {
  type Correction,
  type CorrectionRequest,
  type SelectionSummary,
  showSelection,
} from '../domain/corrections/correction.js';
import { countFigures, type Figures, mergeFigures, NO_FIGURES } from '../domain/corrections/figures.js';
import type { CallerCount, Counts } from '../domain/counting/counts.js';
import { CallerStatsError, isUnavailable } from '../domain/errors.js';
import { formatTime } from '../domain/format.js';
import { correctionStepQueriesMax, correctionsListedMax, correctionWaitMs } from '../domain/limits.js';
import type { Actor } from '../domain/people/audit.js';
import type { Clock } from '../domain/time/clock.js';
import { storeShare } from '../shared/fair-share.js';
import { Turns } from '../shared/turns.js';
import type { Measured } from '../storage/ports/corrections.js';
import type { Store } from '../storage/ports/store.js';

export interface CorrectionTarget {
  readonly store: Pick<Store, 'corrections'>;
  readonly clock: Clock;
}

/** A correction as every interface shows it. */
export interface ShownCorrection {
  readonly id: string;
  readonly action: CorrectionRequest['action'];
  readonly reason: string;
  /** What was asked for, under the names of the request. Of ids, how many there are. */
  readonly selection: Readonly<Record<string, string | number>>;
  readonly to: string | null;
  readonly correction: string | null;
  readonly state: 'dryRun' | 'running' | 'done';
  readonly queries: Counts;
  readonly callers: readonly CallerCount[];
  /** The queries of all callers that are not named. */
  readonly otherCallers: number;
  readonly first: string | null;
  readonly last: string | null;
  readonly createdBy: string | null;
  readonly createdAt: string | null;
  readonly finishedAt: string | null;
  readonly undoneBy: string | null;
}

export interface CorrectionPage {
  readonly corrections: readonly ShownCorrection[];
  /** `before` of the next page; null after the last one. */
  readonly next: string | null;
}

/** All corrections that are measured or listed at once share their turns. */
const turns = new Turns();

/** How many are read or written at a time, in some milliseconds: each may name a thousand callers. */
export const correctionsInPiece = 10;

/** What a correction would change. `onPart` is called now and then. */
export async function measureCorrection(
  { store }: CorrectionTarget,
  projectId: string,
  request: CorrectionRequest,
  onPart: () => void = () => {},
): Promise<Figures> {
  let figures = NO_FIGURES;
  for await (const part of measure(store, projectId, request)) {
    figures = mergeFigures(figures, part);
    onPart();
  }
  return figures;
}

/**
 * Accepts a correction and carries it out. What takes longer than `correctionWaitMs` is left to `runCorrections`. A repeat of the
 * request changes nothing. Throws `invalid` if it would change nothing, and as `Corrections.accept` does.
 */
export async function correct(
  target: CorrectionTarget,
  projectId: string,
  request: CorrectionRequest,
  by: Actor,
  onPart?: () => void,
): Promise<Correction> {
  const { corrections } = target.store;
  if ((await corrections.findCorrection(projectId, request.id)) === undefined)
    await requireEffect(target, projectId, request, onPart);
  return finish(target, projectId, await corrections.accept(projectId, request, by));
}

/** Carries out what is unfinished in a project, until nothing is or `signal` is aborted. Returns the number of steps. */
export async function finishAll(
  { store, clock }: CorrectionTarget,
  projectId: string,
  signal?: AbortSignal,
): Promise<number> {
  let steps = 0;
  while (!signal?.aborted) {
    const correction = await step(store, projectId, clock);
    if (correction === undefined) break;
    steps++;
  }
  return steps;
}

export function showCorrection(correction: Correction): ShownCorrection {
  const { createdBy, createdAt, finishedAt, undoneBy } = correction;
  return {
    ...show(correction.request, correction.figures),
    state: finishedAt === null ? 'running' : 'done',
    createdBy,
    createdAt: formatTime(createdAt),
    finishedAt: finishedAt === null ? null : formatTime(finishedAt),
    undoneBy,
  };
}

/** A page of the corrections of a project, the newest first. `before` is `next` of the page before. */
export async function listCorrections(
  { corrections }: CorrectionTarget['store'],
  projectId: string,
  before: number | undefined,
): Promise<CorrectionPage> {
  const page: Correction[] = [];
  const readMore = () =>
    corrections.listCorrections(projectId, page.at(-1)?.number ?? before, correctionsInPiece);
  let isAll = false;
  while (!isAll && page.length < correctionsListedMax) {
    const some = await turns.next(readMore);
    page.push(...some);
    isAll = some.length < correctionsInPiece;
  }
  const last = page.at(-1)?.number ?? 1;
  return {
    corrections: page.map(showCorrection),
    next: page.length === correctionsListedMax && last > 1 ? String(last) : null,
  };
}

/** A correction that was only measured. */
export function showMeasured(
  request: CorrectionRequest<SelectionSummary>,
  figures: Figures,
): ShownCorrection {
  const nothing = { createdBy: null, createdAt: null, finishedAt: null, undoneBy: null };
  return { ...show(request, figures), state: 'dryRun', ...nothing };
}

async function* measure(
  { corrections }: CorrectionTarget['store'],
  projectId: string,
  request: CorrectionRequest,
): AsyncGenerator<Figures> {
  let from: string | null = null;
  do {
    const at: string | null = from;
    const part: Measured = await turns.next(() => corrections.measure(projectId, request, at));
    yield part.figures;
    from = part.next;
  } while (from !== null);
}

/** An undo may take back what others have changed again, and so change nothing. */
async function requireEffect(
  { store }: CorrectionTarget,
  projectId: string,
  request: CorrectionRequest,
  onPart: () => void = () => {},
): Promise<void> {
  if (request.action === 'undo') return;
  for await (const part of measure(store, projectId, request)) {
    onPart();
    if (part.first !== null) return;
  }
  const what = request.action === 'rename' ? `would get the caller ${request.to}` : 'would be withdrawn';
  throw new CallerStatsError('invalid', 'Nothing was corrected.', {
    details: [`no query that counts matches and ${what}; check the ids, filters or source`],
  });
}

/** The next step of what is unfinished, while recordings keep their share of the store. */
function step(
  { corrections }: CorrectionTarget['store'],
  projectId: string,
  clock: Clock,
): Promise<Correction | undefined> {
  return storeShare.take(() => corrections.step(projectId, clock.now(), correctionStepQueriesMax));
}

async function finish(
  { store, clock }: CorrectionTarget,
  projectId: string,
  accepted: Correction,
): Promise<Correction> {
  const until = clock.now() + correctionWaitMs;
  let current = accepted;
  try {
    while (current.finishedAt === null && clock.now() < until) {
      // Earlier corrections come first.
      const stepped = await step(store, projectId, clock);
      if (stepped?.number === current.number) current = stepped;
      else if (stepped === undefined || stepped.number > current.number)
        current = (await store.corrections.findCorrection(projectId, current.request.id)) ?? current;
    }
  } catch (error) {
    // It is accepted, and carried out as soon as the store can.
    if (!isUnavailable(error)) throw error;
  }
  return current;
}

function show(request: CorrectionRequest<SelectionSummary>, figures: Figures) {
  const { callers, ...queries } = countFigures(figures);
  return {
    id: request.id,
    action: request.action,
    reason: request.reason,
    selection: showSelection(request),
    to: request.action === 'rename' ? request.to : null,
    correction: request.action === 'undo' ? request.correction : null,
    queries,
    callers,
    otherCallers: figures.rest,
    first: figures.first === null ? null : formatTime(figures.first),
    last: figures.last === null ? null : formatTime(figures.last),
  };
}
