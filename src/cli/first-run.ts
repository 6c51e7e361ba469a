/** What `serve` does for somebody who starts it for the first time: a project, two keys, and how to go on. */
import { fileURLToPath } from 'node:url';
import { CallerStatsError } from '../domain/errors.js';
import { DEFAULT_EXPIRY, parseExpiry } from '../domain/key-expiry.js';
import { DEFAULT_ORGANIZATION_ID, generateId } from '../domain/project.js';
import type { Store } from '../storage/store.js';
import { totalsLine } from './import/command.js';
import { startProgress } from './import/progress.js';
import { runImport } from './import/run.js';
import { openSource } from './import/source.js';
import type { Io } from './io.js';
import { type MadeKey, makeKey, type NewKey } from './make-key.js';
import { formatTime, printLine } from './output.js';

/** Real events, which come with the software. */
const sample = fileURLToPath(new URL('../../demo/changes.ndjson.gz', import.meta.url));

/**
 * The id of the first admin key, the same in every store: of servers that start on one new database at the same moment,
 * only one can make it, and that one makes the rest.
 */
const firstKeyId = 'first-admin-key';

/** Makes a first project and its keys where the store has neither, and prints them, this once. */
export async function welcome(
  store: Store,
  { url, vendor, demo }: { readonly url: string; readonly vendor: string; readonly demo: boolean },
  io: Io,
): Promise<void> {
  const createdAt = io.clock.now();
  const expiry = parseExpiry(DEFAULT_EXPIRY, createdAt);
  const common = {
    organizationId: DEFAULT_ORGANIZATION_ID,
    expiresAt: expiry.ok ? expiry.value : null,
    vendor,
    createdAt,
  };
  const admin = await makeFirstKey(store, common, io);
  if (admin !== undefined) {
    const projectId = await makeProject(store, demo, io);
    const recording = await makeKey(
      store,
      { ...common, projectId, type: 'recording', name: 'First recording key' },
      io,
    );
    if (demo) await loadSample(store, projectId, io);
    const { expiresAt } = common;
    printKeys({ url, projectId, admin: admin.secret, recording: recording.secret, expiresAt }, io);
  } else if (demo) {
    printLine(
      io.stderr,
      '--demo: left out, because the database has projects already; start on a new one to see it',
    );
  }
  printLine(io.stdout, `API documentation: ${url}/docs`);
}

/** Undefined where the store is not empty, or another server was first. */
async function makeFirstKey(
  store: Store,
  common: Omit<NewKey, 'projectId' | 'type' | 'name'>,
  io: Io,
): Promise<MadeKey | undefined> {
  // Keys first: where projects are spread over servers, one that is down would hide its own.
  if ((await store.listKeys(DEFAULT_ORGANIZATION_ID)).length > 0) return undefined;
  if ((await store.listProjects(DEFAULT_ORGANIZATION_ID)).length > 0) return undefined;
  try {
    const first = {
      ...common,
      id: firstKeyId,
      projectId: null,
      type: 'admin',
      name: 'First admin key',
    } as const;
    return await makeKey(store, first, io);
  } catch (error) {
    if (error instanceof CallerStatsError && error.code === 'already_exists') return undefined;
    throw error;
  }
}

async function makeProject(store: Store, demo: boolean, io: Io): Promise<string> {
  const project = {
    id: demo ? 'demo' : generateId(io.randomInt),
    organizationId: DEFAULT_ORGANIZATION_ID,
    name: demo ? 'Demo' : 'First project',
    createdAt: io.clock.now(),
  };
  await store.createProject(project);
  return project.id;
}

async function loadSample(store: Store, projectId: string, io: Io): Promise<void> {
  const totals = await runImport({
    sources: [await openSource(sample, io.stdin)],
    format: 'ndjson',
    strict: false,
    sink: (queries) => store.record(projectId, queries),
    clock: io.clock,
    progress: startProgress({ ...io, interactive: false }, undefined),
  });
  printLine(io.stdout, `A sample of real events was loaded: ${totalsLine(totals)}.`);
}

interface Made {
  readonly url: string;
  readonly projectId: string;
  readonly admin: string;
  readonly recording: string;
  readonly expiresAt: number | null;
}

function printKeys({ url, projectId, admin, recording, expiresAt }: Made, io: Io): void {
  const base = `${url}/v1/analytics/${projectId}/assistant`;
  const lines = [
    '',
    'A first project and its keys were made. The keys are shown this once; only their hashes are kept.',
    '',
    `  project        ${projectId}`,
    `  admin key      ${admin}`,
    `  recording key  ${recording}`,
    `  keys expire    ${formatTime(expiresAt, 'never')}`,
    '',
    'Read the counts:',
    '',
    `  curl -H "Authorization: Bearer ${admin}" "${base}/caller-stats"`,
    '',
    'Record a query:',
    '',
    `  curl -H "Authorization: Bearer ${recording}" -H "Content-Type: application/json" \\`,
    `    -d '{"id": "my-first-query", "caller": "web"}' "${base}/queries"`,
    '',
  ];
  for (const line of lines) printLine(io.stdout, line);
}
