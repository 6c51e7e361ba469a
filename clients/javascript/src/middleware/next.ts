/** A wrapper for route handlers of Next.js; pass `after` of `next/server`. */
export { type HandlerOptions, recordQuestions } from './fetch.js';
