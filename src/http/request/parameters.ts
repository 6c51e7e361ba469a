import type { FastifyRequest } from 'fastify';
import { CallerStatsError } from '../../domain/errors.js';
import type { Result } from '../../domain/result.js';
import { unknownNameMessages } from '../../domain/suggest.js';

/** Throws for any query parameter, with a message for each. */
export function requireNoParameters(request: FastifyRequest): void {
  refuse(request, unknownParameters(request, []));
}

/** Parses the query parameters in `names` with `parse`. Throws with a message for each problem. */
export function readParameters<Field extends string, T>(
  request: FastifyRequest,
  names: Readonly<Record<Field, string>>,
  parse: (parameters: { readonly [Name in Field]?: string | undefined }) => Result<T>,
): T {
  const problems = unknownParameters(request, Object.values(names));
  const single = (name: string): string | undefined => {
    const value = getQuery(request)[name];
    if (!Array.isArray(value)) return value;
    problems.push(`${name}: is given ${value.length} times; give it once`);
    return undefined;
  };
  const fields: { [Name in Field]?: string | undefined } = {};
  for (const field in names) fields[field] = single(names[field]);
  const result = parse(fields);
  if (!result.ok) problems.push(...result.problems);
  refuse(request, problems);
  if (!result.ok) throw new Error('parameters with problems were not refused');
  return result.value;
}

function unknownParameters(request: FastifyRequest, known: readonly string[]): string[] {
  return unknownNameMessages('parameter', Object.keys(getQuery(request)), known);
}

function getQuery(request: FastifyRequest): Readonly<Record<string, string | string[]>> {
  return request.query as Record<string, string | string[]>;
}

function refuse(request: FastifyRequest, problems: readonly string[]): void {
  if (problems.length === 0) {
    // If the schema is stricter than the rules above, the two contradict each other: refuse the request.
    if (request.validationError?.validationContext === 'querystring') throw request.validationError;
    return;
  }
  throw new CallerStatsError('invalid', 'The query string is invalid.', { details: problems });
}
