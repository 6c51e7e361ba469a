/** Splits a text at white space, for long lists of short strings. */
export const words = (text: string): string[] => text.trim().split(/\s+/);
