/** The page of the API is that of the OpenAPI document. After a change of it, `vitest -u` with this file writes it. */
import { expect, test } from 'vitest';
import { type ApiDocument, apiPage } from '../../scripts/pages/api.js';
import { startService } from '../support/http.js';

test('the page of the API is made of the document that the service makes', async () => {
  const { openApi } = await startService();
  const document = openApi.document as ApiDocument;
  const made = apiPage(document);
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const method of Object.keys(operations))
      expect(made).toContain(`\`${method.toUpperCase()} ${path}\``);
  }
  await expect(made).toMatchFileSnapshot('../../docs/api.md');
});
