/**
 * Compiles schemas to validators and serializers, once for all apps: as soon as the app listens, one in each turn of the event loop, or
 * when the first request needs them. So the server starts fast.
 */
import { Ajv, type ValidateFunction } from 'ajv';
import fastJsonStringify from 'fast-json-stringify';
import type { FastifyInstance } from 'fastify';
import { nextTurn } from '../../shared/pauses.js';
import { SHARED_SCHEMAS } from './schemas.js';

/** The library types schemas as mutable, but copies them. */
type MutableSchema = Parameters<typeof fastJsonStringify>[0];

let ajv: Ajv | undefined;

const getValidator = compiledOnce((schema): ValidateFunction => {
  ajv ??= new Ajv({ schemas: [...SHARED_SCHEMAS], validateSchema: false });
  return ajv.compile(schema);
});

const schemasByName = Object.fromEntries(
  SHARED_SCHEMAS.map((schema) => [schema.$id, schema as object as MutableSchema]),
);

const getSerializer = compiledOnce((schema) =>
  fastJsonStringify(schema as MutableSchema, { schema: schemasByName }),
);

/** Validation errors have no useful message, because the domain creates its own. */
export function addCompilers(app: FastifyInstance): void {
  const compiles: (() => unknown)[] = [];
  app.setValidatorCompiler(({ schema }) => {
    const validator = getValidator(schema as object);
    compiles.push(validator);
    return (data: unknown) => validator()(data) || { error: new Error('does not match the schema') };
  });
  app.setSerializerCompiler(({ schema }) => {
    const serializer = getSerializer(schema as object);
    compiles.push(serializer);
    return (value: unknown) => serializer()(value);
  });
  app.addHook('onListen', async () => {
    for (const compile of compiles) {
      await nextTurn();
      if (!app.server.listening) return;
      compile();
    }
  });
}

/** Compiles on the first use of the result. Schemas with equal content are compiled once. */
function compiledOnce<Compiled>(compile: (schema: object) => Compiled): (schema: object) => () => Compiled {
  const compiled = new Map<string, Compiled>();
  return (schema) => {
    let own: Compiled | undefined;
    return () => {
      if (own === undefined) {
        const text = JSON.stringify(schema);
        own = compiled.get(text) ?? compile(schema);
        compiled.set(text, own);
      }
      return own;
    };
  };
}
