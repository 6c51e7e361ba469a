/**
 * The locale of dates, numbers and relative times. The pages are in English, so it is the reader's variant of English; readers
 * of other languages get British English, whose clock has 24 hours.
 */
/** Unit tests load this module without a browser. */
const languages =
  (globalThis as { navigator?: { readonly languages?: readonly string[] } }).navigator?.languages ?? [];

/** Browsers may name locales that `Intl` refuses, such as `en-US@posix`. */
const english = /^en(-[A-Za-z0-9]{2,8})*$/;

export const pageLocale: string = languages.find((one) => english.test(one)) ?? 'en-GB';
