/** Parses the file of `--caller-rules`. */
import { Ajv } from 'ajv';
import { type CallerRules, callerRulesProblems } from '../../domain/queries/caller-detection.js';
import { parseJson } from '../../domain/queries/lines.js';
import { failure, type Result, success } from '../../domain/result.js';

const text = { type: 'string' };
const texts = { type: 'array', items: text };

const RulesFile = {
  type: 'object',
  additionalProperties: false,
  properties: {
    callerHeader: text,
    siteOrigins: texts,
    known: {
      type: 'array',
      items: {
        type: 'object',
        required: ['caller'],
        additionalProperties: false,
        properties: { caller: text, userAgent: text, header: text, value: text },
      },
    },
    apiHeaders: texts,
    fallback: text,
  },
};

/** Parses the JSON file, and checks its structure and its rules. */
export function parseRulesFile(bytes: Uint8Array): Result<CallerRules> {
  const json = parseJson(bytes);
  if (!json.ok) return json;
  const ajv = new Ajv({ allErrors: true });
  if (ajv.validate<CallerRules>(RulesFile, json.value)) {
    const problems = callerRulesProblems(json.value);
    return problems.length === 0 ? success(json.value) : failure(...problems);
  }
  return failure(
    ...(ajv.errors ?? []).map(({ instancePath, message, params }) => {
      const path = instancePath.slice(1);
      const unknown: unknown = params['additionalProperty'];
      if (unknown !== undefined) return `${path}/${unknown} is not known here`.replace(/^\//, '');
      return `${path === '' ? 'it' : path} ${message}`;
    }),
  );
}
