/** What `serve` does for somebody who starts it for the first time: a project, two keys, and how to go on. */
import { fileURLToPath } from 'node:url';
import { DEFAULT_EXPIRY, parseExpiry } from '../domain/key-expiry.js';
import { DEFAULT_ORGANIZATION_ID, generateId } from '../domain/project.js';
import type { Store } from '../storage/store.js';
import { totalsLine } from './import/command.js';
import { startProgress } from './import/progress.js';
import { runImport } from './import/run.js';
import { openSource } from './import/source.js';
import type { Io } from './io.js';
import { makeKey } from './make-key.js';
import { formatTime, printLine } from './output.js';

/** Real events, which come with the software. */
const sample = fileURLToPath(new URL('../../demo/changes.ndjson.gz', import.meta.url));

/** Makes a first project and its keys where the store has neither, and prints them, this once. */
export async function welcome(
  store: Store,
  { url, vendor, demo }: { readonly url: string; readonly vendor: string; readonly demo: boolean },
  io: Io,
): Promise<void> {
  printLine(io.stdout, `caller-stats listens on ${url}`);
  if (await isEmpty(store)) {
    const projectId = await makeProject(store, demo, io);
    if (demo) await loadSample(store, projectId, io);
    await printKeys(store, { url, vendor, projectId }, io);
  } else if (demo) {
    printLine(
      io.stderr,
      '--demo: left out, because the database has projects already; start on a new one to see it',
    );
  }
  printLine(io.stdout, `API documentation: ${url}/docs`);
}

async function isEmpty(store: Store): Promise<boolean> {
  const [projects, keys] = await Promise.all([
    store.listProjects(DEFAULT_ORGANIZATION_ID),
    store.listKeys(DEFAULT_ORGANIZATION_ID),
  ]);
  return projects.length === 0 && keys.length === 0;
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

async function printKeys(
  store: Store,
  { url, vendor, projectId }: { readonly url: string; readonly vendor: string; readonly projectId: string },
  io: Io,
): Promise<void> {
  const createdAt = io.clock.now();
  const expiry = parseExpiry(DEFAULT_EXPIRY, createdAt);
  const expiresAt = expiry.ok ? expiry.value : null;
  const common = { organizationId: DEFAULT_ORGANIZATION_ID, expiresAt, vendor, createdAt };
  const admin = await makeKey(
    store,
    { ...common, projectId: null, type: 'admin', name: 'First admin key' },
    io,
  );
  const recording = await makeKey(
    store,
    { ...common, projectId, type: 'recording', name: 'First recording key' },
    io,
  );
  const base = `${url}/v1/analytics/${projectId}/assistant`;
  const lines = [
    '',
    'A first project and its keys were made. The keys are shown this once; only their hashes are kept.',
    '',
    `  project        ${projectId}`,
    `  admin key      ${admin.secret}`,
    `  recording key  ${recording.secret}`,
    `  keys expire    ${formatTime(expiresAt, 'never')}`,
    '',
    'Read the counts:',
    '',
    `  curl -H "Authorization: Bearer ${admin.secret}" "${base}/caller-stats"`,
    '',
    'Record a query:',
    '',
    `  curl -H "Authorization: Bearer ${recording.secret}" -H "Content-Type: application/json" \\`,
    `    -d '{"id": "my-first-query", "caller": "web"}' "${base}/queries"`,
    '',
  ];
  for (const line of lines) printLine(io.stdout, line);
}
