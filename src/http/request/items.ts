/** The items of a recording request, such as queries or counts. */
import type { FastifyRequest } from 'fastify';
import { CallerStatsError } from '../../domain/errors.js';
import { failure, type Result } from '../../domain/result.js';
import { nextLoopTurn } from '../../shared/fair-share.js';
import { Pauses } from '../../shared/pauses.js';
import { MalformedLine } from './body.js';

/** The items of a body: those of an array, or the only one. */
export function itemsOf({ body }: FastifyRequest): readonly unknown[] {
  return Array.isArray(body) ? body : [body];
}

/** Each takes up to 50 µs, if all of it is wrong. */
const itemsInTurn = 200;

/** The valid items of the body. Throws 400 with a message for each problem, which begins with the index of its item. */
export async function parseItems<T>(
  request: FastifyRequest,
  { many, done }: { readonly many: string; readonly done: string },
  parse: (item: unknown) => Result<T>,
): Promise<T[]> {
  const pauses = new Pauses(itemsInTurn, nextLoopTurn);
  const parsed: T[] = [];
  const problems: string[] = [];
  for (const [index, item] of itemsOf(request).entries()) {
    const one = item instanceof MalformedLine ? failure(item.problem) : parse(item);
    if (one.ok) parsed.push(one.value);
    else problems.push(...one.problems.map((problem) => `${many}[${index}]: ${problem}`));
    const pause = pauses.take();
    if (pause !== undefined) await pause;
  }
  if (problems.length > 0)
    throw new CallerStatsError('invalid', `Nothing was ${done}.`, { details: problems });
  // If the schema is stricter than the rules above, the two contradict each other: refuse the request.
  if (request.validationError) throw request.validationError;
  return parsed;
}
