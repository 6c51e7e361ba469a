/** A program that serves the Next.js app of its folder. In one process, so that killing it ends everything. */
export const NEXT_SERVER = `
import { createServer } from 'node:http';
import next from 'next';

const app = next({ dev: true, dir: import.meta.dirname, hostname: '127.0.0.1' });
await app.prepare();
const http = createServer(app.getRequestHandler());
http.listen(0, '127.0.0.1', () => console.log('listens on ' + http.address().port));
`;
