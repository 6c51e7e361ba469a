/**
 * `npm run keep-schema` keeps a database of the newest schema version of each store in `test/samples/schemas`, as the program
 * makes it today: tests upgrade each of them. To be run when a migration is added, because nothing can make them later.
 *
 * What is kept is made by the program's commands alone, so that it has whatever its users may have. The dump of PostgreSQL needs
 * `pg_dump`, of the server's version or a newer one.
 *
 * `npm run keep-schema -- MAIN_JS VERSION` does so with another build, whose schema has an older version. So the first four were
 * made, by the builds of their time.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { MIGRATIONS } from '../src/storage/sqlite/migrations/index.js';
import { olderPostgres, startPostgres } from '../test/support/postgres-server.js';

const folder = fileURLToPath(new URL('../test/samples/schemas/', import.meta.url));
const queries = join(folder, 'queries.ndjson');
const person = { name: 'Ada', email: 'ada@example.org', password: 'a long enough passphrase' };

/** The program on a database. */
class Program {
  readonly #main: string;
  readonly #database: string;

  constructor(main: string, database: string) {
    this.#main = main;
    this.#database = database;
  }

  run(...args: string[]): string {
    const command = [this.#main, ...args, '--database', this.#database];
    return execFileSync(process.execPath, command, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  }

  /** What it prints with `--json`. */
  ask<T>(...args: string[]): T {
    return JSON.parse(this.run(...args, '--json')) as T;
  }

  /** The key. */
  createKey(...args: string[]): string {
    return this.run('key', 'create', ...args, '--expires', 'never').trim();
  }

  async whileServing(work: (url: string) => Promise<void>): Promise<void> {
    const args = [this.#main, 'serve', '--port', '0', '--database', this.#database];
    const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      for await (const line of createInterface({ input: server.stdout })) {
        const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
        if (url !== undefined) return await work(url);
      }
      throw new Error('the server ended without an address');
    } finally {
      const gone = server.exitCode === null ? once(server, 'exit') : undefined;
      server.kill('SIGTERM');
      await gone;
    }
  }
}

/** Makes what there is in a database, as far as programs of that schema can. Gives what nobody can read out of it. */
async function make(program: Program, version: number): Promise<object> {
  program.run('project', 'create', 'Docs', '--id', 'docs');
  program.run('project', 'create', 'Help', '--id', 'help');
  program.run('import', queries, '--project', 'docs');
  const keys = {
    admin: program.createKey('--name', 'Reader'),
    recording: program.createKey('--name', 'Recorder', '--type', 'recording', '--project', 'docs'),
    revoked: program.createKey('--name', 'Lost'),
  };
  const lost = program.ask<{ id: string; name: string }[]>('key', 'list').find(({ name }) => name === 'Lost');
  program.run('key', 'revoke', lost?.id ?? '');
  if (version >= 2) {
    program.run('organization', 'create', 'Rival', '--id', 'rival');
    program.run('member', 'add', 'grace@example.org', '--role', 'editor');
  }
  if (version >= 5) {
    program.run('project', 'change', 'help', '--time-zone', 'Europe/Berlin', '--retention-days', '400');
    const { link } = program.ask<{ link: string }>('member', 'invite', person.email, '--role', 'owner');
    await program.whileServing((url) => accept(url, new URL(link).hash.slice(1)));
  }
  return { keys, ...(version >= 5 ? { person } : {}) };
}

async function accept(url: string, token: string): Promise<void> {
  const { name, password } = person;
  const answer = await fetch(`${url}/api/invitations/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ token, name, password }),
  });
  if (!answer.ok) throw new Error(`no account was made: ${answer.status} ${await answer.text()}`);
}

async function keepSqlite(main: string, version: number, temporary: string): Promise<void> {
  const file = join(temporary, 'kept.db');
  const made = await make(new Program(main, `sqlite:${file}`), version);
  if (existsSync(`${file}-wal`)) throw new Error(`${file} is still open`);
  keep(`sqlite-${version}`, readFileSync(file), 'db', made);
}

async function keepPostgres(main: string, version: number): Promise<void> {
  const server = await startPostgres(olderPostgres());
  try {
    const made = await make(new Program(main, server.url()), version);
    const plain = ['--schema=caller_stats', '--no-owner', '--no-privileges', '--rows-per-insert=100'];
    const dump = execFileSync('pg_dump', [server.url(), ...plain], { encoding: 'utf8' });
    // Words for psql, which a driver does not know.
    const sql = dump.replace(/^\\(?:un)?restrict .*\n/gm, '');
    keep(`postgres-${version}`, Buffer.from(sql), 'sql', made);
  } finally {
    await server.stop();
  }
}

/** Without the time in it, so that the same gives the same file. */
function keep(name: string, content: Buffer, suffix: string, made: object): void {
  writeFileSync(join(folder, `${name}.${suffix}.gz`), gzipSync(content, { level: 9 }));
  writeFileSync(join(folder, `${name}.json.gz`), gzipSync(JSON.stringify(made)));
  process.stdout.write(`kept ${name}\n`);
}

const [main = fileURLToPath(new URL('../dist/main.js', import.meta.url)), version = MIGRATIONS.length] =
  process.argv.slice(2);
const temporary = mkdtempSync(join(tmpdir(), 'caller-stats-keep-'));
try {
  await keepSqlite(main, Number(version), temporary);
  await keepPostgres(main, Number(version));
} finally {
  rmSync(temporary, { recursive: true });
}
