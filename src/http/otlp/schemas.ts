/** Schemas of the answers to OTLP requests, by the names of opentelemetry-proto. */
import { Type } from 'typebox';
import { LOGS, type Signal, TRACES } from './signals.js';

/** The name of the answer to metrics. */
export const METRICS_ANSWER = 'ExportMetricsServiceResponse';

export const OTLP_SCHEMAS = [
  answerTo(TRACES),
  answerTo(LOGS),
  Type.Object({}, { $id: METRICS_ANSWER, description: 'Metrics were received, and dropped.' }),
] as const;

function answerTo({ answer, rejected, records }: Signal) {
  const partialSuccess = Type.Object(
    {
      [rejected]: Type.String({
        pattern: '^[1-9]\\d*$',
        description: `How many ${records} are queries, but were not recorded.`,
      }),
      errorMessage: Type.String({ description: 'What is wrong with the first few of them.' }),
    },
    { description: 'Only where something was rejected. Sending it again would not help.' },
  );
  return Type.Object(
    { partialSuccess: Type.Optional(partialSuccess) },
    { $id: answer, description: 'What is recorded is on disk.' },
  );
}

/** A request: its JSON as far as it is read, and protobuf, which no JSON schema can describe. */
export function requestOf(list: string) {
  return {
    content: {
      'application/x-protobuf': { schema: Type.Any({ description: 'The same message in binary.' }) },
      'application/json': {
        schema: Type.Object(
          { [list]: Type.Optional(Type.Array(Type.Object({}))) },
          { description: 'The message that the OpenTelemetry protocol defines; unknown fields are ignored.' },
        ),
      },
    },
  };
}

/** An answer, in the encoding of its request. */
export function otlpAnswerOf($id: string) {
  return {
    description: 'What is recorded is on disk.',
    content: {
      'application/json': { schema: Type.Ref($id) },
      'application/x-protobuf': { schema: Type.Any({ description: 'The same message in binary.' }) },
    },
  };
}
