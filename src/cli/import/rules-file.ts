/** The shape of a file with rules that name callers. */
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/schema';
import type { CallerRules } from '../../domain/caller-detection.js';
import { failure, type Result, success } from '../../domain/result.js';

const strict = { additionalProperties: false } as const;
const names = Type.Array(Type.String());

const RulesFile = Type.Object(
  {
    callerHeader: Type.Optional(Type.String()),
    siteOrigins: Type.Optional(names),
    known: Type.Optional(
      Type.Array(
        Type.Object(
          {
            caller: Type.String(),
            userAgent: Type.Optional(Type.String()),
            header: Type.Optional(Type.String()),
            value: Type.Optional(Type.String()),
          },
          strict,
        ),
      ),
    ),
    apiHeaders: Type.Optional(names),
    fallback: Type.Optional(Type.String()),
  },
  strict,
);

/** What the JSON of such a file holds. Whether its rules can be used is told by `callerRulesProblems`. */
export function parseRulesFile(value: unknown): Result<CallerRules> {
  const [isRight, errors] = Compile(RulesFile).Errors(value);
  if (isRight) return success(value as Static<typeof RulesFile> as CallerRules);
  // The library reports a name that is not known twice: at the object that has it, and as a value that nothing fits.
  const problems = errors.filter(({ keyword }) => keyword !== 'additionalProperties');
  return failure(
    ...problems.map(({ keyword, instancePath, message }) => {
      const where = instancePath === '' ? 'it' : instancePath.slice(1);
      return `${where} ${keyword === 'boolean' ? 'is not known here' : message}`;
    }),
  );
}
