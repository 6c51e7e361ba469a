/** Helpers that create the JSON Schemas of the OpenAPI document. */

export type Schema = Readonly<Record<string, unknown>>;

type Properties = Readonly<Record<string, Schema>>;

export type ObjectSchema = {
  readonly type: 'object';
  readonly required?: readonly string[];
  readonly properties: Properties;
};

export type NamedSchema = ObjectSchema & { readonly $id: string };

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

export function arraySchema(items: Schema, more: Schema = {}): Schema {
  return { type: 'array', items, ...more };
}
