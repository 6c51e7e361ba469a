/** The assistant in Express. */
import { createRecorder } from 'caller-stats-client';
import { recordQuestions } from 'caller-stats-client/express';
import express from 'express';
import { answerWith, messageId, recorderOptions } from './answers.mjs';

const recorder = createRecorder(recorderOptions(process.env));
const app = express();
app.use(express.json());
app.post('/ask', recordQuestions({ recorder, id: ({ body }) => messageId(body) }), ({ body }, response) =>
  answerWith(response, body),
);
const server = app.listen(0, '127.0.0.1', () => console.log(`listens on ${server.address().port}`));
