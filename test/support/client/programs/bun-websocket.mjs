/** An assistant in Bun that also answers over WebSocket: its handler returns nothing for those. */
import process from 'node:process';
import { createRecorder } from 'caller-stats-client';
import { recordQuestions } from 'caller-stats-client/fetch';
import { recorderOptions } from './answers.mjs';

const recorder = createRecorder(recorderOptions(process.env));
const answer = (request, bun) => (bun.upgrade(request) ? undefined : Response.json({ answer: 'Because.' }));
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: recordQuestions(answer, { recorder }),
  websocket: { message() {} },
});
console.log(`listens on ${server.port}`);
