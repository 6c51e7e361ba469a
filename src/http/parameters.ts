import type { FastifyRequest } from 'fastify';
import { type DateRange, PARAMETER_NAMES, parseDateRange } from '../domain/date-range.js';
import { CallerStatsError } from '../domain/errors.js';
import { unknownName } from '../domain/nearest.js';

/** Refuses a query string that has any parameter at all. `400`, a message for each. */
export function requireNoParameters(request: FastifyRequest): void {
  refuse(request, unknownParameters(request, []));
}

/** The range that `dateFrom` and `dateTo` say. `400`, with a message for each thing wrong with the query string. */
export function rangeOf(request: FastifyRequest): DateRange {
  const names = Object.values(PARAMETER_NAMES);
  const problems = unknownParameters(request, names);
  const single = (name: string): string | undefined => {
    const value = parametersOf(request)[name];
    if (!Array.isArray(value)) return value;
    problems.push(`${name}: is given ${value.length} times; give it once`);
    return undefined;
  };
  const range = parseDateRange({ from: single(PARAMETER_NAMES.from), to: single(PARAMETER_NAMES.to) });
  if (!range.ok) problems.push(...range.problems);
  refuse(request, problems);
  if (!range.ok) throw new Error('a range with problems was not refused');
  return range.value;
}

function unknownParameters(request: FastifyRequest, known: readonly string[]): string[] {
  return Object.keys(parametersOf(request))
    .filter((name) => !known.includes(name))
    .map((name) => unknownName('parameter', name, known));
}

function parametersOf(request: FastifyRequest): Readonly<Record<string, string | string[]>> {
  return request.query as Record<string, string | string[]>;
}

function refuse(request: FastifyRequest, problems: readonly string[]): void {
  if (problems.length === 0) {
    // The schema can only be stricter than the rules above if the two have drifted apart: then nothing passes.
    if (request.validationError?.validationContext === 'querystring') throw request.validationError;
    return;
  }
  throw new CallerStatsError('invalid', 'The query string has an invalid parameter.', { details: problems });
}
