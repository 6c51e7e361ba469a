/** What parsing gives: a value, or every problem found, each a sentence for the person who sent the input. */
export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly string[] };

export function success<T>(value: T): Result<T> {
  return { ok: true, value };
}

export function failure(...problems: string[]): Result<never> {
  return { ok: false, problems };
}

/** Input as it may stand in a message: in quotes, control characters escaped, cut at 40 characters. */
export function quote(input: string): string {
  return JSON.stringify(input.length > 40 ? `${input.slice(0, 40)}…` : input);
}
