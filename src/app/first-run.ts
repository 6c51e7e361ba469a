/** Sets up an empty store on the first start of `serve`: creates a project and two keys, and shows how to continue. */
import { fileURLToPath } from 'node:url';
import { formatTime } from '../domain/format.js';
import type { KeyType } from '../domain/keys/api-key.js';
import { defaultExpiry, parseExpiryWithin } from '../domain/keys/key-lifetime.js';
import { type CreatedKey, generateApiKey } from '../domain/keys/new-key.js';
import { DEFAULT_ORGANIZATION_ID } from '../domain/projects/organization.js';
import { SAMPLE_PROJECTS } from '../domain/projects/samples.js';
import { generateId } from '../domain/random-text.js';
import type { Clock } from '../domain/time/clock.js';
import type { Store } from '../storage/ports/store.js';
import { createUnlessTaken } from './copy/side.js';
import { Batcher } from './import/batcher.js';
import { openSource } from './import/file/source.js';
import { readJsonLines } from './import/records.js';
import { describeTotals, runImport } from './import/run.js';
import { inviteMember } from './members.js';
import { createProject } from './projects.js';
import { recordQueries } from './record.js';
import { sampleTraffic } from './sample-traffic.js';

/** Any number: it decides what the sample traffic looks like. */
const trafficSeed = 1;

/**
 * The id of the first admin key, the same in every store. If several servers start on a new database at once, only one can
 * create this key, and that server creates the rest.
 */
const firstKeyId = 'first-admin-key';

export interface FirstRunOptions {
  readonly url: string;
  /** The URL of the dashboard. */
  readonly pagesUrl: string;
  readonly keyPrefix: string;
  /** See `parseExpiryWithin`. */
  readonly keyLifeMax: number | null;
  readonly demo: boolean;
}

/** Shows keys and links to the operator only. */
export interface PrivateOutput {
  /** Throws if `show` would. */
  readonly prepare: () => Promise<void>;
  /** Shows lines. `what` names them in a message. */
  readonly show: (what: string, lines: readonly string[]) => Promise<void>;
}

/** How the first run talks to the operator. */
export interface FirstRunIo {
  readonly clock: Clock;
  readonly randomInt: (max: number) => number;
  /** The folder of the package: its `demo` contains real events. */
  readonly packageFolder: URL;
  /** Prints a line of the results, which may be kept in a log. */
  readonly print: (line: string) => void;
  /** For keys and links. Undefined if no place is for the operator only; then none are created. */
  readonly operator: PrivateOutput | undefined;
  /** Prints a line of warnings. */
  readonly warn: (line: string) => void;
}

/** The project and the keys to create. */
type Plan = ReturnType<typeof plan>;

/**
 * Returns a function that creates and shows a first project and its keys if the store is empty. After a failure, call it
 * again: it continues with the same keys, and shows them once.
 */
export function createFirstRun(store: Store, options: FirstRunOptions, io: FirstRunIo): () => Promise<void> {
  const first = plan(options, io);
  let isDone = false;
  return async () => {
    if (!isDone) await createUnlessInUse(store, first, options, io);
    isDone = true;
    await showSetUpLink(store, options.pagesUrl, io);
    io.print(`Documentation: ${options.url}/docs`);
  };
}

async function createUnlessInUse(
  store: Store,
  first: Plan,
  { url, demo }: FirstRunOptions,
  io: FirstRunIo,
): Promise<void> {
  const { operator } = io;
  if (operator === undefined) {
    if ((await findState(store, first)) === 'empty') for (const line of howToCreate) io.print(line);
    return;
  }
  // Before the keys exist, because they can be shown only now.
  if ((await findState(store, first)) === 'empty') await operator.prepare();
  if (await isFirst(store, first)) {
    // An earlier attempt may have created these although it failed.
    await createUnlessTaken(() => createProject({ store, randomInt: io.randomInt }, first.project, first.by));
    await createUnlessTaken(() => store.directory.createKey(first.recording.key, first.by));
    if (demo) {
      await loadEvents(store, io);
      await generateTraffic(store, first, io);
    }
    await operator.show('The first keys', describeKeys(url, first));
  } else if (demo) {
    io.warn('--demo: left out, because the database has projects already; start on a new one to see it');
  }
}

function plan({ keyPrefix, keyLifeMax, demo }: FirstRunOptions, { clock, randomInt }: FirstRunIo) {
  const by = { name: 'first start', address: null, at: clock.now() };
  const expiryOf = (type: KeyType) => {
    const expiry = parseExpiryWithin(defaultExpiry(type, keyLifeMax), by.at, keyLifeMax);
    return { expiresAt: expiry.ok ? expiry.value : null };
  };
  const common = { organizationId: DEFAULT_ORGANIZATION_ID };
  const named = demo ? SAMPLE_PROJECTS.events : { id: generateId(randomInt), name: 'First project' };
  const project = { ...common, ...named };
  const projectId = project.id;
  const maker = { vendor: keyPrefix, by, randomInt };
  const admin = { type: 'admin', id: firstKeyId, projectId: null, name: 'First admin key' } as const;
  const recording = { type: 'recording', projectId, name: 'First recording key' } as const;
  return {
    by,
    project,
    admin: generateApiKey({ ...common, ...admin, ...expiryOf('admin') }, maker),
    recording: generateApiKey({ ...common, ...recording, ...expiryOf('recording') }, maker),
  };
}

/** Printed instead of keys, if there is no place for them. */
const howToCreate = [
  'No project and no keys were created, because this output may be kept in a log. Create them with:',
  '  caller-stats project create NAME',
  '  caller-stats key create --name NAME',
];

/** Creates the first key. Returns false if the store is not empty, or another server was first. */
async function isFirst(store: Store, first: Plan): Promise<boolean> {
  const state = await findState(store, first);
  if (state !== 'empty') return state === 'begun';
  await createUnlessTaken(() => store.directory.createKey(first.admin.key, first.by));
  return (await findState(store, first)) === 'begun';
}

/** Whether the store has keys or projects; `begun` if it has the first key of this plan. */
async function findState(store: Store, { admin: { key } }: Plan): Promise<'empty' | 'begun' | 'used'> {
  const organizations = await store.directory.listOrganizations();
  // Keys first: on Citus, a node that is down would hide its projects.
  for (const { id } of organizations) {
    const keys = await store.directory.listKeys(id);
    if (keys.length > 0) return keys.some(({ hash }) => hash === key.hash) ? 'begun' : 'used';
  }
  for (const { id } of organizations) {
    if ((await store.directory.listProjects(id)).length > 0) return 'used';
  }
  return 'empty';
}

/** Shows a set-up link, at each start until the dashboard has an owner. A new one ends the older ones. */
async function showSetUpLink(store: Store, pagesUrl: string, io: FirstRunIo): Promise<void> {
  if (!(await store.directory.isSetUpOpen())) {
    io.print(`Dashboard: ${pagesUrl}/`);
    return;
  }
  if (io.operator === undefined) {
    io.print('The dashboard has no owner yet. Make a link for the first one with:');
    io.print('  caller-stats member invite EMAIL --role owner');
    return;
  }
  const by = { name: 'first start', address: null, at: io.clock.now() };
  const wanted = {
    organizationId: DEFAULT_ORGANIZATION_ID,
    email: null,
    role: 'owner',
    projects: [],
  } as const;
  const { token } = await inviteMember({ store, randomInt: io.randomInt }, wanted, by);
  await io.operator.show('The link that sets up the dashboard', [
    'Set up the dashboard (this link creates its first owner, and works once):',
    `  ${pagesUrl}/set-up#${token}`,
  ]);
}

async function loadEvents(store: Store, io: FirstRunIo): Promise<void> {
  const recordedEvents = fileURLToPath(new URL('demo/changes.ndjson.gz', io.packageFolder));
  const totals = await runImport({
    sources: [await openSource(recordedEvents)],
    selectReader: () => readJsonLines,
    strict: false,
    sink: (queries) =>
      recordQueries({ store, clock: io.clock }, { kind: 'demo' }, SAMPLE_PROJECTS.events.id, queries),
    clock: io.clock,
    progress: { advance: () => {}, show: () => {}, note: io.warn },
  });
  io.print(`A sample of real events was loaded: ${describeTotals(totals)}.`);
}

/** Up to the time of the plan: a second attempt generates the same queries. */
async function generateTraffic(store: Store, { project, by }: Plan, io: FirstRunIo): Promise<void> {
  const made = { organizationId: project.organizationId, ...SAMPLE_PROJECTS.traffic };
  const { id } = made;
  await createUnlessTaken(() => createProject({ store, randomInt: io.randomInt }, made, by));
  const batcher = new Batcher((queries) =>
    recordQueries({ store, clock: io.clock }, { kind: 'demo' }, id, queries),
  );
  for (const query of sampleTraffic(trafficSeed, by.at)) await batcher.add(query);
  await batcher.flush();
  io.print(`Sample traffic of an assistant, up to now, is in the project ${id}.`);
}

function describeKeys(url: string, { project, admin, recording }: Plan): string[] {
  const expiryOf = ({ key }: CreatedKey) => formatTime(key.expiresAt, 'never');
  const base = `${url}/v1/analytics/${project.id}/assistant`;
  return [
    '',
    'Created a first project and its keys. The keys are shown only once; the database stores only their hashes.',
    '',
    `  project        ${project.id}`,
    `  admin key      ${admin.secret}`,
    `  recording key  ${recording.secret}`,
    `  keys expire    admin ${expiryOf(admin)}, recording ${expiryOf(recording)}`,
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
}
