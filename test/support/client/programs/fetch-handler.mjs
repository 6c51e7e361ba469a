/** The assistant as a function from `Request` to `Response`, for the platforms that serve one. */
import { createRecorder } from 'caller-stats-client';
import { recordQuestions } from 'caller-stats-client/fetch';
import { answerRequest, recorderOptions, requestOptions } from './answers.mjs';

/** The function, for the environment that has the server's URL and key. */
export function assistant(env) {
  return recordQuestions(answerRequest, {
    recorder: createRecorder(recorderOptions(env)),
    ...requestOptions,
  });
}
