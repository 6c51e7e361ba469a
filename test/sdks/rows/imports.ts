/** Exports of other systems, imported twice: they have page views as well, and questions without an id. */
import { placeWithProject, recordedIn } from '../../support/cli/cli-place.js';
import { EXPORTS, importExport } from '../../support/cli/exports.js';
import type { Row } from './row.js';

export const importRows: readonly Row[] = EXPORTS.map((exported) => ({
  setup: `import of the export of ${exported.what}, twice`,
  correct: 3,
  count: async () => {
    const place = await placeWithProject();
    for (const _ of [1, 2]) await importExport(place, exported);
    return recordedIn(place);
  },
}));
