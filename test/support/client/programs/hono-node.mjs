/** The assistant in Hono on Node. */
import { serve } from '@hono/node-server';
import { assistant } from './hono-app.mjs';

serve({ fetch: assistant(process.env).fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
  console.log(`listens on ${port}`),
);
