/** Short words for the JSON Schemas of the OpenAPI document: what is written here is exactly what stands in it. */

/** A schema, or what is known of one. Plain data. */
export type Schema = Readonly<Record<string, unknown>>;

type Properties = Readonly<Record<string, Schema>>;

/** A schema of an object. */
export type ObjectSchema = {
  readonly type: 'object';
  readonly required?: readonly string[];
  readonly properties: Properties;
};

/** The same with a name that others refer to it by. */
export type NamedSchema = ObjectSchema & { readonly $id: string };

/** An object that must have the properties of `required` and may have those of `optional`. */
export function objectSchema(required: Properties, optional: Properties = {}): ObjectSchema {
  const names = Object.keys(required);
  return {
    type: 'object',
    ...(names.length === 0 ? {} : { required: names }),
    properties: { ...required, ...optional },
  };
}

/** The same, and nothing else. */
export function strictObjectSchema(required: Properties, optional?: Properties) {
  return { ...objectSchema(required, optional), additionalProperties: false } as const;
}

export function stringSchema(description?: string, more: Schema = {}): Schema {
  return { type: 'string', ...(description === undefined ? {} : { description }), ...more };
}

export function arraySchema(items: Schema, more: Schema = {}): Schema {
  return { type: 'array', items, ...more };
}

/** One of these texts. */
export function enumSchema(values: readonly string[], more: Schema = {}): Schema {
  return { enum: values, ...more };
}

/** The schema with this `$id`. */
export function refTo($id: string): Schema {
  return { $ref: $id };
}
