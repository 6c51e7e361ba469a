/**
 * The clock of a server jumps by milliseconds, hours and weeks while it records. Then it is ten years ahead for a while, also when the
 * server starts: afterwards no row is gone, no message was sent, the notification is checked as before, and the key works.
 */
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { dayMs, hourMs } from '../../../src/domain/time/duration.js';
import { kill } from '../../support/cli/process.js';
import { withFile } from '../../support/storage/sqlite-file.js';
import { type Fault, type Round, serverWith, underLoad } from '../fault.js';
import { ask } from '../requests.js';

const preload = fileURLToPath(new URL('../preload/shifted-clock.mjs', import.meta.url));
const shiftsMs = [1, -1, 500, -3, hourMs, -hourMs, 24 * hourMs, -48 * hourMs, 480 * hourMs, -480 * hourMs, 0];
const someAnswers = 8;

const aheadMs = 3650 * dayMs;
/** How a clock comes to be ten years ahead, and what the log then says. */
const WRONG = [
  { env: { FAULT_CLOCK_SHIFTS: `${aheadMs},0` }, noticed: /the clock jumped/, isSignalled: true },
  {
    env: { FAULT_CLOCK_START: `${aheadMs}`, FAULT_CLOCK_SHIFTS: '0' },
    noticed: /the clock is far ahead/,
    isSignalled: false,
  },
];

export const stepClock: Fault = {
  name: 'step-clock',
  stores: ['sqlite', 'postgres'],
  run: async (round) => {
    const { world, draw, tally } = round;
    const shifts = draw.shuffled(shiftsMs);
    await serverWith(world, {
      node: ['--import', preload],
      env: { FAULT_CLOCK_SHIFTS: shifts.join(',') },
    });
    await underLoad(round, async (load, node) => {
      for (const [at] of shifts.entries()) {
        kill(node.pid, 'SIGUSR2');
        await node.printed(new RegExp(`(the clock is off by \\S+ ms\\n[^]*){${at + 1}}`));
        tally.note('clock stepped');
        await load.progress(someAnswers);
      }
    });
    await serverWith(world);
    await beYearsAhead(round);
  },
};

async function beYearsAhead({ world, tally }: Round): Promise<void> {
  const id = `clock-${randomUUID()}`;
  await world.succeed(['project', 'create', id, '--id', id]);
  await world.succeed(['project', 'change', id, '--retention-days', '30']);
  const key = (await world.succeed(['key', 'create', '--name', id, '--expires', '7d'])).stdout.trim();
  const nowMs = Date.now();
  const query = { id: 'q', caller: 'web', occurredAt: new Date(nowMs - 20 * dayMs) };
  await writeFile(world.path('q.ndjson'), JSON.stringify(query));
  await world.succeed(['import', world.path('q.ndjson'), '--project', id]);
  const isFile = world.database.startsWith('sqlite:');
  const planned = isFile ? [{ checkAt: nowMs + 7 * dayMs, messages: 0 }] : [];
  if (isFile) planNotification(world.file, id, nowMs + 7 * dayMs);
  const authorization = `Bearer ${key}`;
  const statuses: unknown[] = [];
  for (const { env, noticed, isSignalled } of WRONG) {
    const node = await world.serve({ node: ['--import', preload], env });
    const url = `${node.url}/v1/analytics/${id}/assistant/caller-stats`;
    if (isSignalled) kill(node.pid, 'SIGUSR2');
    await node.logged(noticed);
    statuses.push((await ask(url, { headers: { authorization } })).status);
    kill(node.pid, 'SIGUSR2');
    await node.logged(/the clock is right again/);
    statuses.push((await ask(url, { headers: { authorization } })).status);
    await world.stop(node);
  }
  const rows = (await world.succeed(['export', id])).stdout.trim().split('\n').length;
  const after = [...statuses, rows, ...(isFile ? [readNotification(world.file, id)] : [])];
  if (!isDeepStrictEqual(after, [401, 200, 401, 200, 1, ...planned]))
    world.problems.push(`after a clock that was ten years ahead: ${JSON.stringify(after)}`);
  await world.succeed(['project', 'delete', id, '--confirm', id]);
  tally.note('clock ten years ahead');
}

/** A weekly digest, which a person would make in the dashboard. */
function planNotification(file: string, id: string, checkAt: number): void {
  withFile(file, (db) =>
    db
      .prepare(
        `INSERT INTO notification (id, organization_id, project_id, kind, period, time_zone, channel, destination,
           shown_destination, created_by, created_at, check_at)
         VALUES (?, 'default', ?, 'digest', 'week', 'UTC', 'webhook', 'sealed', 'hooks.example.org', 'a fault', 1, ?)`,
      )
      .run(id, id, checkAt),
  );
}

function readNotification(file: string, id: string): unknown {
  const read = `SELECT check_at AS "checkAt", (SELECT count(*) FROM notification_delivery WHERE project_id = ?) AS messages
    FROM notification WHERE id = ?`;
  return withFile(file, (db) => ({ ...db.prepare(read).get(id, id) }));
}
