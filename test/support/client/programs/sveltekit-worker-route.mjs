/** The assistant as a route of SvelteKit on workerd. Workers get their environment with the first request. */
import { assistant } from './fetch-handler.mjs';

let answer;
export const POST = ({ request, platform }) => {
  answer ??= assistant(platform.env);
  return answer(request, platform.ctx);
};
