/** Schemas of OTLP requests and responses, with the names of opentelemetry-proto. */
import { arraySchema, objectSchema, stringSchema } from '../schemas/json-schema.js';
import { LOGS, METRICS, type Signal, TRACES } from './signals.js';

const ON_DISK = 'All recorded queries are on disk.';
const DROPPED = 'The metrics were received and dropped.';

export const OTLP_SCHEMAS = [
  answerTo(TRACES),
  answerTo(LOGS),
  { $id: METRICS.answer, description: DROPPED, ...objectSchema({}) },
] as const;

function answerTo({ answer, rejected, records }: Signal) {
  const partialSuccess = {
    description: 'Only if records were rejected. Sending them again would not help.',
    ...objectSchema({
      [rejected]: stringSchema(`The number of ${records} that are queries but were not recorded.`, {
        pattern: '^[1-9]\\d*$',
      }),
      errorMessage: stringSchema('The problems of the first few of them.'),
    }),
  };
  return { $id: answer, description: ON_DISK, ...objectSchema({}, { partialSuccess }) };
}

/** Allows any value, because no schema can describe protobuf. */
const binary = { description: 'The same message in protobuf.' };

/** A request. Of its JSON only the part that is read. */
export function otlpRequestBody(list: string) {
  return {
    content: {
      'application/x-protobuf': { schema: binary },
      'application/json': {
        schema: {
          description: 'The message defined by the OpenTelemetry protocol. Unknown fields are ignored.',
          ...objectSchema({}, { [list]: arraySchema(objectSchema({})) }),
        },
      },
    },
  };
}

/** A response, in the encoding of its request. */
export function otlpResponse($id: string) {
  return {
    description: $id === METRICS.answer ? DROPPED : ON_DISK,
    content: {
      'application/json': { schema: { $ref: $id } },
      'application/x-protobuf': { schema: binary },
    },
  };
}

/** Errors, in the encoding of the request. */
export function otlpErrors(errors: { readonly [status: string]: { readonly content: object } }) {
  const inProtobuf = {
    'application/x-protobuf': { schema: { description: 'A `google.rpc.Status` with the message.' } },
  };
  return Object.fromEntries(
    Object.entries(errors).map(([status, { content, ...response }]) => [
      status,
      { ...response, content: { ...content, ...inProtobuf } },
    ]),
  );
}
