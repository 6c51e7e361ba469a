/** Responses to requests that `first-requests.ts` sent while the code of the app was loading. */
import { basePath } from '../navigation/base-path.js';

/** Later, a response would be out of date. */
const freshMs = 10_000;

/** By path. A response is undefined if the request failed: then the app asks again, and handles the error. */
const responses = new Map<string, Promise<unknown>>();

/** Sends a GET request early. */
export function sendEarly<T>(path: string): Promise<T | undefined> {
  const response = fetch(`${basePath}${path}`, { headers: { accept: 'application/json' } })
    .then((one) => (one.ok ? (one.json() as Promise<T>) : undefined))
    .catch(() => undefined);
  responses.set(path, response);
  return response;
}

/** Adds what another early response contains. */
export function addEarly(path: string, response: Promise<unknown>): void {
  responses.set(path, response);
}

/** Forgets them all: a change makes them out of date. */
export function dropEarly(): void {
  responses.clear();
}

/** The response to a GET request, once; undefined if it was not sent, or failed. */
export async function takeEarly<T>(path: string): Promise<T | undefined> {
  const response = responses.get(path) as Promise<T | undefined> | undefined;
  responses.delete(path);
  return performance.now() < freshMs ? response : undefined;
}
