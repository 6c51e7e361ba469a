/** `/openapi.json`, generated from the schemas of the routes, and a page to try the API. */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { BasePath } from '../request/base-path.js';
import { addResource, refuseOtherMethods } from '../resource.js';

/** The version of the API (`/v1` in its paths), not of the software. */
const interfaceVersion = '1.0.0';

const TRY = '/docs/try';

/** Lets the page load its own files and the icons within them. */
const pagePolicy =
  "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'";

/** Call it before the routes that the document lists. */
export async function addOpenApi(
  app: FastifyInstance,
  softwareVersion: string,
  basePath: BasePath,
): Promise<void> {
  // A variable, because the type of `info` has no extensions.
  const extensions = { 'x-software-version': softwareVersion };
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'caller-stats',
        version: interfaceVersion,
        ...extensions,
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
        },
      },
    },
    refResolver: {
      buildLocalReference: (schema, _base, _fragment, index) => String(schema['$id'] ?? `schema-${index}`),
    },
  });
}

/** Call it after all other routes were added. */
export async function addTryPage(app: FastifyInstance, basePath: BasePath): Promise<void> {
  addResource(app, '/openapi.json', { GET: async () => app.swagger() });
  await app.register(swaggerUi, {
    routePrefix: TRY,
    indexPrefix: basePath,
    staticCSP: true,
    // The plugin's own policy allows other origins, and upgrades http to https.
    transformStaticCSP: () => pagePolicy,
    uiConfig: { layout: 'BaseLayout', validatorUrl: null, displayRequestDuration: true },
    theme: { title: 'caller-stats API' },
  });
  for (const url of [TRY, `${TRY}/*`]) refuseOtherMethods(app, url, ['GET', 'HEAD']);
}
