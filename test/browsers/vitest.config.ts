import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Apart from the other tests, because two of three systems and few machines have these browsers. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/browsers/*.test.ts'],
    globalSetup: ['./test/support/setup/build.ts', './test/support/setup/templates-setup.ts'],
    setupFiles: ['./test/support/setup/places-setup.ts'],
    // Their servers keep everything in SQLite.
    provide: { postgresServers: [] },
    // What is built runs as it is.
    server: { deps: { external: [/\/dist\//] } },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
