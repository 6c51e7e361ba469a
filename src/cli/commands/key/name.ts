import type { ApiKey } from '../../../domain/keys/api-key.js';

/** A key in one line: `k1 (reporting, cs_admin_abcd…wxyz)`. */
export function nameOf({ id, name, start, end }: ApiKey): string {
  return `${id} (${name}, ${start}…${end})`;
}
