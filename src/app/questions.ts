/** Records the questions that were found in telemetry. */
import { type FoundQuestion, mergeByService } from '../domain/queries/telemetry.js';
import type { TelemetryRules } from '../domain/queries/telemetry-settings.js';
import type { Store } from '../storage/ports/store.js';
import { type RecordTarget, recordQueries } from './record.js';

/**
 * Records each question once, also if less was known of it before. Returns how many of each service were new. It can be
 * repeated after a failure. `invalid` if a question is from before the rows that the project keeps; other errors are those
 * of the store.
 */
export async function recordQuestions(
  target: RecordTarget & { readonly store: Pick<Store, 'questions'> },
  keyId: string,
  projectId: string,
  {
    questions,
    id,
    nowMs,
  }: Pick<TelemetryRules, 'id'> & {
    readonly questions: readonly FoundQuestion[];
    readonly nowMs: number;
  },
): Promise<Map<string, number>> {
  const recordedBy = new Map<string, number>();
  if (questions.length === 0) return recordedBy;
  const keys = questions.map((question) => question.keys);
  const ids = id === 'question' ? await target.store.questions.identify(projectId, keys, nowMs) : undefined;
  // Several only if a Collector sends for them: the results of each are counted apart.
  for (const [service, queries] of mergeByService(questions, ids)) {
    const sender = { kind: 'telemetry', keyId, service } as const;
    recordedBy.set(service, (await recordQueries(target, sender, projectId, queries)).recorded);
  }
  for (const { noteRecorded } of questions) noteRecorded();
  return recordedBy;
}
