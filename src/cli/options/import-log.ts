/** The options of `import` for access logs. */

import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { LogReading } from '../../app/import/access-log.js';
import { fileProblem } from '../../app/import/source.js';
import { type CallerRules, callerRulesProblems } from '../../domain/queries/caller-detection.js';
import { quote } from '../../domain/result.js';
import { collect } from '../store-options.js';

export interface LogOptions {
  readonly path?: string;
  readonly method?: readonly string[];
  readonly status?: readonly string[];
  readonly site?: readonly string[];
  readonly callerRules?: string;
  readonly idKey?: string;
}

/** Every flag of these, by its name in `LogOptions`. */
export const LOG_FLAGS: Readonly<Record<keyof LogOptions, string>> = {
  path: '--path',
  method: '--method',
  status: '--status',
  site: '--site',
  callerRules: '--caller-rules',
  idKey: '--id-key',
};

/** Fewer bytes could be found by trying them all. */
const idKeyBytesMin = 16;

export function addLogOptions(command: Command): Command {
  return command
    .option('--path <pattern>', "access-log: a regular expression for the paths of the assistant's requests")
    .option('--method <name>', 'access-log: a method of its requests (repeatable; POST)', collect)
    .option(
      '--status <status>',
      'access-log: a status of answers that count, 200 or 2xx (repeatable; 2xx)',
      collect,
    )
    .option(
      '--site <origin>',
      'access-log: an origin of the documentation site, https://docs.example.com (repeatable)',
      collect,
    )
    .option('--caller-rules <file>', 'access-log: a JSON file with rules that name callers')
    .option('--id-key <file>', 'access-log: a file with a secret that ids are made with');
}

/** Adds to `problems` what is wrong; what is given back then is not to be used. `caller` is whose the others are. */
export async function readLogOptions(
  options: LogOptions,
  caller: string | undefined,
  problems: string[],
): Promise<LogReading> {
  const { path, method = ['POST'], status = ['2xx'], site, callerRules, idKey } = options;
  problems.push(
    ...method
      .filter((one) => !/^[A-Za-z]+$/.test(one))
      .map((one) => `--method: ${quote(one)} is not a method`),
  );
  problems.push(
    ...status
      .filter((one) => !/^[1-5](\d\d|xx)$/.test(one))
      .map((one) => `--status: ${quote(one)} is not a status such as 200 or 2xx`),
  );
  if ((site ?? callerRules ?? caller) === undefined) {
    // A query is recorded once and for ever: what all would be called is nothing to find out afterwards.
    problems.push('--site: is missing; name the documentation site, or give --caller-rules or --caller');
  }
  return {
    path: readPattern(path, problems),
    methods: new Set(method.map((one) => one.toUpperCase())),
    statuses: new Set(status),
    rules: allRules(
      site ?? [],
      callerRules === undefined ? {} : await readRules(callerRules, problems),
      caller,
      problems,
    ),
    idKey: idKey === undefined ? undefined : readKeyFile(idKey, problems),
  };
}

/** The rules of the file, and what the other options add. */
function allRules(
  sites: readonly string[],
  rules: CallerRules,
  caller: string | undefined,
  problems: string[],
): CallerRules {
  for (const problem of callerRulesProblems({ siteOrigins: sites })) {
    problems.push(`--site: ${problem.replace(/^[^:]*: /, '')}`);
  }
  const siteOrigins = [...(rules.siteOrigins ?? []), ...sites];
  return { ...rules, siteOrigins, ...(caller === undefined ? {} : { fallback: caller }) };
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
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    problems.push(`--caller-rules: ${file} is not JSON: ${(error as Error).message}`);
    return {};
  }
  // Loading the library of schemas takes longer than all else that a command does at its start.
  const { parseRulesFile } = await import('../../app/import/rules-file.js');
  const parsed = parseRulesFile(value);
  const wrong = parsed.ok ? callerRulesProblems(parsed.value) : parsed.problems;
  problems.push(...wrong.map((problem) => `--caller-rules: ${file}: ${problem}`));
  return parsed.ok ? parsed.value : {};
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

function readSmallFile(flag: string, file: string, problems: string[]): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    problems.push(`${flag}: ${file} cannot be read: ${fileProblem(error)}`);
    return undefined;
  }
}
