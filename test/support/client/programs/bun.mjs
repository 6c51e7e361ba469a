/** The assistant in Bun. */
import process from 'node:process';
import { assistant } from './fetch-handler.mjs';

const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: assistant(process.env) });
console.log(`listens on ${server.port}`);
