/** The assistant in Deno. */
import process from 'node:process';
import { assistant } from './fetch-handler.mjs';

const onListen = ({ port }) => console.log(`listens on ${port}`);
Deno.serve({ port: 0, hostname: '127.0.0.1', onListen }, assistant(process.env));
