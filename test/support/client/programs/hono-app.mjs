/** The assistant in Hono, without a server. Its handler reads the body past Hono, as SDKs do. */
import { createRecorder } from 'caller-stats-client';
import { recordQuestions } from 'caller-stats-client/hono';
import { Hono } from 'hono';
import { answerRequest, messageId, recorderOptions } from './answers.mjs';

/** The app, for the environment that has the server's URL and key. */
export function assistant(env) {
  const recorder = createRecorder(recorderOptions(env));
  const app = new Hono();
  const id = async (context) => messageId(await context.req.json());
  app.post('/ask', recordQuestions({ recorder, id }), ({ req }) => answerRequest(req.raw));
  return app;
}
