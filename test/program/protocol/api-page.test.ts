/** The API page of the docs. After a change of the OpenAPI document, run this file with `vitest -u`. */
import { expect, test } from 'vitest';
import { type ApiDocument, apiPage } from '../../../scripts/pages/api.js';
import { startService } from '../../support/http/http.js';

test('the API page of the docs matches the OpenAPI document', async () => {
  const { openApi } = await startService();
  const document = openApi.document as ApiDocument;
  const made = apiPage(document);
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const method of Object.keys(operations))
      expect(made).toContain(`\`${method.toUpperCase()} ${path}\``);
  }
  await expect(made).toMatchFileSnapshot('../../../docs/reference/api.md');
});
