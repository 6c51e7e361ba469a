/**
 * The locale of dates, numbers and relative times. The pages are in English, so it is the English of the reader's first language: of
 * `de`, with dates and 24 hours as in Britain, even if the browser also lists the English of another country.
 */
/** Unit tests load this module without a browser. */
const languages =
  (globalThis as { navigator?: { readonly languages?: readonly string[] } }).navigator?.languages ?? [];

export const pageLocale: string = localeOf(languages);

/**
 * The locale for a reader's languages, with the calendar and the digits of the page, whatever the reader's are. Browsers may name locales
 * that `Intl` refuses, such as `en-US@posix` and `en-GB-GB`.
 */
export function localeOf([first = '']: readonly string[]): string {
  const inPage = { calendar: 'gregory', numberingSystem: 'latn' };
  try {
    const locale = new Intl.Locale(first, inPage);
    if (locale.language === 'en') return locale.toString();
  } catch {
    // Not a language.
  }
  return new Intl.Locale('en-GB', inPage).toString();
}
