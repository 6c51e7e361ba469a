/**
 * `npm run fuzz -- --requests N --seed S` fuzzes the built service; `--only NUMBER` sends one request of a seed again. Exits
 * with 1 where anything was answered as it should not be, and says what, and how to repeat it.
 */
import { parseArgs } from 'node:util';
import { fuzz, type Report } from './campaign.js';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '200000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    only: { type: 'string' },
  },
});
const print = (line: string): boolean => process.stdout.write(`${line}\n`);
const [requests, seed] = [Number(values.requests), Number(values.seed)];
if (!(Number.isSafeInteger(requests) && requests > 0 && Number.isSafeInteger(seed)))
  throw new Error('--requests and --seed are whole numbers');

print(`seed ${seed}, ${requests.toLocaleString('en')} requests`);
// The first Ctrl-C ends the sending, another the checks as well.
const ending = new AbortController();
process.once('SIGINT', () => {
  ending.abort();
  process.once('SIGINT', () => process.exit(130));
});
const report = await fuzz({
  requests,
  seed,
  only: values.only === undefined ? undefined : Number(values.only),
  signal: ending.signal,
  now: () => performance.now(),
  onViolation: print,
  onProgress: (answered) => print(`${answered.toLocaleString('en')} answered`),
});
for (const line of linesOf(report)) print(line);
process.exitCode = report.violations.length === 0 ? 0 : 1;

function linesOf({
  requests: sent,
  seconds,
  answers,
  events,
  traces,
  repeated,
  grownBytes,
  violations,
}: Report): string[] {
  const perPath = [...answers].sort().map(([path, counts]) => {
    const statuses = [...counts].sort().map(([status, count]) => `${status}: ${count.toLocaleString('en')}`);
    return `${path}\n  ${statuses.join('  ')}`;
  });
  return [
    ...perPath,
    `${sent.toLocaleString('en')} requests in ${Math.round(seconds)} s, ${Math.round(sent / seconds).toLocaleString('en')} a second`,
    `${events.toLocaleString('en')} known queries and ${traces.toLocaleString('en')} traces counted; ${repeated.toLocaleString('en')} recordings repeated`,
    ...(grownBytes === undefined ? [] : [`memory: ${grownBytes.toFixed(1)} bytes a request`]),
    violations.length === 0
      ? 'verdict: nothing was answered that should not be'
      : `verdict: ${violations.length} violations`,
  ];
}
