/** Schemas of the answers to OTLP requests, by the names of opentelemetry-proto. */
import { arraySchema, objectSchema, refTo, stringSchema } from '../schemas/json-schema.js';
import { LOGS, type Signal, TRACES } from './signals.js';

/** The name of the answer to metrics. */
export const METRICS_ANSWER = 'ExportMetricsServiceResponse';

export const OTLP_SCHEMAS = [
  answerTo(TRACES),
  answerTo(LOGS),
  { $id: METRICS_ANSWER, description: 'Metrics were received, and dropped.', ...objectSchema({}) },
] as const;

function answerTo({ answer, rejected, records }: Signal) {
  const partialSuccess = {
    description: 'Only where something was rejected. Sending it again would not help.',
    ...objectSchema({
      [rejected]: stringSchema(`How many ${records} are queries, but were not recorded.`, {
        pattern: '^[1-9]\\d*$',
      }),
      errorMessage: stringSchema('What is wrong with the first few of them.'),
    }),
  };
  return {
    $id: answer,
    description: 'What is recorded is on disk.',
    ...objectSchema({}, { partialSuccess }),
  };
}

/** Any value at all: no schema can describe protobuf. */
const binary = { description: 'The same message in binary.' };

/** A request: its JSON as far as it is read, or protobuf. */
export function otlpRequestBody(list: string) {
  return {
    content: {
      'application/x-protobuf': { schema: binary },
      'application/json': {
        schema: {
          description: 'The message that the OpenTelemetry protocol defines; unknown fields are ignored.',
          ...objectSchema({}, { [list]: arraySchema(objectSchema({})) }),
        },
      },
    },
  };
}

/** An answer, in the encoding of its request. */
export function otlpResponse($id: string) {
  return {
    description: 'What is recorded is on disk.',
    content: {
      'application/json': { schema: refTo($id) },
      'application/x-protobuf': { schema: binary },
    },
  };
}
