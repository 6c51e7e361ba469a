import { describe, expect, test } from 'vitest';
import { isZoneName } from '../../../dashboard/src/time/zone.js';
import { words } from '../../support/words.js';

describe('the name of a zone', () => {
  test.each([...words('+02:00 -3 1 ../etc a%20b'), '', ' ', 'Europe/Berlin\n', 'a'.repeat(65)])(
    'is not %j',
    (text) => {
      expect(isZoneName(text)).toBe(false);
    },
  );

  // The server knows which of them exist, also those that are newer than the browser.
  test.each(words('UTC Europe/Berlin America/Argentina/Buenos_Aires Etc/GMT+5 Mars/Olympus'))(
    'is %s',
    (text) => {
      expect(isZoneName(text)).toBe(true);
    },
  );
});
