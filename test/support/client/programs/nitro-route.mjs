/** The assistant as a route of Nitro. */
import process from 'node:process';
import { defineHandler } from 'nitro/h3';
import { assistant } from './fetch-handler.mjs';

const answer = assistant(process.env);

export default defineHandler(({ req }) => answer(req));
