/** The shape of a file with rules that name callers. */
import { Ajv } from 'ajv';
import type { CallerRules } from '../../domain/queries/caller-detection.js';
import { failure, type Result, success } from '../../domain/result.js';
import { arraySchema, strictObjectSchema, stringSchema } from '../../http/schemas/json-schema.js';

const text = stringSchema();
const names = arraySchema(text);

const RulesFile = strictObjectSchema(
  {},
  {
    callerHeader: text,
    siteOrigins: names,
    known: arraySchema(strictObjectSchema({ caller: text }, { userAgent: text, header: text, value: text })),
    apiHeaders: names,
    fallback: text,
  },
);

/** What the JSON of such a file holds. Whether its rules can be used is told by `callerRulesProblems`. */
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
