/** Generates the OpenAPI document. Loaded with the first request for it, because the library takes a part of each start. */
import swagger from '@fastify/swagger';
import Fastify, { type RouteOptions } from 'fastify';
import type { BasePath } from '../request/base-path.js';
import { SHARED_SCHEMAS } from '../schemas/schemas.js';

/** The version of the API (`/v1` in its paths). Strangers do not learn that of the software. */
const interfaceVersion = '1.0.0';

/** The document of these routes. They are added to an app of its own, because the library reads the routes of an app. */
export async function createDocument(routes: readonly RouteOptions[], basePath: BasePath): Promise<object> {
  const app = Fastify({ exposeHeadRoutes: false });
  // It answers no request.
  app.setValidatorCompiler(() => () => true).setSerializerCompiler(() => () => '');
  for (const schema of SHARED_SCHEMAS) app.addSchema(schema);
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'caller-stats',
        version: interfaceVersion,
        description: 'Counts the queries to the assistant of a documentation project, by their caller.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: basePath || '/', description: 'This server.' }],
      tags: [
        { name: 'Analytics', description: 'Reading counts.' },
        { name: 'Recording', description: 'Recording queries.' },
        { name: 'Corrections', description: 'Correcting what was recorded.' },
        { name: 'Operations', description: 'Running the service.' },
      ],
      components: {
        securitySchemes: {
          adminKey: { type: 'http', scheme: 'bearer', description: 'An admin key: a server-side secret.' },
          recordingKey: {
            type: 'http',
            scheme: 'bearer',
            description: 'A recording key of this one project.',
          },
          readingKey: {
            type: 'http',
            scheme: 'bearer',
            description: 'A key that may only read this one project: a server-side secret.',
          },
        },
      },
    },
    refResolver: {
      buildLocalReference: (schema, _base, _fragment, index) => String(schema['$id'] ?? `schema-${index}`),
    },
  });
  for (const { method, url, schema, links } of routes) {
    // The document names no `HEAD`, which every `GET` has.
    app.route({
      method: [method].flat().filter((one) => one !== 'HEAD'),
      url,
      ...(schema && { schema }),
      ...(links && { links }),
      handler: () => '',
    });
  }
  await app.ready();
  return app.swagger();
}
