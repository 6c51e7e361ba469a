/**
 * `npx tsx test/fuzz/cost/run.ts --seconds 600` searches for requests that take much of the built server: much processor time, or one
 * long turn of the event loop, for few bytes. Prints them, and exits with 1 if there are any. `--database` names an empty database.
 */
import { parseArgs } from 'node:util';
import { programFile } from '../../support/cli/process.js';
import { promisedBytesMax } from '../../support/resident-memory.js';
import { LONG_HISTORY } from './history.js';
import { searchCost } from './search.js';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    only: { type: 'string', default: '' },
    program: { type: 'string', default: programFile },
    database: { type: 'string' },
  },
});
const seconds = () => performance.now() / 1000;
const print = (line: string): boolean => process.stdout.write(`${line}\n`);
print(`seed ${values.seed}`);
/** From the first input: filling the database takes longer on some machines. */
let start: number | undefined;
const passed = () => {
  start ??= seconds();
  return seconds() - start;
};
const { tried, loadMs, longestMs, findings } = await searchCost({
  program: values.program,
  databaseUrl: values.database,
  history: LONG_HISTORY,
  seed: Number(values.seed),
  residentBytesMax: promisedBytesMax(),
  only: new RegExp(values.only),
  goesOn: () => passed() < Number(values.seconds),
  onFinding: ({ what }) => print(`${Math.round(passed())} s: ${what}`),
});
print(
  `${tried} inputs; at most ${Math.round(longestMs)} ms a turn, and ${loadMs.toFixed(1)} ms for the work they are compared with`,
);
process.exitCode = findings.length === 0 ? 0 : 1;
