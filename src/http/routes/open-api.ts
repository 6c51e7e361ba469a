/** `/openapi.json`, made from the schemas that the routes validate and serialize with, and a page where it can be tried. */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { BasePath } from '../request/base-path.js';
import { addResource, refuseOtherMethods } from '../resource.js';

/** The version of the interface, which stands in the path as `/v1` (contract, part 1). Not the software's. */
const interfaceVersion = '1.0.0';

/** The page, among the documentation. */
const TRY = '/docs/try';

/** What it may load: its own files and the icons within them. */
const pagePolicy =
  "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'";

/** Must be called before the routes that the document is to have. `softwareVersion` is this program's. */
export async function addOpenApi(
  app: FastifyInstance,
  softwareVersion: string,
  basePath: BasePath,
): Promise<void> {
  // Not part of OpenAPI, so it is one of its extensions.
  const extensions = { 'x-software-version': softwareVersion };
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'caller-stats',
        version: interfaceVersion,
        ...extensions,
        description:
          'Counts the queries that the assistant of a documentation project got, by who sent them.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: basePath || '/', description: 'This server.' }],
      tags: [
        { name: 'Analytics', description: 'Reading counts.' },
        { name: 'Recording', description: 'Recording queries.' },
        { name: 'Keys', description: 'Keys that leaked.' },
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
        },
      },
    },
    refResolver: {
      buildLocalReference: (schema, _base, _fragment, index) => String(schema['$id'] ?? `schema-${index}`),
    },
  });
}

/** Must be called after all other routes. */
export async function addTryPage(app: FastifyInstance, basePath: BasePath): Promise<void> {
  addResource(app, '/openapi.json', { GET: async () => app.swagger() });
  await app.register(swaggerUi, {
    routePrefix: TRY,
    indexPrefix: basePath,
    staticCSP: true,
    // The plugin's own would also load from elsewhere, and turn http into https on a machine that has none.
    transformStaticCSP: () => pagePolicy,
    uiConfig: { layout: 'BaseLayout', validatorUrl: null, displayRequestDuration: true },
    theme: { title: 'caller-stats API' },
  });
  for (const url of [TRY, `${TRY}/*`]) refuseOtherMethods(app, url, ['GET', 'HEAD']);
}
