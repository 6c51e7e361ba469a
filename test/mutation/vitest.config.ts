import { defineConfig } from 'vitest/config';
import { PARTS } from './stryker.js';

/** The writer's thread is started from what was built of the mutated code. */
const mutatedThreads = {
  name: 'mutated-threads',
  enforce: 'pre' as const,
  transform(code: string, id: string) {
    return id.endsWith('/src/storage/sqlite/writer/writer-handle.ts')
      ? code.replace(/(?<!from )'\.\/writer-thread\.js'/, "'../../../../test/mutation/writer-thread.js'")
      : undefined;
  },
};

/** Of tests in mutation runs; the part is named by whoever starts them. */
export default defineConfig({
  plugins: [mutatedThreads],
  test: {
    include: [...(PARTS[process.env['CALLER_STATS_MUTATED'] ?? '']?.tests ?? [])],
    setupFiles: ['test/mutation/laws.ts', 'test/mutation/threads.ts'],
    provide: { postgresServers: [] },
    // A mutant that makes a test wait for ever is found by this. The longest test takes five seconds on a quiet machine.
    testTimeout: 20_000,
  },
});
