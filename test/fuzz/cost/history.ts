/**
 * A project with a long history, as the export of another server has it: an import takes over corrections and days that lie in the past,
 * and any version of the program can do it.
 */
import { WRITING } from '../../../src/app/export/rows.js';
import { type CarriedCorrection, hashIds } from '../../../src/domain/corrections/carried.js';
import { dayOf, type Receipt } from '../../../src/domain/queries/receipt.js';
import { dayMs, hourMs } from '../../../src/domain/time/duration.js';
import { numbered } from './tree.js';

export const HISTORY_PROJECT = 'history';

/** How much of everything. An import takes 2 to 3 ms for a correction, and 0.2 ms for an imported count. */
export interface HistorySize {
  readonly corrections: number;
  /** Each was changed by every second correction, and it was undone by the next one. */
  readonly correctedQueries: number;
  readonly importedCounts: number;
  /** Of the audit log of its organization. */
  readonly auditEntries: number;
}

/** For a test of a few seconds. */
export const SHORT_HISTORY: HistorySize = {
  ...{ corrections: 1500, correctedQueries: 20, importedCounts: 20_000, auditEntries: 1000 },
};

/** With it, what takes 20 µs of a turn for each correction, or 0.25 µs for each imported count, is too costly. */
export const LONG_HISTORY: HistorySize = {
  ...{ corrections: 2500, correctedQueries: 20, importedCounts: 200_000, auditEntries: 5000 },
};

/** When the corrections begin. */
const start = Date.UTC(2026, 2, 1);
const correctionHours = 1440;

const receipt: Receipt = { day: dayOf(start) - 10, sender: 'key:x' };
const occurredAt = start - 20 * dayMs;

/** Figures name at most this many callers. Those of the newest corrections do, which are one page. */
const figureCallers = 1000;
const withFigures = 100;

/** Telemetry has told more about these queries on later days. */
const lateQueries = 1000;
const lateDays = 5;

/** Bounds within a span cut it. */
const spanDays = 300;
const sources = 200;

const allOf = (name: string, count: number) => Array.from({ length: count }, (_, at) => numbered(name, at));
const correctionId = (at: number): string => `correction ${at}`;

export function* historyLines(size: HistorySize): Generator<string> {
  const { correction, count, row } = WRITING.ndjson;
  for (let at = 0; at < size.corrections; at++) yield correction(correctionAt(at, size));
  for (let at = 0; at < size.importedCounts; at++) {
    const from = start - spanDays * dayMs + (at % 7) * hourMs;
    // Every tenth was withdrawn, and still is, or not any more.
    const withdrawals = at % 10 === 0 ? [correctionId(0), correctionId(lastApplied(size))] : [];
    yield count({
      ...{ source: `source-${at % sources}`, caller: `counted-${Math.floor(at / sources)}`, count: 1 },
      ...{ start: from, end: from + spanDays * dayMs },
      ...{ day: receipt.day, withdrawals, withdrawnBy: null },
    });
  }
  const changes = Array.from({ length: Math.floor(size.corrections / 2) }, (_, at) => ({
    ...{ correction: correctionId(2 * at), caller: 'slack' },
  }));
  const query = { caller: 'slack', occurredAt, receipt, isWithdrawn: false };
  for (const id of allOf('corrected {i}', size.correctedQueries)) yield row({ ...query, id, changes });
  for (const id of allOf('late {i}', lateQueries)) {
    const known = Array.from({ length: lateDays }, (_, day) => ({
      ...{ day: receipt.day + 1 + day, caller: `before-${day}`, isWithdrawn: false, isCorrected: false },
    }));
    yield row({ ...query, id, known });
  }
}

function lastApplied({ corrections }: HistorySize): number {
  return 2 * Math.floor((corrections - 1) / 2);
}

/** Every fourth withdraws, and what is between them renames; each is undone. */
function correctionAt(at: number, { corrections, correctedQueries }: HistorySize): CarriedCorrection {
  const time = start + Math.floor((at * correctionHours * hourMs) / corrections);
  const callers = at < corrections - withFigures ? ['slack'] : allOf('figure-{i}', figureCallers);
  const own = { id: correctionId(at), reason: 'a test' };
  const selection = { ids: correctedQueries };
  return {
    request:
      at % 2 === 1
        ? { ...own, action: 'undo', correction: correctionId(at - 1) }
        : at % 4 === 0
          ? { ...own, action: 'withdraw', selection }
          : { ...own, action: 'rename', selection, to: 'web' },
    idsHash: at % 2 === 1 ? null : hashIds('[]'),
    ...{ createdBy: 'a test', createdAt: time, finishedAt: time },
    figures: {
      callers: Object.fromEntries(callers.map((caller) => [caller, correctedQueries])),
      ...{ rest: 0, first: occurredAt, last: occurredAt },
    },
  };
}
