/** Several hosts in one URL, as libpq has them. */
import { describe, expect, test } from 'vitest';
import { HostsError, UnsuitableServer } from '../../../../src/storage/postgres/connection/errors.js';
import { Hosts, requireTarget } from '../../../../src/storage/postgres/connection/hosts.js';
import {
  type PostgresLocation,
  parsePostgresUrl,
  SESSION_TARGETS,
} from '../../../../src/storage/postgres/connection/location.js';

function locationOf(url: string): PostgresLocation {
  const location = parsePostgresUrl(url);
  if (!location.ok) throw new Error(location.problems.join());
  return location.value;
}

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

describe('a URL', () => {
  test.each([
    ['postgres://a:x/db', /a port that is not a number from 1 to 65535/],
    ['postgres://a:0/db', /a port that is not a number/],
    ['postgres://a:1,b:65536/db', /a port that is not a number/],
    ['postgres://a:1:2/db', /a port that is not a number/],
    ['postgres://a,/db', /a comma with no host before or after it/],
    ['postgres://,a/db', /a comma with no host/],
    ['postgres://a,,b/db', /a comma with no host/],
    ['postgres://::1/db', /a port that is not a number/],
    ['postgres://fe80::1,b/db', /a port that is not a number/],
    ['postgres://a[::1]/db', /a host with a colon; write an IPv6 address in brackets/],
    ['postgres://[::1/db', /a host with a colon|is not a URL/],
    ['postgres://[::g]/db', /a host that is not a name/],
    ['postgres://a%20b/db', /a host that is not a name/],
    ['postgres://a%2Cb/db', /a host that is not a name/],
    ['postgres:///db?host=a,b&port=1,2,3', /3 ports for 2 hosts; give one port for all of them/],
    ['postgres:///db?host=a:1', /a host that is not a name/],
    [
      'postgres://a/db?target_session_attrs=readwrite',
      /not one of any, read-write, read-only, primary, standby/,
    ],
    ['postgres://a/db?target_session_attrs=READ-WRITE', /a target_session_attrs that is not one of/],
    ['postgres://a/db?target_session_attr=primary', /nearly, but not quite, called target_session_attrs/],
    ['postgres://a/db?target_session_attrs=any&target_session_attrs=any', /target_session_attrs twice/],
    ['postgres://a/db?connect_timeout=soon', /connect_timeout that is not a whole number of seconds/],
    ['postgres://a,b/db?load_balance_hosts=random', /load_balance_hosts, which is not supported/],
  ])('%s is refused', (url, problem) => {
    expect(parsePostgresUrl(url)).toEqual({ ok: false, problems: [expect.stringMatching(problem)] });
  });

  test('that is wrong in several ways is refused with all of them, and without its password', () => {
    const found = parsePostgresUrl(
      'postgres://u:hunter2@a:x,/db?target_session_attrs=hunter2&sslmode=hunter2',
    );
    expect(found).toMatchObject({ ok: false, problems: { length: 4 } });
    expect(JSON.stringify(found)).not.toContain('hunter2');
  });

  test.each([
    ['postgres://a/db', ['a -']],
    ['postgres://u:p@a:1,b:2/db', ['a 1', 'b 2']],
    ['postgres://a,b:2/db', ['a 5432', 'b 2']],
    ['postgres://a,b/db?port=6000', ['a 6000', 'b 6000']],
    ['postgres:///db?host=a,b&port=1,2', ['a 1', 'b 2']],
    ['postgres://x:7/db?host=a,b', ['a 7', 'b 7']],
    ['postgres://[::1]:1,[fe80::1%25eth0],127.0.0.1:3/db', ['::1 1', 'fe80::1%eth0 5432', '127.0.0.1 3']],
    ['postgres:///db?host=::1,b', ['::1 -', 'b -']],
    ['postgres://%2Fvar%2Frun,b/db', ['/var/run -', 'b -']],
    ['postgres:///db', ['- -']],
    ['postgres://:1/db', ['- 1']],
  ])('%s names its hosts', (url, hosts) => {
    const named = locationOf(url).hosts.map(({ host = '-', port = '-' }) => `${host} ${port}`);
    expect(named).toEqual(hosts);
  });

  test('keeps what follows the hosts, and no password in its name', () => {
    const location = locationOf(
      'postgres://u:hunt%2Cer2@a:1,[::1]:2/db?sslmode=require&schema=s&target_session_attrs=primary&connect_timeout=3',
    );
    expect(location).toMatchObject({
      config: { user: 'u', password: 'hunt,er2', database: 'db', ssl: { rejectUnauthorized: false } },
      target: 'primary',
      connectTimeoutMs: 3000,
      schema: 's',
      name: 'a:1,[::1]:2/db, schema s',
    });
    expect(location.config).not.toHaveProperty('host');
  });
});

describe('a server', () => {
  const primary = { isStandby: false, isReadOnly: false };
  const readOnly = { isStandby: false, isReadOnly: true };
  const standby = { isStandby: true, isReadOnly: true };
  /** As in libpq's documentation. */
  const fits = {
    any: [primary, readOnly, standby],
    'read-write': [primary],
    'read-only': [readOnly, standby],
    primary: [primary, readOnly],
    standby: [standby],
    // Of the hosts, the standbys are asked first.
    'prefer-standby': [primary, readOnly, standby],
  };

  test.each(SESSION_TARGETS)('fits target_session_attrs=%s or is refused', (target) => {
    for (const state of [primary, readOnly, standby]) {
      const check = () => requireTarget(target, state);
      if (fits[target].includes(state)) check();
      else expect(check).toThrow(UnsuitableServer);
    }
  });
});

describe('the hosts', () => {
  const hostsOf = (url: string) => new Hosts(locationOf(url), 6000);

  test('are left in turn, and once for all connections that fail', () => {
    const hosts = hostsOf('postgres://a,b,c/db');
    const first = hosts.current;
    expect(first).toMatchObject({ host: 'a', target: 'any' });
    hosts.leave(first, refused);
    hosts.leave(first, refused);
    expect(hosts.current).toMatchObject({ host: 'b' });
    hosts.keep(hosts.current);
    expect(hosts.current).toMatchObject({ host: 'b' });
    hosts.leave(hosts.current, refused);
    hosts.leave(hosts.current, refused);
    expect(hosts.current).toBe(first);
  });

  test('are not left for another error than one that may pass', () => {
    const hosts = hostsOf('postgres://a,b/db');
    const first = hosts.current;
    hosts.leave(first, new TypeError('a bug'));
    expect(hosts.current).toBe(first);
    const own = new TypeError('a bug');
    expect(hosts.explain(own)).toBe(own);
  });

  test('share the time for connecting, unless the URL says how long each may take', () => {
    expect(hostsOf('postgres://a/db').connectTimeoutMs).toBe(6000);
    expect(hostsOf('postgres://a,b,c/db').connectTimeoutMs).toBe(2000);
    expect(hostsOf('postgres://a,b/db?connect_timeout=1').connectTimeoutMs).toBe(1000);
    expect(hostsOf('postgres://a,b/db?connect_timeout=60').connectTimeoutMs).toBe(6000);
  });

  test('are explained together, and a single one by its own error', () => {
    const hosts = hostsOf('postgres://a,b/db?target_session_attrs=primary');
    hosts.leave(hosts.current, refused);
    const unsuitable = new UnsuitableServer('it is a standby');
    hosts.leave(hosts.current, unsuitable);
    const error = hosts.explain(unsuitable);
    expect(error).toBeInstanceOf(HostsError);
    expect([...(error as HostsError).failures]).toEqual([
      ['a', refused],
      ['b', unsuitable],
    ]);
    const single = hostsOf('postgres://a/db');
    single.leave(single.current, refused);
    expect(single.explain(refused)).toBe(refused);
  });

  test('that prefer a standby ask for one first, then take any, and ask again', () => {
    const hosts = hostsOf('postgres://a,b/db?target_session_attrs=prefer-standby');
    expect(hosts.size).toBe(4);
    const seen = [1, 2, 3].map(() => {
      const { host, target } = hosts.current;
      hosts.leave(hosts.current, refused);
      return { host, target };
    });
    expect(seen).toEqual([
      { host: 'a', target: 'standby' },
      { host: 'b', target: 'standby' },
      { host: 'a', target: 'any' },
    ]);
    hosts.keep(hosts.current);
    expect(hosts.current).toMatchObject({ host: 'a', target: 'standby' });
  });

  test('lose their older connections when one of them refuses to write', () => {
    const hosts = hostsOf('postgres://a,b/db?target_session_attrs=read-write');
    const first = hosts.current;
    hosts.distrust(first, new UnsuitableServer('it is read-only'));
    expect(hosts.generationOf(first)).toBe(1);
    expect(hosts.current).toMatchObject({ host: 'b' });
    expect(hosts.generationOf(hosts.current)).toBe(0);
    const reading = hostsOf('postgres://a,b/db?target_session_attrs=standby');
    reading.distrust(reading.current, new UnsuitableServer('it is read-only'));
    expect(reading.generationOf(reading.current)).toBe(0);
  });
});
