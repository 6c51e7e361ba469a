/**
 * `npm run fuzz -- --requests N --seed S` fuzzes the built server; `--only NUMBER` repeats one request of a seed. If any
 * response was wrong, it prints the request and how to repeat it, and exits with 1.
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
  throw new Error('--requests and --seed must be whole numbers');

print(`seed ${seed}, ${requests.toLocaleString('en')} requests`);
// The first Ctrl-C stops sending, the second one the checks as well.
const stopping = new AbortController();
process.once('SIGINT', () => {
  stopping.abort();
  process.once('SIGINT', () => process.exit(130));
});
const report = await fuzz({
  requests,
  seed,
  only: values.only === undefined ? undefined : Number(values.only),
  signal: stopping.signal,
  now: () => performance.now(),
  onViolation: print,
  onProgress: (count) => print(`${count.toLocaleString('en')} responses`),
});
for (const line of describeReport(report)) print(line);
process.exitCode = report.violations.length === 0 ? 0 : 1;

function describeReport({
  requests: sent,
  seconds,
  responses,
  events,
  traces,
  repeated,
  grownBytes,
  violations,
}: Report): string[] {
  const perPath = [...responses].sort().map(([path, counts]) => {
    const statuses = [...counts].sort().map(([status, count]) => `${status}: ${count.toLocaleString('en')}`);
    return `${path}\n  ${statuses.join('  ')}`;
  });
  return [
    ...perPath,
    `${sent.toLocaleString('en')} requests in ${Math.round(seconds)} s, ${Math.round(sent / seconds).toLocaleString('en')} per second`,
    `${events.toLocaleString('en')} known queries and ${traces.toLocaleString('en')} traces counted; ${repeated.toLocaleString('en')} recordings repeated`,
    ...(grownBytes === undefined ? [] : [`memory: ${grownBytes.toFixed(1)} bytes per request`]),
    violations.length === 0
      ? 'verdict: all responses and counts are right'
      : `verdict: ${violations.length} violations`,
  ];
}
