/** How long things may be. The server has the last word; a test holds these to its own. */

export const nameCharactersMax = 100;
export const passwordCharactersMin = 12;
export const passwordCharactersMax = 128;
export const projectIdCharactersMax = 64;
export const retentionDaysMax = 36_500;
export const keyLifeDaysMax = 3_650;
