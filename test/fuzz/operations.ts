/** What the service's own OpenAPI document says there is to ask for. */
import { at, entriesOf, type OpenApi } from '../support/openapi.js';

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
  /** Media types of its body, of which it takes one; none where it takes no body. */
  readonly mediaTypes: readonly string[];
  /** The types of keys that open it; none where it needs none. */
  readonly keys: readonly string[];
}

/** All operations of the document. */
export function operationsOf({ document }: OpenApi): Operation[] {
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
