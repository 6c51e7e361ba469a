/** Serves a built Next.js app in one process, so that killing it ends everything. */
import { createServer } from 'node:http';
import process from 'node:process';
import next from 'next';

const app = next({ dev: false, dir: process.cwd(), hostname: '127.0.0.1' });
await app.prepare();
const server = createServer(app.getRequestHandler());
server.listen(0, '127.0.0.1', () => console.log(`listens on ${server.address().port}`));
