import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Small files that take long. */
const LONG = [
  'test/conformance/stores.test.ts',
  'test/browser/dashboard-accessible.test.ts',
  'test/browser/dashboard-numbers.test.ts',
  'test/program/postgres/away.test.ts',
  'test/browser/dashboard-account.test.ts',
  'test/program/docs/docs-samples.test.ts',
  'test/fuzz/cost/cost.test.ts',
];

/** Starts files that take long before all others, so that none of them runs alone at the end. Vitest starts large files first. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONG.findIndex((path) => moduleId.endsWith(path));
      return at === -1 ? LONG.length : at;
    };
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}
