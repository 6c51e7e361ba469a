/** Notifications: each check ends once, and each message is sent by one node at a time, however many ask for it. */
import { describe, expect, test } from 'vitest';
import { notificationsMax } from '../../src/domain/limits.js';
import { messageWaitMsMax } from '../../src/domain/notifications/delivery.js';
import { CHECKS_AHEAD_MS } from '../../src/domain/notifications/schedule.js';
import { hourMs } from '../../src/domain/time/duration.js';
import type { Store } from '../../src/storage/ports/store.js';
import { notificationOf } from '../support/storage/notifications.js';
import { by, type PlaceFactory, projectOf } from '../support/storage/store.js';

const organization = 'default';
const leaseMs = 1000;
const notFound = { code: 'not_found' };

const deliveryOf = (id: string, createdAt = 2000) => ({
  id,
  occurrence: `occurrence ${id}`,
  message: JSON.stringify({ title: id }),
  createdAt,
});

export function describeNotifications(kind: string, factory: PlaceFactory): void {
  /** Handles on one store with the projects `docs` and `blog`, and a notification `n` of `docs`. */
  const openHandles = async (count = 2): Promise<Store[]> => {
    const { open } = await factory();
    const handles: Store[] = [];
    for (let at = 0; at < count; at++) handles.push(await open());
    const [store] = handles as [Store];
    await store.directory.createOrganization({ id: 'rival', name: 'Rival', createdAt: 1000 }, by);
    for (const id of ['docs', 'blog']) await store.directory.createProject(projectOf(id), by);
    await store.notifications.create(notificationOf('n'), by);
    return handles;
  };
  const openOne = async (): Promise<Store> => (await openHandles(1))[0] as Store;

  /** Ends the check of `n` with a message to deliver. */
  const addDelivery = async ({ notifications }: Store, id: string, createdAt = 2000): Promise<void> => {
    const found = await notifications.findById(organization, 'n');
    const result = { checkAt: (found?.checkAt ?? 0) + 1, incidentAt: null };
    const delivery = deliveryOf(id, createdAt);
    expect(await notifications.endCheck('n', found?.checkAt ?? 0, { ...result, delivery })).toBe(true);
  };

  const claimOne = async ({ notifications }: Store, nowMs: number) => {
    const [claimed] = await notifications.claim(nowMs, leaseMs, 1);
    if (claimed === undefined) throw new Error(`nothing is due at ${nowMs}`);
    return claimed;
  };

  const auditOf = async (store: Store) =>
    (await store.directory.readAudit(organization, { limit: 100 }))
      .filter(({ action }) => action.startsWith('notification.'))
      .map(({ action, targetId, detail }) => `${action} ${targetId}: ${detail}`);

  describe(`${kind}: notifications`, () => {
    test('are refused for projects that are not there, and found by nobody else', async () => {
      const { notifications } = await openOne();
      for (const wrong of [{ projectId: 'none' }, { organizationId: 'rival' }])
        await expect(notifications.create(notificationOf('m', wrong), by)).rejects.toMatchObject(notFound);
      for (const [owner, id] of [
        ['rival', 'n'],
        [organization, 'none'],
      ] as const) {
        await expect(notifications.change(owner, id, { hours: 1 }, by)).rejects.toMatchObject(notFound);
        await expect(notifications.remove(owner, id, by)).rejects.toMatchObject(notFound);
        await expect(notifications.logTest(owner, id, 'accepted', by)).rejects.toMatchObject(notFound);
        expect(await notifications.findById(owner, id)).toBeUndefined();
      }
      expect(await notifications.listNotifications('rival', 'docs')).toEqual([]);
      expect(await notifications.listNotifications(organization, 'docs')).toEqual([notificationOf('n')]);
    });

    test('are at most so many, also if they are added at once', async () => {
      const handles = await openHandles(3);
      const added = await Promise.allSettled(
        Array.from({ length: notificationsMax + 5 }, (_, at) =>
          handles[at % 3]?.notifications.create(notificationOf(`more ${at}`), by),
        ),
      );
      const refused = added.filter(({ status }) => status === 'rejected');
      expect(refused).toHaveLength(6);
      for (const one of refused) expect(one).toMatchObject({ reason: { code: 'invalid' } });
      const [store] = handles as [Store];
      expect(await store.notifications.listNotifications(organization, 'docs')).toHaveLength(
        notificationsMax,
      );
      await store.notifications.create(notificationOf('of another', { projectId: 'blog' }), by);
    });

    test('change, keep what is left out, and are in the audit log', async () => {
      const store = await openOne();
      const { notifications } = store;
      const change = { kind: 'silence', period: null, hours: 3, incidentAt: 5 } as const;
      const changed = notificationOf('n', change);
      expect(await notifications.change(organization, 'n', change, by)).toEqual(changed);
      expect(await notifications.findById(organization, 'n')).toEqual(changed);
      await notifications.create(notificationOf('m', { projectId: 'blog' }), by);
      const spike = {
        kind: 'spike',
        period: null,
        hours: 4,
        factor: 3,
        minimum: 2,
      } as const;
      const moved = {
        channel: 'slack',
        destination: 'sealed',
        shownDestination: 'slack.com',
        checkAt: 7,
      } as const;
      await notifications.change(organization, 'm', { ...spike, ...moved, incidentAt: 8 }, by);
      expect(await notifications.listNotifications(organization, 'blog')).toEqual([
        notificationOf('m', { projectId: 'blog', ...spike, ...moved, incidentAt: 8 }),
      ]);
      await notifications.logTest(organization, 'n', 'accepted', by);
      await notifications.remove(organization, 'n', by);
      expect(await notifications.listNotifications(organization, 'docs')).toEqual([]);
      const silence = 'nothing recorded for 3 hours by webhook to hooks.example.org';
      const digest = 'weekly digest by webhook to hooks.example.org';
      expect((await auditOf(store)).filter((entry) => entry.includes(' docs: '))).toEqual([
        `notification.delete docs: ${silence}`,
        `notification.test docs: ${silence}: accepted`,
        `notification.change docs: ${digest}, now ${silence}`,
        `notification.create docs: ${digest}`,
      ]);
    });

    test('go with their project, and with their messages', async () => {
      const store = await openOne();
      await store.notifications.create(notificationOf('other', { projectId: 'blog', checkAt: 5000 }), by);
      await addDelivery(store, 'm');
      await store.directory.deleteProject(organization, 'docs', by);
      expect(await store.notifications.findDue(9000, 10)).toMatchObject([{ id: 'other' }]);
      expect(await store.notifications.claim(9000, leaseMs, 10)).toEqual([]);
      expect(await store.notifications.listDeliveries(organization, 'docs', 10)).toEqual([]);
    });

    test('are due from their time on, the longest overdue first', async () => {
      const { notifications } = await openOne();
      await notifications.create(notificationOf('overdue', { checkAt: 500 }), by);
      expect(await notifications.findDue(499, 10)).toEqual([]);
      expect(await notifications.findDue(500, 10)).toMatchObject([{ id: 'overdue' }]);
      expect(await notifications.findDue(1000, 10)).toMatchObject([{ id: 'overdue' }, { id: 'n' }]);
      expect(await notifications.findDue(1000, 1)).toMatchObject([{ id: 'overdue' }]);
    });

    test('are due at once if their time lies too far ahead, as after a clock that was wrong', async () => {
      const { notifications } = await openOne();
      const nowMs = 1e12;
      const late = {
        digest: { checkAt: nowMs + CHECKS_AHEAD_MS.digest },
        silence: {
          kind: 'silence',
          period: null,
          hours: 744,
          checkAt: nowMs + CHECKS_AHEAD_MS.silence + 744 * hourMs,
        },
        spike: { kind: 'spike', period: null, factor: 3, minimum: 1, checkAt: nowMs + CHECKS_AHEAD_MS.spike },
      } as const;
      for (const [id, one] of Object.entries(late)) await notifications.create(notificationOf(id, one), by);
      const dueAt = async (at: number) =>
        (await notifications.findDue(at, 10)).map(({ id }) => id).toSorted();
      expect(await dueAt(nowMs)).toEqual(['n']);
      expect(await dueAt(nowMs - 1)).toEqual(['digest', 'n', 'silence', 'spike']);
    });

    test('have one node that ends a check, of any number that try', async () => {
      const handles = await openHandles(4);
      const ended = await Promise.all(
        Array.from({ length: 12 }, (_, at) =>
          handles[at % 4]?.notifications.endCheck('n', 1000, {
            checkAt: 3000,
            incidentAt: at,
            delivery: deliveryOf(`by ${at}`),
          }),
        ),
      );
      expect(ended.filter(Boolean)).toHaveLength(1);
      const winner = ended.indexOf(true);
      const { notifications } = handles[0] as Store;
      expect(await notifications.findById(organization, 'n')).toMatchObject({ incidentAt: winner });
      const deliveries = await notifications.listDeliveries(organization, 'docs', 100);
      expect(deliveries.map(({ id }) => id)).toEqual([`by ${winner}`]);
      expect(
        await notifications.endCheck('none', 1000, { checkAt: 1, incidentAt: null, delivery: null }),
      ).toBe(false);
    });

    test('have one message for each occurrence, whatever the clock does', async () => {
      const { notifications } = await openOne();
      const first = { checkAt: 900, incidentAt: null, delivery: deliveryOf('m') };
      expect(await notifications.endCheck('n', 1000, first)).toBe(true);
      const again = { ...deliveryOf('m'), message: 'another', createdAt: 5 };
      expect(
        await notifications.endCheck('n', 900, { checkAt: 2000, incidentAt: null, delivery: again }),
      ).toBe(true);
      const deliveries = await notifications.listDeliveries(organization, 'docs', 10);
      expect(deliveries).toMatchObject([{ id: 'm', message: deliveryOf('m').message }]);
    });
  });

  describe(`${kind}: messages`, () => {
    test('go to one node at a time, of any number that ask', async () => {
      const handles = await openHandles(4);
      const ids = Array.from({ length: 10 }, (_, at) => `m${at}`);
      for (const id of ids) await addDelivery(handles[0] as Store, id);
      const claimed = await Promise.all(
        Array.from({ length: 12 }, (_, at) => handles[at % 4]?.notifications.claim(2000, leaseMs, 3)),
      );
      expect(claimed.flatMap((some) => some?.map(({ id }) => id) ?? []).toSorted()).toEqual(ids);
      for (const some of claimed) expect(some?.length).toBeLessThanOrEqual(3);
    });

    test('are sent at once if their time lies too far ahead', async () => {
      const store = await openOne();
      await addDelivery(store, 'm');
      await store.notifications.claim(2000 + messageWaitMsMax, leaseMs, 1);
      expect(await store.notifications.claim(2000 + leaseMs, leaseMs, 1)).toEqual([]);
      expect(await store.notifications.claim(1999 + leaseMs, leaseMs, 1)).toMatchObject([{ id: 'm' }]);
    });

    test('say where they go, as it is now', async () => {
      const store = await openOne();
      await addDelivery(store, 'm');
      await store.notifications.change(organization, 'n', { destination: 'new' }, by);
      expect(await store.notifications.claim(1999, leaseMs, 10)).toEqual([]);
      const claimed = await claimOne(store, 2000);
      const { message } = deliveryOf('m');
      expect(claimed).toMatchObject({
        id: 'm',
        kind: 'digest',
        channel: 'webhook',
        destination: 'new',
        message,
      });
      expect(claimed).toMatchObject({ attempts: 1, projectId: 'docs', organizationId: organization });
    });

    test('of a node that crashed go to another one when its lease ends', async () => {
      const [one, other] = (await openHandles()) as [Store, Store];
      await addDelivery(one, 'm');
      const crashed = await claimOne(one, 2000);
      expect(await other.notifications.claim(2000 + leaseMs - 1, leaseMs, 10)).toEqual([]);
      const taken = await claimOne(other, 2000 + leaseMs);
      expect(taken).toMatchObject({ id: 'm', attempts: 2 });
      // A late failure changes nothing; a late success does.
      const failed = { state: 'failed', error: 'late' } as const;
      expect(await one.notifications.endAttempt(crashed, failed, by)).toBe(false);
      expect(await one.notifications.endAttempt(crashed, { state: 'delivered' }, by)).toBe(true);
      expect(await other.notifications.endAttempt(taken, { state: 'delivered' }, by)).toBe(false);
      expect(await other.notifications.claim(9000, leaseMs, 10)).toEqual([]);
    });

    test('are tried again at their time, then given up, and the end is in the audit log', async () => {
      const store = await openOne();
      const { notifications } = store;
      await addDelivery(store, 'm');
      const first = await claimOne(store, 2000);
      const later = { state: 'pending', nextAt: 4000, error: 'no answer' } as const;
      expect(await notifications.endAttempt(first, later, by)).toBe(true);
      expect(await notifications.claim(3999, leaseMs, 10)).toEqual([]);
      const second = await claimOne(store, 4000);
      expect(second).toMatchObject({ attempts: 2, lastError: 'no answer' });
      const end = { ...by, at: 4100 };
      expect(await notifications.endAttempt(second, { state: 'failed', error: 'still none' }, end)).toBe(
        true,
      );
      expect(await notifications.listDeliveries(organization, 'docs', 10)).toMatchObject([
        { state: 'failed', attempts: 2, lastError: 'still none', finishedAt: 4100 },
      ]);
      await addDelivery(store, 'k');
      const third = await claimOne(store, 5000);
      await notifications.endAttempt(third, { state: 'delivered' }, end);
      const digest = 'weekly digest by webhook to hooks.example.org';
      expect((await auditOf(store)).slice(0, 2)).toEqual([
        `notification.deliver docs: ${digest}: k`,
        `notification.fail docs: ${digest}: m; still none`,
      ]);
    });

    test('are listed newest first and removed some time after their end, never before', async () => {
      const store = await openOne();
      const { notifications } = store;
      for (const [at, id] of ['a', 'b', 'c'].entries()) await addDelivery(store, id, 2000 + at);
      const a = await claimOne(store, 9000);
      const b = await claimOne(store, 9000);
      await notifications.endAttempt(a, { state: 'delivered' }, { ...by, at: 5000 });
      await notifications.endAttempt(b, { state: 'delivered' }, { ...by, at: 6000 });
      const listed = async () =>
        (await notifications.listDeliveries(organization, 'docs', 2)).map(({ id }) => id);
      expect(await listed()).toEqual(['c', 'b']);
      expect(await notifications.listDeliveries('rival', 'docs', 2)).toEqual([]);
      expect(await notifications.prune(5000, 10)).toBe(0);
      expect(await notifications.prune(10_000, 1)).toBe(1);
      expect(await notifications.prune(10_000, 10)).toBe(1);
      expect(await listed()).toEqual(['c']);
    });

    test('go to a destination that is encrypted anew only if it has not changed meanwhile', async () => {
      const { notifications } = await openOne();
      await notifications.create(notificationOf('m', { destination: 'newer' }), by);
      await notifications.reseal('n', 'sealed destination of n', 'anew');
      await notifications.reseal('m', 'older', 'anew');
      expect(await notifications.listDestinations()).toEqual([
        { id: 'm', destination: 'newer' },
        { id: 'n', destination: 'anew' },
      ]);
    });
  });
}
