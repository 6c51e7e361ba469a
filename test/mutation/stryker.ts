/** How Stryker is set, and which tests mutants of each part of the code are held to. */
import type { PartialStrykerOptions } from '@stryker-mutator/api/core';

export interface Part {
  readonly mutate: readonly string[];
  /** Fast ones: a mutant runs all tests that reach it. */
  readonly tests: readonly string[];
  /** Whether code of it runs in threads, which are started from what is built, and which no test imports. */
  readonly hasThreads?: boolean;
}

export const PARTS: Readonly<Record<string, Part>> = {
  domain: { mutate: ['src/domain/**/*.ts'], tests: ['test/unit/domain/**/*.test.ts'] },
  /**
   * On the store that needs no server. Slow: a mutant that survives takes half a minute, all of it an hour; a folder in memory as
   * `TMPDIR` helps, and files can be named.
   */
  storage: {
    mutate: ['src/storage/*.ts', 'src/storage/sqlite/**/*.ts'],
    tests: [
      'test/unit/storage/*.test.ts',
      'test/unit/storage/sqlite/*.test.ts',
      'test/conformance/*.test.ts',
      'test/laws/*.test.ts',
      'test/sqlite/!(write-lock).test.ts',
    ],
    hasThreads: true,
  },
};

/** Often enough for the laws of what is mutated to fail, which takes instrumented code many times as long to find out. */
const lawRuns = 20;

export const reportsFolder = 'reports/mutation';

/** Where the variables that the runner and its tests read are set. */
export function environmentOf(name: string): Readonly<Record<string, string>> {
  return { CALLER_STATS_MUTATED: name, CALLER_STATS_LAW_RUNS: String(lawRuns) };
}

/** `files` narrows the part down; `force` tests again what was tested before, and has not changed since. */
export function optionsOf(
  name: string,
  part: Part,
  { files, force }: { readonly files: readonly string[]; readonly force: boolean },
): PartialStrykerOptions {
  return {
    mutate: [...(files.length > 0 ? files : part.mutate)],
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner', './test/mutation/wording.js'],
    ignorers: ['wording'],
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: part.hasThreads !== true },
    coverageAnalysis: 'perTest',
    // Constants, patterns and tables are where the rules are: mutants of those are tested, too.
    ignoreStatic: false,
    concurrency: 2,
    // Generous, because other work may share the machine: a mutant that is only slow is not to count as killed.
    timeoutMS: 15_000,
    timeoutFactor: 3,
    // A run of some files leaves what is known of the others.
    incremental: true,
    incrementalFile: `${reportsFolder}/incremental-${name}.json`,
    force,
    ...(part.hasThreads ? { buildCommand: 'tsc --project tsconfig.build.json' } : {}),
    tempDirName: '.stryker-tmp',
    // It would be rewritten with the API that TypeScript 7 has not; its paths need no rewriting.
    tsconfigFile: 'none',
    ignorePatterns: ['bench', 'coverage', 'data', 'dist', 'integrations', 'reports'],
    reporters: ['json', 'html', 'progress-append-only'],
    jsonReporter: { fileName: `${reportsFolder}/${name}.json` },
    htmlReporter: { fileName: `${reportsFolder}/${name}.html` },
    allowConsoleColors: false,
    warnings: { slow: false, unknownOptions: true, preprocessorErrors: true, unserializableOptions: true },
  };
}
