/** The assistant in Node without a framework. */
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { createRecorder } from 'caller-stats-client';
import { recordQuestions } from 'caller-stats-client/node';
import { answerWith, messageId, recorderOptions } from './answers.mjs';

const recorder = createRecorder(recorderOptions(process.env));

async function answer(request, response) {
  request.body = await json(request);
  try {
    await answerWith(response, request.body);
  } catch {
    if (response.headersSent) response.destroy();
    else response.writeHead(500).end();
  }
}

const server = createServer(recordQuestions(answer, { recorder, id: ({ body }) => messageId(body) }));
server.listen(0, '127.0.0.1', () => console.log(`listens on ${server.address().port}`));
