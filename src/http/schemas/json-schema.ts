/** Helpers that create the JSON Schemas of the OpenAPI document. */

export type Schema = Readonly<Record<string, unknown>>;

type Properties = Readonly<Record<string, Schema>>;

export type ObjectSchema = {
  readonly type: 'object';
  readonly required?: readonly string[];
  readonly properties: Properties;
};

export type NamedSchema = Schema & { readonly $id: string };

export function objectSchema(required: Properties, optional: Properties = {}): ObjectSchema {
  const names = Object.keys(required);
  return {
    type: 'object',
    ...(names.length === 0 ? {} : { required: names }),
    properties: { ...required, ...optional },
  };
}

/** Allows no other properties. */
export function strictObjectSchema(required: Properties, optional?: Properties) {
  return { ...objectSchema(required, optional), additionalProperties: false } as const;
}

export function stringSchema(description?: string, more: Schema = {}): Schema {
  return { type: 'string', ...(description === undefined ? {} : { description }), ...more };
}

/** One of these strings. Generators of Go read a list without a type as no type at all. */
export function enumSchema(values: readonly string[], description: string, more: Schema = {}): Schema {
  return { type: 'string', enum: values, description, ...more };
}

export function arraySchema(items: Schema, more: Schema = {}): Schema {
  return { type: 'array', items, ...more };
}
