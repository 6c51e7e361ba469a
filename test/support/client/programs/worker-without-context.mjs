/** The assistant as a route of a framework on workerd that does not pass the context of the platform on. */
import { assistant } from './fetch-handler.mjs';

let answer;
const POST = ({ request, platform }) => {
  answer ??= assistant(platform.env);
  return answer(request);
};

export default { fetch: (request, env) => POST({ request, platform: { env } }) };
