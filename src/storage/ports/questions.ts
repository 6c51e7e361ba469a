/** The part of the storage port that tells which query a question of OpenTelemetry is. See `question-identity.ts`. */
import type { QuestionKeys } from '../../domain/queries/question-identity.js';
import { dayMs } from '../../domain/time/duration.js';

export interface Questions {
  /**
   * The id of the query of each question, in their order, as `planIdentities` decides. Durable, and the same through any
   * number of handles, also for questions that are identified at the same time. Recording the queries is another step:
   * repeating both after a crash between them gives the same ids. Also forgets some of the project's keys that were stored
   * more than `keysKeptMs` before `nowMs`. `not_found` if there is no such project.
   */
  identify(projectId: string, questions: readonly QuestionKeys[], nowMs: number): Promise<readonly string[]>;
}

/** Far longer than any exporter or collector tries to send the same spans again. */
export const keysKeptMs = 30 * dayMs;

/** Expired keys that one call removes at most: more than most calls add, so that they cannot pile up. */
export const expiredKeysMax = 1000;
