import { Ajv } from 'ajv';
import Fastify from 'fastify';
import { expect, test, vi } from 'vitest';
import { addCompilers } from '../../../src/http/schemas/compilers.js';
import { SHARED_SCHEMAS } from '../../../src/http/schemas/schemas.js';

test('an answer has only the fields of its schema, whatever the handler returns', async () => {
  const app = Fastify();
  for (const schema of SHARED_SCHEMAS) app.addSchema(schema);
  addCompilers(app);
  const counts = { web: 1, api: 2, other: 3, total: 6 };
  const schema = { response: { 200: { $ref: 'CallerStats#' } } };
  app.get('/', { schema }, async () => ({ ...counts, organizationId: 'default' }));
  expect((await app.inject('/')).json()).toEqual(counts);
  await app.close();
});

test('an app that listens compiles its schemas before requests need them', async () => {
  const compile = vi.spyOn(Ajv.prototype, 'compile');
  const app = Fastify();
  addCompilers(app);
  const querystring = { type: 'object', properties: { compiledEarly: { type: 'string' } } };
  app.get('/', { schema: { querystring } }, async () => ({}));
  await app.listen({ port: 0, host: '127.0.0.1' });
  await vi.waitFor(() => expect(compile).toHaveBeenCalledWith(querystring));
  await app.close();
});
