/** The assistant as a route of SvelteKit. */
import process from 'node:process';
import { assistant } from './fetch-handler.mjs';

const answer = assistant(process.env);

export const POST = ({ request }) => answer(request);
