/** The reports on a project's queries: total, over time, and by caller. */
import { toPrevious } from '../../domain/calendar/comparison.js';
import { findBeginning } from '../../domain/counting/beginning.js';
import type { CallerCounts, CallerStats } from '../../domain/counting/counts.js';
import { callerStatsToCsv, callersToCsv, seriesToCsv } from '../../domain/counting/csv.js';
import type { CutBounds } from '../../domain/counting/cut-bounds.js';
import {
  type AskingContext,
  type ChangesRequest,
  type CountsRequest,
  type CutBoundsRequest,
  type NumbersRequest,
  parseChangesRequest,
  parseCountsRequest,
  parseCutBoundsRequest,
  parseNumbersRequest,
  parseSeriesRequest,
  REPORT_PARAMETERS,
  type ReportInput,
  type ReportParameter,
  type SeriesRequest,
} from '../../domain/counting/report-request.js';
import type { Series } from '../../domain/counting/series.js';
import { createCounter, tile } from '../../domain/counting/tiles.js';
import { CallerStatsError } from '../../domain/errors.js';
import { pastReportsMax, reportsMax, reportWaitMsMax, waitingReportsMax } from '../../domain/limits.js';
import { isProjectId, type Project } from '../../domain/projects/project.js';
import { quote, type Result } from '../../domain/result.js';
import type { WeekStart } from '../../domain/time/calendar.js';
import { formatWithOffset } from '../../domain/time/date-time.js';
import { offsetAt, type TimeZone } from '../../domain/time/time-zone.js';
import { nextTurn } from '../../shared/pauses.js';
import { Slots } from '../../shared/slots.js';
import type { Store } from '../../storage/ports/store.js';
import { readSeries } from '../../storage/series.js';
import { countsThen } from './as-of.js';
import { type Changes, changesToCsv, readChanges } from './changes.js';
import { readCutBounds } from './cut-bounds.js';
import { type Numbers, readNumbers } from './numbers.js';
import { readWeekHours, type WeekHours } from './week-hours.js';

/** What can be asked about the counts of a project. */
export interface Readable<Question, Answer> {
  readonly parameters: readonly ReportParameter[];
  /** Whether the answer may be large (see `readInSlot`). */
  readonly isLong: boolean;
  /** Parses the parameters. Returns all problems, each beginning with the parameter's name. */
  readonly parse: (input: ReportInput, context: AskingContext) => Result<Question>;
  /** `onStep` is called now and then while it takes long; if it throws, the reading ends. */
  readonly read: (
    store: Store,
    projectId: string,
    question: Question,
    onStep?: () => void,
  ) => Promise<Answer>;
}

export interface Report<Question, Answer> extends Readable<Question, Answer> {
  /** The path of the same report in the HTTP API, relative to the project's assistant. */
  readonly operation: string;
  readonly toCsv: (answer: Answer, question: Question) => string;
}

export const CALLER_STATS: Report<CountsRequest, CallerStats> = {
  operation: 'caller-stats',
  parameters: REPORT_PARAMETERS.callerStats,
  isLong: false,
  parse: parseCountsRequest,
  read: async (store, projectId, question, onStep) => {
    const { range, compared, timeZone, caller } = question;
    const reads = countsThen(store, question, onStep);
    if (compared === undefined) return reads.count(projectId, range, caller);
    const tiles = tile([range.from, range.to, compared.from, compared.to]);
    const counts = await reads.countSeries(projectId, tiles, caller);
    const countIn = createCounter(tiles, counts);
    return { ...countIn(range), previous: toPrevious(compared, timeZone, countIn(compared)) };
  },
  toCsv: callerStatsToCsv,
};

export const SERIES: Report<SeriesRequest, Series> = {
  operation: 'caller-stats/series',
  parameters: REPORT_PARAMETERS.series,
  isLong: true,
  parse: parseSeriesRequest,
  read: (store, projectId, question, onStep) =>
    readSeries({ counts: countsThen(store, question, onStep) }, projectId, question),
  toCsv: (series, { csv }) => seriesToCsv(series, csv),
};

export const CALLERS: Report<CountsRequest, CallerCounts> = {
  operation: 'callers',
  parameters: REPORT_PARAMETERS.callers,
  isLong: true,
  parse: parseCountsRequest,
  read: async (store, projectId, question, onStep) => {
    const { range, compared, timeZone } = question;
    const reads = countsThen(store, question, onStep);
    const { inCompared, ...counts } = await reads.countCallers(projectId, range, compared);
    if (compared === undefined || inCompared === undefined) return counts;
    return { ...counts, previous: toPrevious(compared, timeZone, inCompared) };
  },
  toCsv: callersToCsv,
};

export const CHANGES: Report<ChangesRequest, Changes> = {
  operation: 'changes',
  parameters: REPORT_PARAMETERS.changes,
  isLong: false,
  parse: parseChangesRequest,
  read: readChanges,
  toCsv: changesToCsv,
};

/** For the dashboard. */
export const NUMBERS: Readable<NumbersRequest, Numbers> = {
  parameters: REPORT_PARAMETERS.numbers,
  isLong: true,
  parse: parseNumbersRequest,
  read: readNumbers,
};

/** For the dashboard. */
export const WEEK_HOURS: Readable<CountsRequest, WeekHours> = {
  parameters: REPORT_PARAMETERS.weekHours,
  isLong: true,
  parse: parseCountsRequest,
  read: readWeekHours,
};

/** The imported counts that a range counts wholly or not at all, although only a part of their span is within it. */
export const CUT_BOUNDS: Readable<CutBoundsRequest, CutBounds> = {
  parameters: REPORT_PARAMETERS.cutBounds,
  isLong: false,
  parse: parseCutBoundsRequest,
  read: readCutBounds,
};

/** Where long reports wait for each other. */
export interface ReportSlots {
  readonly slots: Slots;
  /** Who reads, as a rule an organization: owners take turns. */
  readonly owner: string;
  /** Calls back when nobody waits for the answer any more. */
  readonly onGone: (callback: () => void) => void;
}

/**
 * What reads all rows of a project may take minutes, and keeps what it has found of each caller: other reports never wait for it, and
 * one owner never has all slots.
 */
const pastSlots = new Slots(reportsMax, waitingReportsMax, pastReportsMax);

/** Reads a report whose answer may be large in one of the slots, so that a few of them at a time are in memory. */
export async function readInSlot<Answer>(
  { slots: shortSlots, owner, onGone }: ReportSlots,
  { isLong }: Pick<Readable<unknown, Answer>, 'isLong'>,
  { asOf, since }: { readonly asOf?: unknown; readonly since?: unknown },
  read: () => Promise<Answer>,
): Promise<Answer> {
  const isPast = asOf !== undefined || since !== undefined;
  if (!isPast && !isLong) return read();
  const slots = isPast ? pastSlots : shortSlots;
  if (slots.isFull(owner)) throw new CallerStatsError('busy', 'Too many reports are being made; try again.');
  const waiting = new AbortController();
  let isOver = false;
  const giveUp = (): void => {
    // Every request ends, and an error takes as long as a small report.
    if (!isOver) waiting.abort(new CallerStatsError('busy', 'Other reports took too long; try again.'));
  };
  onGone(giveUp);
  const tooLate = setTimeout(giveUp, reportWaitMsMax);
  try {
    const inSlot = async (): Promise<Answer> => {
      const answer = await read();
      // Writing a long one takes as long as making it.
      await nextTurn();
      return answer;
    };
    return await slots.run(inSlot, waiting.signal, owner);
  } finally {
    isOver = true;
    clearTimeout(tooLate);
  }
}

/** The tool for AI assistants that lists the projects of a source. */
export const LIST_PROJECTS = 'list_projects';

export type ListedProject = Pick<Project, 'id' | 'name' | 'timeZone' | 'weekStart'>;

/** A place to read reports from: the store, or a running server. */
export interface ReportSource {
  /**
   * Reads a report. `ask` returns the question for a project whose weeks begin on this day; `input` is the unparsed question,
   * for a server. Throws a `CallerStatsError` if the project does not exist, or the server refuses the request or cannot be
   * reached.
   */
  readonly read: <Question, Answer>(
    report: Report<Question, Answer>,
    projectId: string,
    ask: (weekStart: WeekStart | null) => Question,
    input: ReportInput,
  ) => Promise<{ readonly question: Question; readonly answer: Answer }>;
  /** When recording into a project began, as a local date-time; null without queries. */
  readonly recordingBegan: (projectId: string, timeZone: TimeZone) => Promise<string | null>;
  /** The projects that have reports. */
  readonly projects: () => Promise<readonly ListedProject[]>;
}

/** What a source reads of an organization: certain projects, or all of them. */
export interface ReportScope {
  readonly organizationId: string;
  readonly projects?: readonly string[] | null;
}

export function unknownProject(projectId: string, listing: string): CallerStatsError {
  const shown = isProjectId(projectId) ? projectId : quote(projectId);
  return new CallerStatsError('not_found', `There is no project ${shown}; see ${listing}.`);
}

/** Reads from the store. `listing` is the command or tool that lists projects, for messages. */
export function createStoreSource(
  store: Store,
  scopes: readonly ReportScope[],
  listing: string,
): ReportSource {
  const isWithin = ({ projects = null }: ReportScope, id: string) => projects?.includes(id) ?? true;
  const projectOf = async (id: string): Promise<Project> => {
    for (const scope of isProjectId(id) ? scopes : []) {
      if (!isWithin(scope, id)) continue;
      const found = await store.directory.findProject(scope.organizationId, id);
      if (found !== undefined) return found;
    }
    throw unknownProject(id, listing);
  };
  return {
    read: async (report, projectId, ask) => {
      const project = await projectOf(projectId);
      const question = ask(project.weekStart);
      return { question, answer: await report.read(store, projectId, question) };
    },
    recordingBegan: async (projectId, timeZone) => {
      const { counts } = store;
      const began = await findBeginning(await counts.findExtent(projectId), (range) =>
        counts.count(projectId, range),
      );
      return began === null ? null : formatWithOffset(began, offsetAt(began, timeZone));
    },
    projects: async () => {
      const listed = scopes.map(async (scope) =>
        (await store.directory.listProjects(scope.organizationId)).filter(({ id }) => isWithin(scope, id)),
      );
      return (await Promise.all(listed)).flat();
    },
  };
}
