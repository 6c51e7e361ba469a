import type { Reporter, TestModule } from 'vitest/node';

/** Ends a run with one plain line of totals, for whatever reads the output. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const totals = { passed: 0, failed: 0, skipped: 0 };
    for (const module of modules) {
      const tests = [...module.children.allTests()];
      for (const test of tests) {
        const { state } = test.result();
        if (state === 'passed') totals.passed++;
        else if (state === 'skipped') totals.skipped++;
        else totals.failed++;
      }
      // A file that fails before its tests are known is a failure too.
      if (module.state() === 'failed' && !tests.some((test) => test.result().state === 'failed'))
        totals.failed++;
    }
    const skipped = totals.skipped === 0 ? '' : `, ${totals.skipped} skipped`;
    process.stdout.write(`\n${totals.passed} passed, ${totals.failed} failed${skipped}\n`);
  }
}
