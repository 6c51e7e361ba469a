/** What a browser is called, from what it sends: enough to know one's own again. */

/** The first that fits: most browsers also name those they are like. */
const BROWSERS = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bChrome\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const;

const SYSTEMS = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Macintosh|Mac OS X/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux|X11/, 'Linux'],
] as const;

/** `Firefox on Linux`; what nobody knows is shown as it is, cut short. */
export function browserName(userAgent: string | null): string {
  if (userAgent === null || userAgent === '') return 'Unknown browser';
  const browser = BROWSERS.find(([pattern]) => pattern.test(userAgent))?.[1];
  const system = SYSTEMS.find(([pattern]) => pattern.test(userAgent))?.[1];
  if (browser === undefined) return userAgent.length > 60 ? `${userAgent.slice(0, 60)}…` : userAgent;
  return system === undefined ? browser : `${browser} on ${system}`;
}
