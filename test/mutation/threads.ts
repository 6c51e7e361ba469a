/**
 * Tells threads that tests start which mutant is active and which test runs, and Stryker what mutants the threads ran: it
 * looks at the thread of the tests alone, and would take all that only the writer's reaches for untested.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setEnvironmentData } from 'node:worker_threads';
import { afterAll, beforeAll, beforeEach } from 'vitest';

/** How often each mutant was run, by its number. */
type Hits = Record<string, number>;

interface Coverage {
  readonly static: Hits;
  readonly perTest: Record<string, Hits>;
}

/** Where Stryker's runner and instrumented code meet. */
interface Namespace {
  readonly activeMutant?: string;
  readonly currentTestId?: string;
  mutantCoverage?: Coverage;
}

const namespace = (): Namespace => (globalThis as { __stryker__?: Namespace }).__stryker__ ?? {};
let folder = '';

function tell(): void {
  const { activeMutant, currentTestId } = namespace();
  setEnvironmentData('mutation', { folder, activeMutant, currentTestId });
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'caller-stats-mutation-'));
  tell();
});

beforeEach(tell);

afterAll(() => {
  const { mutantCoverage } = namespace();
  for (const file of mutantCoverage === undefined ? [] : readdirSync(folder)) {
    const { perTest } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Coverage;
    for (const [test, hits] of Object.entries(perTest)) {
      const known = mutantCoverage?.perTest[test];
      if (known !== undefined) add(known, hits);
      else if (mutantCoverage !== undefined) mutantCoverage.perTest[test] = hits;
    }
  }
  rmSync(folder, { recursive: true });
});

function add(to: Hits, hits: Readonly<Hits>): void {
  for (const [mutant, times] of Object.entries(hits)) to[mutant] = (to[mutant] ?? 0) + times;
}
