/** Ways to a server: encrypted and verified, or refused; with a client's certificate; through a socket. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from '../../../src/storage/open.js';
import { certificateFor, newAuthority } from '../../support/postgres/certificates.js';
import { installations, type PostgresServer, startPostgres } from '../../support/postgres/postgres-server.js';
import { onDatabase, openForTest } from '../../support/storage/store.js';

/** Where nobody gets in without encryption. */
const database = 'counts';

describe.each(installations().map((one) => [one.version, one] as const))(
  'on PostgreSQL %s',
  (_version, installation) => {
    let folder = '';
    let server: PostgresServer | undefined;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'caller-stats-tls-'));
      // The server's user puts its socket there.
      await chmod(folder, 0o777);
      const [ca, other] = [await newAuthority('Test CA'), await newAuthority('Test CA')];
      const [host, client] = [await certificateFor('localhost', ca), await certificateFor('certified', ca)];
      const files = {
        'ca.crt': ca.cert,
        'other.crt': other.cert,
        'client.crt': client.cert,
        'client.key': client.key,
      };
      for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
      server = await startPostgres(installation, {
        settings: {
          ssl: 'on',
          ssl_cert_file: 'server.crt',
          ssl_key_file: 'server.key',
          ssl_ca_file: 'ca.crt',
          unix_socket_directories: folder,
        },
        files: { 'server.crt': host.cert, 'server.key': host.key, 'ca.crt': ca.cert },
        access: [
          `hostssl ${database} certified all cert`,
          `hostssl ${database} all all scram-sha-256`,
          `hostnossl ${database} all all reject`,
        ],
      });
      await onDatabase(server.url(), async (one) => {
        await one.query(`CREATE DATABASE ${database}`);
        await one.query(`CREATE ROLE certified LOGIN; GRANT ALL ON DATABASE ${database} TO certified`);
      });
    });

    afterAll(async () => {
      await server?.stop();
      await rm(folder, { recursive: true, force: true });
    });

    /** The database's URL with parameters; a file is named by its name alone. */
    function urlWith(
      parameters: Readonly<Record<string, string>>,
      host = 'localhost',
      user?: string,
    ): string {
      // Not dropped: it goes with the server.
      const url = new URL(`${server?.url(database)}?schema=test_${randomBytes(8).toString('hex')}`);
      url.hostname = host;
      if (user !== undefined) Object.assign(url, { username: user, password: '' });
      for (const [name, value] of Object.entries(parameters)) {
        url.searchParams.set(name, /\.(crt|key)$/.test(value) ? join(folder, value) : value);
      }
      return url.href;
    }

    /** Whether the connections that bear this name are encrypted, in the server's own words. */
    async function encryptedAs(name: string): Promise<boolean[]> {
      const { rows } = await onDatabase(String(server?.url()), (client) =>
        client.query(
          'SELECT DISTINCT ssl FROM pg_stat_activity JOIN pg_stat_ssl USING (pid) WHERE application_name = $1',
          [name],
        ),
      );
      return rows.map(({ ssl }) => Boolean(ssl));
    }

    const needsTls = /refuses this user from this address.+\(sslmode=require\)/;
    const untrusted = /its certificate is not trusted; name the certificate of its CA with sslrootcert/;
    const otherName = /its certificate is for another host name/;

    test.each([
      ['no sslmode', {}, 'localhost', needsTls],
      ['disable', { sslmode: 'disable' }, 'localhost', needsTls],
      ['require with the wrong CA', { sslmode: 'require', sslrootcert: 'other.crt' }, 'localhost', untrusted],
      [
        'verify-ca with the wrong CA',
        { sslmode: 'verify-ca', sslrootcert: 'other.crt' },
        'localhost',
        untrusted,
      ],
      ['verify-full with no CA', { sslmode: 'verify-full' }, 'localhost', untrusted],
      [
        'verify-full with the wrong CA',
        { sslmode: 'verify-full', sslrootcert: 'other.crt' },
        'localhost',
        untrusted,
      ],
      [
        'verify-full at another name',
        { sslmode: 'verify-full', sslrootcert: 'ca.crt' },
        '127.0.0.1',
        otherName,
      ],
    ])('rejects %s', async (_what, parameters, host, message) => {
      await expect(openStore(urlWith(parameters, host))).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(message),
      });
    });

    test.each([
      ['prefer', { sslmode: 'prefer' }, '127.0.0.1'],
      ['require', { sslmode: 'require' }, '127.0.0.1'],
      ['require with the right CA', { sslmode: 'require', sslrootcert: 'ca.crt' }, '127.0.0.1'],
      ['verify-ca, whatever the name', { sslmode: 'verify-ca', sslrootcert: 'ca.crt' }, '127.0.0.1'],
      ['verify-full', { sslmode: 'verify-full', sslrootcert: 'ca.crt' }, 'localhost'],
    ])('connects with %s, encrypted', async (what, parameters, host) => {
      const store = await openForTest(urlWith({ ...parameters, application_name: what }, host));
      await store.maintenance.check();
      expect(await encryptedAs(what)).toEqual([true]);
    });

    test('accepts a client certificate and refuses a client without one', async () => {
      const verified = { sslmode: 'verify-full', sslrootcert: 'ca.crt' };
      const certified = { ...verified, sslcert: 'client.crt', sslkey: 'client.key' };
      await (await openForTest(urlWith(certified, 'localhost', 'certified'))).maintenance.check();
      await expect(openStore(urlWith(verified, 'localhost', 'certified'))).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(/refuses this user/),
      });
      await expect(openStore(urlWith(certified, 'localhost', 'other'))).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(/wants a password/),
      });
    });

    test('finds a socket by its folder', async () => {
      const { username, password, port, search } = new URL(urlWith({ application_name: 'by socket' }));
      const url = `postgres://${username}:${password}@/${database}${search}&host=${folder}&port=${port}`;
      await (await openForTest(url)).maintenance.check();
      expect(await encryptedAs('by socket')).toEqual([false]);
      await expect(openStore(url.replace(`port=${port}`, 'port=1'))).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(/its socket is not there/),
      });
    });
  },
);
