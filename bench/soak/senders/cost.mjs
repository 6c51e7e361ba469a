/** What the client for JavaScript costs: bench/clients.ts. */
import { randomUUID } from 'node:crypto';
import { createRecorder } from 'caller-stats-client';

const [, , url, projectId, key] = process.argv;
const quiet = { projectId, key, queueMax: 1_000_000, onError: () => {}, onDrop: () => {} };
const rows = 100_000;

// First, while the process is small.
const away = createRecorder({ ...quiet, url: 'http://127.0.0.1:9' });
globalThis.gc();
const before = process.memoryUsage.rss();
for (let at = 0; at < rows; at++) away.record({ id: randomUUID(), caller: 'web' });
globalThis.gc();
const bytes = process.memoryUsage.rss() - before;
await away.close(0);

const recorder = createRecorder({ ...quiet, url });
const times = [];
const ids = Array.from({ length: rows }, () => randomUUID());
const startedAt = performance.now();
for (const id of ids) {
  const at = process.hrtime.bigint();
  recorder.record({ id, caller: 'web' });
  times.push(Number(process.hrtime.bigint() - at));
}
while (!(await recorder.flush()));
const seconds = (performance.now() - startedAt) / 1000;
times.sort((a, b) => a - b);
const [median, p99] = [times[rows / 2], times[rows * 0.99]];
process.stdout.write(JSON.stringify({ median, p99, rate: rows / seconds, bytes }));
await recorder.close();
