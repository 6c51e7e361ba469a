/** A recorder with a test platform that collects what it sends and reports. */

import type { QueuedQuery } from '../../../clients/javascript/src/query.js';
import { createRecorder } from '../../../clients/javascript/src/recorder.js';
import type { DropReason, RecorderOptions } from '../../../clients/javascript/src/recorder-options.js';
import type { RequestError } from '../../../src/shared/api-client.js';
import { answer, TestPlatform } from './client-platform.js';

export const required = { url: 'http://stats.test', projectId: 'docs', key: 'key' };

/** A recorder that gets these responses in turn. The last one is repeated. */
export function recorderWith(
  answers: readonly ((init: RequestInit) => Response | Promise<Response>)[],
  options: Partial<RecorderOptions> = {},
) {
  const sent: { readonly ids: readonly string[]; readonly init: RequestInit; readonly url: string }[] = [];
  const dropped: { readonly ids: readonly string[]; readonly reason: DropReason }[] = [];
  const errors: (RequestError | Error)[] = [];
  const platform = new TestPlatform(async (url, init) => {
    const queries = JSON.parse(String(init.body)) as QueuedQuery[];
    sent.push({ ids: queries.map(({ id }) => id), init, url });
    const next = answers[Math.min(sent.length, answers.length) - 1];
    if (next === undefined) throw new Error('nothing answers');
    return next(init);
  });
  const recorder = createRecorder({
    ...required,
    platform,
    onDrop: (queries, reason) => dropped.push({ ids: queries.map((query) => query?.id), reason }),
    onError: (error) => errors.push(error),
    ...options,
  });
  return { recorder, platform, sent, dropped, errors };
}

/** The response if all queries were recorded. */
export const ok = ({ body }: RequestInit): Response =>
  answer(200, { recorded: (JSON.parse(String(body)) as unknown[]).length, duplicates: 0 });
export const status =
  (code: number, headers: Record<string, string> = {}) =>
  (): Response =>
    answer(code, { error: 'No.' }, headers);
