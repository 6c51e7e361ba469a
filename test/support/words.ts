/** Splits a text at white space: a compact way to write a long list of short strings. */
export const words = (text: string): string[] => text.trim().split(/\s+/);
