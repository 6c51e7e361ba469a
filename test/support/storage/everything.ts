import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { NO_COUNTS } from '../../../src/domain/ingestion/source-counts.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import type { Store } from '../../../src/storage/ports/store.js';
import { rightsOf } from '../users/people.js';
import { by, keyOf, projectOf } from './entities.js';
import { notificationOf } from './notifications.js';

/** Everything that a node and the commands do, with names of its own. */
export async function doAll(store: Store, name: string): Promise<void> {
  const of = (text: string) => `${text} of ${name}`;
  await store.maintenance.check();
  await store.directory.createOrganization({ id: name, name, createdAt: 1000 }, by);
  await store.directory.createProject(projectOf(name), by);
  await store.directory.listProjects('default');
  await store.directory.changeProject('default', name, { name: `new ${name}` }, by);
  await store.directory.createKey(keyOf(name), by);
  await store.directory.findAccess(`hash of ${name}`, name);
  await store.directory.touchKey(name, 2000);
  await store.directory.listKeys('default');
  await store.counts.record(name, [{ id: of('a'), caller: 'web', occurredAt: 0 }], {
    day: 0,
    sender: 'copy',
  });
  await store.counts.record(name, [{ id: of('b'), caller: of('b'), occurredAt: 0 }]);
  const query = { traceId: 'a'.repeat(32), service: 'docs' };
  const found = { keys: query, caller: 'unknown', isNamed: false, occurredAt: 1000 };
  const [id = ''] = (await store.identities.identify(name, [found], 'question', 1000)).queryIds;
  await store.counts.record(name, [{ ...found, id }]);
  const named = {
    keys: { ...query, entrySpanId: 'b'.repeat(16) },
    caller: 'web',
    isNamed: true,
    occurredAt: 1000,
  };
  const { callers, pending } = await store.identities.identify(name, [named], 'question', dayMs);
  await store.counts.record(name, pending);
  await store.identities.settle(name, [...callers.keys()], dayMs);
  const source = { kind: 'traces', name: 'docs', bucket: 0, seenAt: 0, counts: NO_COUNTS } as const;
  for (const seenAt of [0, 1])
    await store.ingestion.add(name, [{ ...source, seenAt, operations: new Map([['a=b', 1]]) }]);
  await store.ingestion.sum(name, 0);
  await store.ingestion.listSources(name);
  await store.ingestion.listOutdated({ bucketsBefore: 1, seenBefore: 2 });
  await store.ingestion.prune(name, { bucketsBefore: 1, seenBefore: 2 }, 10);
  await store.counts.importCounts(
    name,
    [{ source: of('old'), caller: of('slack'), start: 0, end: 5, count: 1 }],
    {
      day: 20_000,
    },
  );
  await store.counts.readImportedCounts(name, undefined, 1);
  await store.counts.findCutSpan(name, [0, 1]);
  await correct(store, name);
  await readAndManage(store, name);
}

async function correct(store: Store, name: string): Promise<void> {
  const of = (text: string) => `${text} of ${name}`;
  const reason = of('a test');
  for (const request of [
    { id: '1', reason, action: 'withdraw', selection: { ids: [of('a')] } },
    { id: '2', reason, action: 'withdraw', selection: { source: of('old') } },
    { id: '3', reason, action: 'undo', correction: '1' },
  ] as const) {
    await store.corrections.accept(name, request, by);
    while ((await store.corrections.step(name, 1000, 10)) !== undefined);
  }
  for (const { number: _, request, ...done } of await store.corrections.listFinished(name, 0, 1))
    await store.corrections.restore(name, { ...done, request: { ...request, id: '4' } });
  await store.corrections.restoreChanges(name, [
    { id: of('b'), changes: [{ correction: '4', caller: 'web' }] },
  ]);
  await store.corrections.restoreWithdrawals(name, [
    { source: of('old'), caller: of('slack'), start: 0, withdrawals: ['4'], withdrawnBy: '4' },
  ]);
}

async function readAndManage(store: Store, name: string): Promise<void> {
  await store.counts.readQueries(name, undefined, 10);
  await store.counts.count(name, ALL_TIME);
  await store.counts.countSeries(name, [0, 1]);
  await store.counts.countCallers(name, ALL_TIME);
  await store.counts.findExtent(name);
  const successor = keyOf(`${name}-successor`);
  await store.directory.rotateKey('default', name, successor, 5000, { ...by, at: 3000 });
  for (const change of ['disable', 'enable', 'revoke'] as const)
    await store.directory.changeKey('default', name, change, { ...by, at: 3000 });
  const member = {
    organizationId: name,
    email: 'a@example.org',
    role: 'viewer',
    projects: [],
    createdAt: 1000,
  } as const;
  const { notifications } = store;
  await notifications.create(notificationOf(name, { projectId: name }), by);
  const delivery = { id: name, occurrence: name, message: '{}', createdAt: 1000 };
  await notifications.endCheck(name, 1000, { checkAt: 2000, incidentAt: null, delivery });
  for (const claimed of await notifications.claim(1000, 1, 10))
    await notifications.endAttempt(claimed, { state: 'delivered' }, by);
  await notifications.prune(2000, 10);
  await notifications.remove('default', name, by);
  await store.directory.addMember(member, by);
  await store.directory.listMembers(name);
  await store.directory.changeMember(name, member.email, rightsOf('editor'), by);
  await store.directory.removeMember(name, member.email, by);
  await store.directory.readAudit(name, { limit: 10 });
  await store.directory.pruneAudit(0, 1);
  await store.maintenance.verify();
  await store.directory.deleteProject('default', name, by);
  while (!(await store.maintenance.purgeDeleted(1)).done);
}
