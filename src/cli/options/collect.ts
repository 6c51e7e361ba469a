/** For options that may be given more than once: all their values, in order. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}
