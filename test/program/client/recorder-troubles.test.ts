/**
 * The recorder against a real server that is slow, refuses, resets, is overloaded and restarts: each query is counted
 * once.
 */
import { expect, test } from 'vitest';
import { createReader } from '../../../clients/javascript/src/reader.js';
import { createRecorder } from '../../../clients/javascript/src/recorder.js';
import type { ServerProcess } from '../../support/cli/cli.js';
import { makeKey, placeWithProject, project, recordedIn } from '../../support/cli/cli-place.js';
import { type Mishap, startFront } from '../../support/client/client-front.js';
import { isDeep } from '../../support/volume.js';

const events = isDeep ? 1_000_000 : 50_000;
/** Requests per run. */
const batchMax = events / 100;

const callers = ['web', 'api', 'slack', 'sdk-python', 'web'];

/** Every third request fails, each time in another way. */
const mishaps: readonly Mishap[] = ['lost', 'busy', 'reset', 'limited', 'lost', 'refuse'];

/** These take as long as the recorder's timeout, so there are few. */
const waits: Readonly<Record<number, Mishap>> = { 3: 'slow', 15: 'silent', 45: 'slow' };

function mishapOf(number: number): Mishap {
  return (
    waits[number] ?? (number % 3 === 2 ? mishaps[((number - 2) / 3) % mishaps.length] : 'pass') ?? 'pass'
  );
}

test('each query is counted once despite all kinds of failures', async () => {
  const place = await placeWithProject();
  const [recordingKey, adminKey] = [await makeKey(place, 'recording'), await makeKey(place, 'admin')];
  let server: ServerProcess = await place.spawnServer();
  // Stop the server once gracefully and once with SIGKILL.
  const ends = new Map<number, NodeJS.Signals>([
    [60, 'SIGTERM'],
    [120, 'SIGKILL'],
  ]);
  const front = await startFront({
    target: () => server.url,
    mishapOf: async (number) => {
      const signal = ends.get(number);
      if (signal !== undefined) {
        await server.stop(signal);
        server = await place.spawnServer();
      }
      return mishapOf(number);
    },
  });
  const dropped: unknown[] = [];
  const recorder = createRecorder({
    url: front.url,
    projectId: project,
    key: recordingKey,
    batchMax,
    retryBaseMs: 10,
    retryMaxMs: 50,
    timeoutMs: isDeep ? 3000 : 1000,
    onDrop: (queries, reason) => dropped.push([queries.length, reason]),
  });
  for (let at = 0; at < events; at++) {
    recorder.record({
      id: `event-${at.toString().padStart(9, '0')}`,
      caller: callers[at % callers.length] ?? '',
    });
    if (recorder.stats.queued >= 9 * batchMax) await recorder.flush({ timeoutMs: 100_000 });
  }
  expect(await recorder.close({ timeoutMs: 100_000 })).toBe(true);

  expect(dropped).toEqual([]);
  const { recorded, duplicates, failures } = recorder.stats;
  expect(recorded + duplicates).toBe(events);
  // Responses were lost, but nothing was counted twice.
  expect(duplicates).toBeGreaterThan(0);
  expect(failures).toBeGreaterThan(mishaps.length);
  for (const mishap of [...mishaps, ...Object.values(waits)])
    expect(front.seen.get(mishap), mishap).toBeGreaterThan(0);
  const reader = createReader({ url: server.url, key: adminKey });
  const each = events / callers.length;
  expect(await reader.callerStats({ projectId: project })).toEqual({
    web: 2 * each,
    api: each,
    other: 2 * each,
    total: events,
  });
  expect(recordedIn(place)).toBe(events);
});
