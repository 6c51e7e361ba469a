/** Durations in milliseconds. */
export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const quarterHourMs = 15 * minuteMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** The Gregorian calendar repeats after 400 years of 146,097 days, which are whole weeks. */
export const eraMs = 146_097 * dayMs;
