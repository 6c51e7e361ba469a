/** Compiles schemas to validators and serializers: on first use, so that the server starts fast, and once for all apps. */
import { Ajv, type ValidateFunction } from 'ajv';
import fastJsonStringify from 'fast-json-stringify';
import type { FastifyInstance } from 'fastify';
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
  app.setValidatorCompiler(({ schema }) => {
    const validator = getValidator(schema as object);
    return (data: unknown) => validator()(data) || { error: new Error('does not match the schema') };
  });
  app.setSerializerCompiler(({ schema }) => {
    const serializer = getSerializer(schema as object);
    return (value: unknown) => serializer()(value);
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
