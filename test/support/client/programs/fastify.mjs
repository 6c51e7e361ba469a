/** The assistant in Fastify. */
import { createRecorder } from 'caller-stats-client';
import { recordQuestions } from 'caller-stats-client/fastify';
import fastify from 'fastify';
import { answerQuestion, messageId, recorderOptions } from './answers.mjs';

const recorder = createRecorder(recorderOptions(process.env));
const app = fastify();
app.register(recordQuestions({ recorder, id: ({ body }) => messageId(body) }));
app.post('/ask', ({ body }) => answerQuestion(body));
await app.listen({ host: '127.0.0.1', port: 0 });
console.log(`listens on ${app.server.address().port}`);
