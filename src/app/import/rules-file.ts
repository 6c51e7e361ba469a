/** Parses the file of `--caller-rules`. */
import { Ajv } from 'ajv';
import type { CallerRules } from '../../domain/queries/caller-detection.js';
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

/** Checks the file's structure; `callerRulesProblems` checks the rules. */
export function parseRulesFile(value: unknown): Result<CallerRules> {
  const ajv = new Ajv({ allErrors: true });
  if (ajv.validate<CallerRules>(RulesFile, value)) return success(value);
  return failure(
    ...(ajv.errors ?? []).map(({ instancePath, message, params }) => {
      const unknown: unknown = params['additionalProperty'];
      if (unknown !== undefined)
        return `${instancePath.slice(1)}/${unknown} is not known here`.replace(/^\//, '');
      return `${instancePath === '' ? 'it' : instancePath.slice(1)} ${message}`;
    }),
  );
}
