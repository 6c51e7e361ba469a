/** Floods from many addresses: nothing but refusals, no rows without limit, and everybody else is served. */
import { expect, test } from 'vitest';
import { Browser, PASSWORD, signedIn } from '../../support/http/dashboard.js';
import { QUERIES, type Service, STATS, startService } from '../../support/http/http.js';
import { databases } from '../../support/storage/store.js';
import { runOnUsers } from '../../support/users/people.js';

const ada = 'ada@example.org';
const requests = 500;
const parallel = 64;

/** Sends requests until all are answered, `parallel` at a time; returns how often each status came. */
async function flood(
  send: (at: number) => Promise<{ readonly status: number }>,
): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  let sent = 0;
  const work = async () => {
    while (sent < requests) {
      const { status } = await send(sent++);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return statuses;
}

const rowsOf = async ({ store }: Service, table: string) =>
  (await runOnUsers(store, `SELECT count(*) AS rows FROM {${table}}`)).rows[0]?.['rows'];

test.each(databases)(
  'a flood of passwords and links leaves the rest as it is: %s',
  async (_kind, newDatabase) => {
    const service = await startService({ database: newDatabase() });
    const owner = await signedIn(service, ada, 'owner');
    const tables = ['user_account', 'user_session', 'user_verification', 'user_credential'];
    const before = await Promise.all(tables.map((table) => rowsOf(service, table)));
    const from = (at: number) => `198.51.${at % 256}.${Math.floor(at / 256)}`;
    const floods = [
      flood((at) => new Browser(service, from(at)).signIn(`nobody${at}@example.org`, `wrong guess ${at}`)),
      flood((at) => new Browser(service, from(at)).signIn(ada, `wrong guess ${at}`)),
      flood((at) =>
        new Browser(service, from(at)).send({
          path: '/api/password-reset',
          body: { token: `no such token ${at}`, password: PASSWORD },
        }),
      ),
      flood((at) =>
        new Browser(service, from(at)).send({
          path: '/api/invitations/look-up',
          body: { token: `none ${at}` },
        }),
      ),
    ];
    const known = owner.copy();
    for (let at = 0; at < 20; at++) {
      const body = JSON.stringify({ id: `during ${at}`, caller: 'web' });
      const recorded = await service.send({
        method: 'POST',
        path: QUERIES,
        headers: { 'content-type': 'application/json' },
        body,
      });
      expect(recorded.status).toBe(200);
      expect((await service.send({ path: STATS })).status).toBe(200);
      expect((await owner.send({ path: '/api/organizations/default/keys' })).status).toBe(200);
    }
    expect((await known.signIn(ada)).status).toBe(200);
    const [strangers, guesses, resets, links] = await Promise.all(floods);
    for (const statuses of [strangers, guesses])
      expect([...(statuses?.keys() ?? [])].filter((status) => ![401, 429, 503].includes(status))).toEqual([]);
    expect(guesses?.get(401) ?? 0).toBeLessThanOrEqual(10);
    for (const statuses of [resets, links])
      expect([...(statuses?.keys() ?? [])].filter((status) => ![404, 503].includes(status))).toEqual([]);
    expect(JSON.parse((await service.send({ path: STATS })).text)).toMatchObject({ total: 20 });
    // One session more: that of the sign-in above, which replaced none.
    await known.ask({ path: '/api/sign-out', body: {} }, 204);
    const after = await Promise.all(tables.map((table) => rowsOf(service, table)));
    expect(after.map(Number)).toEqual(
      before.map((rows, at) => Number(rows) - (tables[at] === 'user_session' ? 1 : 0)),
    );
  },
);
