/** The assistant in Hono on workerd. */
import { assistant } from './hono-app.mjs';

let app;
export default {
  fetch(request, env, context) {
    app ??= assistant(env);
    return app.fetch(request, env, context);
  },
};
