/**
 * Turns schemas into what checks and writes JSON: each on its first use, so that nothing waits for it at the start, and
 * once for all apps that are built.
 */
import { Ajv, type ValidateFunction } from 'ajv';
import fastJsonStringify from 'fast-json-stringify';
import type { FastifyInstance } from 'fastify';
import { SCHEMAS_BY_NAME, SHARED_SCHEMAS } from './schemas.js';

type MutableSchema = Parameters<typeof fastJsonStringify>[0];

type Serialize = (value: unknown) => string;

const ajv = new Ajv({ schemas: [...SHARED_SCHEMAS], validateSchema: false });

const getValidator = compiledOnce((schema): ValidateFunction => ajv.compile(schema));

// The library's own type of schemas is of what may be written to; it copies what it is given.
const getSerializer = compiledOnce(
  (schema): Serialize =>
    fastJsonStringify(schema as MutableSchema, {
      schema: SCHEMAS_BY_NAME as Readonly<Record<string, unknown>> as Record<string, MutableSchema>,
    }),
);

/** Lets the app check and serialize with them. What does not pass is told by the domain, in words of its own. */
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

/** The same schema, by what is written in it, is compiled once, when it is first asked for. */
function compiledOnce<Compiled>(compile: (schema: object) => Compiled): (schema: object) => () => Compiled {
  const compiled = new Map<string, Compiled>();
  return (schema) => {
    const text = JSON.stringify(schema);
    let own: Compiled | undefined;
    return () => {
      own ??= compiled.get(text);
      if (own === undefined) {
        own = compile(schema);
        compiled.set(text, own);
      }
      return own;
    };
  };
}
