/** The result of parsing: a value, or every problem found. Each problem is a sentence for the person who sent the input. */
export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly string[] };

export function success<T>(value: T): Result<T> {
  return { ok: true, value };
}

export function failure(...problems: string[]): Result<never> {
  return { ok: false, problems };
}

/** Returns a parser that accepts only these values. */
export function oneOf<const T extends string>(values: readonly T[]): (value: unknown) => Result<T> {
  return (value) => {
    const known = values.find((one) => one === value);
    return known === undefined ? failure(`is not one of ${values.join(', ')}`) : success(known);
  };
}

/** Puts the name of a field before each problem: `dateFrom: is empty`. */
export function prefixProblems<T>(field: string, result: Result<T>): Result<T> {
  return result.ok ? result : failure(...result.problems.map((problem) => `${field}: ${problem}`));
}

/** The problems of several results, in order. */
export function collectProblems(...results: readonly Result<unknown>[]): string[] {
  return results.flatMap((one) => (one.ok ? [] : one.problems));
}

/** Input for use in a message: quoted, with control characters escaped, cut at 40 characters. */
export function quote(input: string): string {
  return JSON.stringify(input.length > 40 ? `${input.slice(0, 40)}…` : input);
}
