/** The options of `import` for access logs. */
import { readFileSync } from 'node:fs';
import { type LogReading, SharedLines } from '../../app/import/access-log.js';
import { fileProblem } from '../../app/import/file/source.js';
import { sourceProblems } from '../../domain/counting/imported-count.js';
import { type CallerRules, callerRulesProblems } from '../../domain/queries/caller-detection.js';
import type { IdOrigin } from '../../domain/queries/lines.js';
import { quote } from '../../domain/result.js';
import type { LocalClock } from '../../domain/time/timestamp-formats.js';

export interface LogOptions {
  readonly path?: string;
  readonly method?: readonly string[];
  readonly status?: readonly string[];
  readonly site?: readonly string[];
  readonly callerRules?: string;
  readonly caller?: string;
  readonly idKey?: string;
  readonly source?: string;
}

/** The options that apply to nothing but access logs. */
export const LOG_FLAGS = ['--path', '--method', '--status', '--site', '--caller-rules'];

/** A shorter key could be guessed. */
const idKeyBytesMin = 16;

/** Adds all problems to `problems`; the result is valid only if there are none. */
export async function readLogOptions(
  { path, method = ['POST'], status = ['2xx'], site, callerRules, caller, ...origin }: LogOptions,
  clock: LocalClock | undefined,
  problems: string[],
): Promise<LogReading> {
  const check = (flag: string, values: readonly string[], pattern: RegExp, form: string) => {
    const wrong = values.filter((value) => !pattern.test(value));
    problems.push(...wrong.map((value) => `${flag}: ${quote(value)} is not ${form}`));
  };
  check('--method', method, /^[A-Za-z]+$/, 'a method');
  check('--status', status, /^[1-5](\d\d|xx)$/, 'a status such as 200 or 2xx');
  if ((site ?? callerRules ?? caller) === undefined) {
    // A recorded query cannot be changed, so an import without any rule is more likely a mistake.
    problems.push('--site: is missing; name the documentation site, or give --caller-rules or --caller');
  }
  const pattern = readPattern(path, problems);
  const rules = callerRules === undefined ? {} : await readRules(callerRules, problems);
  const siteProblems = callerRulesProblems({ siteOrigins: site ?? [] });
  problems.push(...siteProblems.map((problem) => `--site: ${problem.replace(/^[^:]*: /, '')}`));
  return {
    path: pattern,
    methods: new Set(method.map((one) => one.toUpperCase())),
    statuses: new Set(status),
    rules: {
      ...rules,
      siteOrigins: [...(rules.siteOrigins ?? []), ...(site ?? [])],
      ...(caller !== undefined && { fallback: caller }),
    },
    ids: readIdOrigin(origin, problems),
    shared: new SharedLines(),
    isOneLog: origin.source !== undefined,
    clock,
  };
}

function readPattern(source: string | undefined, problems: string[]): RegExp {
  if (source === undefined) problems.push("--path: is missing; give a pattern such as '^/assistant/'");
  try {
    return new RegExp(source ?? '');
  } catch (error) {
    problems.push(`--path: ${(error as Error).message}`);
    return /^/;
  }
}

async function readRules(file: string, problems: string[]): Promise<CallerRules> {
  const bytes = readSmallFile('--caller-rules', file, problems);
  if (bytes === undefined) return {};
  // Loaded only here: the schema library takes longer to load than the rest of a command.
  const { parseRulesFile } = await import('../../app/import/rules-file.js');
  const rules = parseRulesFile(bytes);
  if (rules.ok) return rules.value;
  problems.push(...rules.problems.map((problem) => `--caller-rules: ${file}: ${problem}`));
  return {};
}

/** The options that say what ids of lines and records are made with. */
export function readIdOrigin(
  { idKey, source }: Pick<LogOptions, 'idKey' | 'source'>,
  problems: string[],
): IdOrigin {
  // An empty name says that files are one log although they have lines in common.
  if (source) problems.push(...sourceProblems(source).map((problem) => `--${problem}`));
  return { key: idKey === undefined ? undefined : readKeyFile(idKey, problems), source: source || undefined };
}

function readKeyFile(file: string, problems: string[]): Uint8Array | undefined {
  const key = readSmallFile('--id-key', file, problems);
  if (key !== undefined && key.length < idKeyBytesMin) {
    problems.push(
      `--id-key: ${file} has fewer than ${idKeyBytesMin} bytes; make one with: openssl rand -base64 32`,
    );
  }
  return key;
}

/** A pipe, too, such as the one in which a shell passes the output of a password manager. */
function readSmallFile(flag: string, file: string, problems: string[]): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    problems.push(`${flag}: ${file} cannot be read: ${fileProblem(error)}`);
    return undefined;
  }
}
