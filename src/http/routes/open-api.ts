/** `/openapi.json`, generated from the schemas of the routes. */
import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import type { BasePath } from '../request/base-path.js';
import { addResource } from '../resource.js';

/** The version of the API (`/v1` in its paths). Strangers do not learn that of the software. */
const interfaceVersion = '1.0.0';

/** Call it before the routes that the document lists. */
export async function addOpenApi(app: FastifyInstance, basePath: BasePath): Promise<void> {
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
        { name: 'Keys', description: 'Reporting leaked keys.' },
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
  addResource(app, '/openapi.json', { GET: async () => app.swagger() });
}
