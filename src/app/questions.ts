/** Records the questions that were found in telemetry. */
import { type FoundQuestion, mergeQuestions, type TelemetryRules } from '../domain/queries/telemetry.js';
import type { RecordResult, Store } from '../storage/ports/store.js';

/**
 * Records each question once, whatever was known of it before. Repeating it after a failure does no harm. `invalid` if a
 * question is from before the rows that the project keeps; other errors are those of the store.
 */
export async function recordQuestions(
  store: Pick<Store, 'record' | 'questions'>,
  projectId: string,
  {
    questions,
    id,
    nowMs,
  }: Pick<TelemetryRules, 'id'> & {
    readonly questions: readonly FoundQuestion[];
    readonly nowMs: number;
  },
): Promise<RecordResult> {
  if (questions.length === 0) return { recorded: 0, duplicates: 0 };
  const keys = questions.map((question) => question.keys);
  const ids = id === 'question' ? await store.questions.identify(projectId, keys, nowMs) : undefined;
  const result = await store.record(projectId, mergeQuestions(questions, ids));
  for (const { noteRecorded } of questions) noteRecorded();
  return result;
}
