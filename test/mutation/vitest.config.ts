import { defineConfig } from 'vitest/config';

/** The tests that `npx stryker run test/mutation/stryker.json` runs. A mutant that never ends is found by the timeout. */
export default defineConfig({
  test: { include: ['test/domain/**/*.test.ts'], testTimeout: 20_000 },
});
