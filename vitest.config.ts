import { defineConfig } from 'vitest/config';
import { executableFile } from './test/support/setup/executable-setup.js';
import { LongestFirst } from './test/support/setup/longest-first.js';
import { folderInMemory } from './test/support/setup/memory-folder.js';
import { buildPlantedThread, PLANTED, plant } from './test/support/setup/planted.js';
import { seedOfContent } from './test/support/setup/seed.js';
import { isDeep } from './test/support/volume.js';

// All that the tests make goes to the folder for temporary files, which they ask Node for.
if (process.env['TMPDIR'] === undefined) {
  const inMemory = folderInMemory();
  if (inMemory !== undefined) process.env['TMPDIR'] = inMemory;
}

// The deep run tries new input each time.
if (!isDeep) {
  const seed = seedOfContent();
  if (seed !== undefined) process.env['CALLER_STATS_TEST_SEED'] ??= String(seed);
}

const planted = JSON.parse(process.env[PLANTED] ?? '[]');

/** Threads cannot be started from TypeScript: the tests start the built ones, and `globalSetup` builds them. */
const threads = [
  {
    starter: '/src/storage/sqlite/writer/writer-handle.ts',
    thread: './writer-thread.cjs',
    built: `../../../../${planted.length > 0 ? await buildPlantedThread(import.meta.dirname, planted) : 'dist/writer-thread.cjs'}`,
  },
  {
    starter: '/src/auth/passwords/password-hasher.ts',
    thread: './hashing-thread.cjs',
    built: '../../../test/support/users/quick-hashing-thread.mjs',
  },
];

const builtThreads = {
  name: 'built-threads',
  enforce: 'pre' as const,
  transform(code: string, id: string) {
    const found = threads.find(({ starter }) => id.endsWith(starter));
    if (found === undefined) return undefined;
    const written = `new URL('${found.thread}'`;
    if (!code.includes(written)) throw new Error(`${found.starter} does not contain: ${written}`);
    return code.replace(written, `new URL('${found.built}'`);
  },
};

/** `npm test` leaves the deep tests out. */
const exclude = isDeep ? [] : ['test/**/*.deep.test.ts'];

const seedSetup = './test/support/setup/seed-setup.ts';

/** Tests of the program as processes, in which files share a process: loading everything for each would take a tenth of the time. */
const processes = {
  isolate: false,
  // What a test has spied on is used by later ones.
  restoreMocks: true,
  setupFiles: [seedSetup, './test/support/setup/places-setup.ts'],
  // What is built runs as it is.
  server: { deps: { external: [/\/dist\//] } },
  // Ends what hangs, and nothing that only runs beside other work.
  testTimeout: 300_000,
  hookTimeout: 120_000,
};
const globalSetup = [
  './test/support/setup/build.ts',
  './test/support/setup/templates-setup.ts',
  './test/support/setup/postgres-setup.ts',
];

/** The folders of whole programs and databases. Everything else is a unit: a file of `src`, a rule of the repository. */
const whole = ['program', 'conformance', 'laws', 'fuzz', 'faults'];

/** The deep run repeats the tests of commands with the executable, which a setup makes. */
const executable = {
  extends: true as const,
  test: {
    ...processes,
    name: 'executable',
    include: [
      'test/executable/*.test.ts',
      'test/program/{backup,docs,import,keys,manage,package,read,record,run}/*.test.ts',
    ],
    // The first two are about the package, and the others need options of Node that an executable does not take.
    exclude: ['package/package.deep', 'package/built-files', 'run/outgoing', 'import/import-memory.deep'].map(
      (name) => `test/program/${name}.test.ts`,
    ),
    env: { CALLER_STATS_TEST_EXECUTABLE: executableFile },
    globalSetup: [...globalSetup, './test/support/setup/executable-setup.ts'],
  },
};

/** Only where an installed Citus is named. */
const citus = {
  extends: true as const,
  test: {
    name: 'citus',
    include: ['test/citus/*.test.ts'],
    setupFiles: [seedSetup],
    globalSetup,
    // Each file has a cluster under load.
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 120_000,
  },
};

export default defineConfig({
  plugins: [plant(import.meta.dirname, planted), builtThreads],
  test: {
    // Much of a test is waiting for the disk, a process or a page: three keep both cores of a small machine busy.
    maxWorkers: 3,
    // Files share a process, whose heap is large: fewer collections of new objects take a third of the time of some files.
    execArgv: ['--max-semi-space-size=128'],
    sequence: { sequencer: LongestFirst },
    // A poll of one second, the default, fails on a busy machine.
    expect: { poll: { timeout: 60_000 } },
    reporters: ['default', './test/support/setup/summary-reporter.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [
            ...exclude,
            ...[
              'browser',
              'browsers',
              'citus',
              'executable',
              'sdks',
              'mcp-clients',
              'generated',
              'pages',
              ...whole,
            ].map((folder) => `test/${folder}/**`),
          ],
          // The long properties, and removing what they wrote, take a while on a busy machine.
          testTimeout: 120_000,
          hookTimeout: 120_000,
          setupFiles: [seedSetup],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          ...processes,
          name: 'whole',
          include: [
            `test/{${whole.join()}}/**/*.test.ts`,
            // Not below it, where packages have tests of their own.
            'test/{sdks,mcp-clients}/*.test.ts',
          ],
          exclude,
          globalSetup,
        },
      },
      {
        extends: true,
        test: {
          ...processes,
          name: 'browser',
          include: ['test/browser/**/*.test.ts', 'test/pages/*.test.ts'],
          exclude,
          globalSetup: [...globalSetup, './test/support/setup/browser-setup.ts'],
        },
      },
      ...(isDeep ? [executable] : []),
      ...(process.env['CALLER_STATS_TEST_CITUS'] === undefined ? [] : [citus]),
    ],
  },
});
