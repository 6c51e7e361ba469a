import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

const slowestShown = 10;

/** Prints the slowest files and a line of totals, which CI reads, after a run. */
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
      // A file that fails before its tests are known counts as a failure.
      if (module.state() === 'failed' && !tests.some((test) => test.result().state === 'failed'))
        totals.failed++;
    }
    const skipped = totals.skipped === 0 ? '' : `, ${totals.skipped} skipped`;
    process.stdout.write(`\nThe slowest files:\n${slowest(modules).join('\n')}\n`);
    process.stdout.write(`\n${totals.passed} passed, ${totals.failed} failed${skipped}\n`);
  }
}

/** The slowest files with their seconds, including imports and hooks. */
function slowest(modules: readonly TestModule[]): string[] {
  return modules
    .map((module) => {
      const { duration, collectDuration } = module.diagnostic();
      return { file: relative(process.cwd(), module.moduleId), ms: duration + collectDuration };
    })
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, slowestShown)
    .map(({ file, ms }) => `${(ms / 1000).toFixed(1).padStart(6)} s  ${file}`);
}
