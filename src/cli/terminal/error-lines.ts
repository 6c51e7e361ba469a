import type { CallerStatsError } from '../../domain/errors.js';

/**
 * An error for the person, or program, that meets it: its message with what lies behind it, unless it says that itself, then
 * a line for each detail.
 */
export function errorLines(error: CallerStatsError): string[] {
  return [
    `${error.message}${inBrackets(causeOf(error), error.message)}`,
    ...error.details.map((detail) => `  ${detail}`),
  ];
}

/** What lies behind an error, in its own words. Node's error of several failed addresses has none. */
function causeOf({ cause }: CallerStatsError): string {
  if (!(cause instanceof Error)) return '';
  return cause instanceof AggregateError ? cause.errors.map(String).join('; ') : cause.message;
}

function inBrackets(text: string, said: string): string {
  return said.includes(text) ? '' : ` (${text})`;
}
