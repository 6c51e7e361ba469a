/** The operations in the OpenAPI document of the service. */
import { at, entriesOf, type OpenApi } from '../support/http/openapi.js';

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: unknown;
}

export interface Operation {
  readonly method: string;
  /** As `/v1/analytics/{projectId}/…`. */
  readonly template: string;
  readonly parameters: readonly Parameter[];
  /** The media types of its body; none if it has no body. */
  readonly mediaTypes: readonly string[];
  /** The types of keys that it accepts; none if it needs no key. */
  readonly keys: readonly string[];
}

export function listOperations({ document }: OpenApi): Operation[] {
  return entriesOf(at(document, 'paths')).flatMap(([template, methods]) =>
    entriesOf(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      template,
      parameters: (at(operation, 'parameters') ?? []) as Parameter[],
      mediaTypes: entriesOf(at(operation, 'requestBody', 'content')).map(([type]) => type),
      keys: ((at(operation, 'security') ?? []) as object[]).flatMap((one) => Object.keys(one)),
    })),
  );
}
