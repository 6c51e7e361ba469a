/** Responses to requests that `public/theme.js` sent while the code of the app was loading. */

/** Later, a response would be out of date. */
const freshMs = 10_000;

/** The response to a GET request, once; undefined if it was not sent. */
export function takeEarly(path: string): Promise<Response> | undefined {
  const { callerStatsEarly } = globalThis as { callerStatsEarly?: Map<string, Promise<Response>> };
  const found = callerStatsEarly?.get(path);
  callerStatsEarly?.delete(path);
  return performance.now() < freshMs ? found : undefined;
}
