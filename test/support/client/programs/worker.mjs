/** The assistant as a worker of workerd. Workers get their environment with the first request. */
import { assistant } from './fetch-handler.mjs';

let answer;
export default {
  fetch(request, env, context) {
    answer ??= assistant(env);
    return answer(request, env, context);
  },
};
