/**
 * The writer thread of SQLite in mutation runs: the built one, of code with the mutants in it, told by `threads.ts` which
 * of them is active. What the thread ran of them it leaves in a file, because a thread that ended answers nothing.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { getEnvironmentData, threadId } from 'node:worker_threads';

const { folder, activeMutant, currentTestId } = getEnvironmentData('mutation');
globalThis.__stryker__ = { activeMutant, currentTestId };
process.on('exit', () => {
  const { mutantCoverage } = globalThis.__stryker__;
  if (mutantCoverage !== undefined && activeMutant === undefined)
    writeFileSync(join(folder, `${process.pid}-${threadId}.json`), JSON.stringify(mutantCoverage));
});

await import('../../dist/storage/sqlite/writer/writer-thread.js');
