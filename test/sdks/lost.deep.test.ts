/**
 * Setups that lose questions easily, with real senders against a server that is a process with its default settings. Prints a
 * table of what was sent and counted, and what somebody was told.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sharedByTests } from '../support/cleanup.js';
import { clientOf } from '../support/cli/cli-client.js';
import { makeKey, placeWithProject, succeed } from '../support/cli/cli-place.js';
import { freePort } from '../support/free-port.js';
import { installPackages, installTimeoutMs } from '../support/install-packages.js';
import { lostRows } from './rows/lost.js';
import { sdksFolder } from './support/folder.js';
import { installFrameworks } from './support/frameworks.js';

beforeAll(() => installPackages(sdksFolder), installTimeoutMs);

const running = sharedByTests(async () => {
  const place = await placeWithProject();
  const admin = await makeKey(place, 'admin');
  const port = await freePort();
  const { url } = await place.spawnServer(['--metrics', String(port)]);
  return { place, admin, url, metrics: `http://127.0.0.1:${port}/metrics` };
});
const installed = sharedByTests(installFrameworks, installTimeoutMs);

interface Seen {
  readonly sources: readonly {
    readonly refusals: readonly { readonly reason: string; readonly remedy: string }[];
  }[];
  readonly expiringKeys: readonly { readonly name: string }[];
}

/** What the page *Sources* says of a project. */
async function seenOf(project: string): Promise<string> {
  const { url, admin } = running();
  const headers = { authorization: `Bearer ${admin}` };
  const answer = await fetch(`${url}/v1/analytics/${project}/assistant/ingestion`, { headers });
  const { sources, expiringKeys } = (await answer.json()) as Seen;
  const told = [
    ...sources.flatMap(({ refusals }) => refusals.map(({ reason, remedy }) => `${reason}: ${remedy}`)),
    ...expiringKeys.map(({ name }) => `The key ${name} is in use and expires`),
  ];
  return told.length === 0 ? '' : ` Sources: ${told.join('; ')}`;
}

const table: (readonly [setup: string, sent: string, counted: string, told: string])[] = [];

test.each(lostRows.map((row, at) => [row.setup, row, at] as const))(
  '%s',
  async (setup, { sent, right = sent, told = /^/, send }, at) => {
    const { place, url, admin, metrics } = running();
    const project = `row-${at}`;
    await succeed(place.run(['project', 'create', setup.slice(0, 60), '--id', project]));
    const bound = ['--type', 'recording', '--project', project];
    const { stdout } = await succeed(place.run(['key', 'create', '--name', 'A row', ...bound]));
    const world = { place, url, project, key: stdout.trim(), metrics, installed };
    const outcome = await send(world);
    const total = async () => (await clientOf({ url }, project, admin).count()).body.total;
    if (typeof outcome === 'string')
      await expect
        .poll(total, { timeout: 10_000 })
        .toBe(right)
        .catch(() => {});
    const counted = typeof outcome === 'string' ? await total() : outcome.counted;
    const all = `${typeof outcome === 'string' ? outcome : outcome.told}${await seenOf(project)}`.trim();
    table.push([setup, String(sent), String(counted), all.replace(/\s+/g, ' ')]);
    expect([counted, all]).toEqual([right, expect.stringMatching(told)]);
  },
  300_000,
);

afterAll(() => {
  const all = [['setup', 'sent', 'counted', 'told'], ...table] as const;
  const width = Math.max(...all.map(([setup]) => setup.length));
  const lines = all.map(([setup, sent, counted, told]) =>
    `${setup.padEnd(width)}  ${sent.padStart(5)}  ${counted.padStart(7)}  ${told.slice(0, 400)}`.trimEnd(),
  );
  process.stdout.write(`${lines.join('\n')}\n`);
});
