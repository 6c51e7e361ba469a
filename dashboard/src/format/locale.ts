/**
 * The locale of dates, numbers and relative times. The pages are in English, so it is the English of the reader's first language: of
 * `de`, with dates and 24 hours as in Britain, even if the browser also lists the English of another country.
 */
/** Unit tests load this module without a browser. */
const languages =
  (globalThis as { navigator?: { readonly languages?: readonly string[] } }).navigator?.languages ?? [];

export const pageLocale: string = localeOf(languages);

/** The locale for a reader's languages. Browsers may name locales that `Intl` refuses, such as `en-US@posix`. */
export function localeOf([first = '']: readonly string[]): string {
  return /^en(-[A-Za-z0-9]{2,8})*$/.test(first) ? first : 'en-GB';
}
