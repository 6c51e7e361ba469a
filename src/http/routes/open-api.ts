/** `/openapi.json`, generated from the schemas of the routes. */
import type { FastifyInstance, RouteOptions } from 'fastify';
import { later } from '../../shared/later.js';
import type { BasePath } from '../request/base-path.js';
import { addResource } from '../server/resource.js';

const loadDocument = later(() => import('./open-api-document.js'));

/** Call it before the routes that the document lists. */
export function addOpenApi(app: FastifyInstance, basePath: BasePath): void {
  const documented: RouteOptions[] = [];
  app.addHook('onRoute', (route) => {
    if (route.schema !== undefined && route.schema.hide !== true) documented.push(route);
  });
  let document: Promise<Buffer> | undefined;
  const create = async (): Promise<Buffer> => {
    const { createDocument } = await loadDocument();
    return Buffer.from(JSON.stringify(await createDocument(documented, basePath)));
  };
  addResource(app, '/openapi.json', {
    GET: async (_request, reply) => {
      document ??= create();
      return reply.type('application/json; charset=utf-8').send(await document);
    },
  });
}
