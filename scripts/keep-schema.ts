/**
 * `npx tsx scripts/keep-schema.ts` creates a database with the newest schema version of each store in `test/samples/schemas`;
 * tests upgrade each of them. Run it when you add a migration, because later versions cannot create these files. It
 * uses only the program's commands, so that the databases look like those of users. PostgreSQL's dump needs `pg_dump`
 * of at least the server's version.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { NEWEST_VERSION } from '../src/storage/sqlite/migrations/index.js';
import { keptQueriesFile } from '../test/support/kept-queries.js';
import { olderPostgres, startPostgres } from '../test/support/postgres/postgres-server.js';

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const folder = fileURLToPath(new URL('../test/samples/schemas/', import.meta.url));
const counts = join(folder, 'counts.csv');
const person = { name: 'Ada', email: 'ada@example.org', password: 'a long enough passphrase' };

/** Runs the program on a database. */
class Program {
  readonly #database: string;

  constructor(database: string) {
    this.#database = database;
  }

  run(...args: string[]): string {
    const command = [main, ...args, '--database', this.#database];
    return execFileSync(process.execPath, command, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  }

  /** Its parsed `--json` output. */
  ask<T>(...args: string[]): T {
    return JSON.parse(this.run(...args, '--json')) as T;
  }

  /** The key. */
  createKey(...args: string[]): string {
    return this.run('key', 'create', ...args, '--expires', 'never').trim();
  }

  async whileServing(work: (url: string) => Promise<void>): Promise<void> {
    const args = [main, 'serve', '--port', '0', '--database', this.#database];
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

/** Fills a database with everything that the program supports. Returns what cannot be read back from it. */
async function make(program: Program): Promise<object> {
  program.run('project', 'create', 'Docs', '--id', 'docs');
  program.run('project', 'create', 'Help', '--id', 'help');
  program.run('import', keptQueriesFile, '--project', 'docs');
  program.run('import', counts, '--project', 'help', '--format', 'counts', '--source', 'old');
  const keys = {
    admin: program.createKey('--name', 'Reader'),
    recording: program.createKey('--name', 'Recorder', '--type', 'recording', '--project', 'docs'),
    revoked: program.createKey('--name', 'Lost'),
  };
  const lost = program.ask<{ id: string; name: string }[]>('key', 'list').find(({ name }) => name === 'Lost');
  program.run('key', 'revoke', lost?.id ?? '');
  program.run('organization', 'create', 'Rival', '--id', 'rival');
  program.run('member', 'invite', '--without-link', 'grace@example.org', '--role', 'editor');
  program.run('project', 'change', 'help', '--time-zone', 'Europe/Berlin', '--retention-days', '400');
  program.run('project', 'change', 'docs', '--otlp-query', 'default;http.route=/ask', '--otlp-id', 'span');
  const { link } = program.ask<{ link: string }>('member', 'invite', person.email, '--role', 'owner');
  await program.whileServing((url) => accept(url, new URL(link).hash.slice(1)));
  return { keys, person };
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

async function keepSqlite(temporary: string): Promise<void> {
  const file = join(temporary, 'kept.db');
  const made = await make(new Program(`sqlite:${file}`));
  if (existsSync(`${file}-wal`)) throw new Error(`${file} is still open`);
  keep(`sqlite-${NEWEST_VERSION}`, readFileSync(file), 'db', made);
}

async function keepPostgres(): Promise<void> {
  const server = await startPostgres(olderPostgres());
  try {
    const made = await make(new Program(server.url()));
    const plain = ['--schema=caller_stats', '--no-owner', '--no-privileges', '--rows-per-insert=100'];
    const dump = execFileSync('pg_dump', [server.url(), ...plain], { encoding: 'utf8' });
    // Remove psql meta-commands, which the driver does not understand.
    const sql = dump.replace(/^\\(?:un)?restrict .*\n/gm, '');
    keep(`postgres-${NEWEST_VERSION}`, Buffer.from(sql), 'sql', made);
  } finally {
    await server.stop();
  }
}

/** Without timestamps, so that the same content gives the same file. */
function keep(name: string, content: Buffer, suffix: string, made: object): void {
  writeFileSync(join(folder, `${name}.${suffix}.gz`), gzipSync(content, { level: 9 }));
  writeFileSync(join(folder, `${name}.json.gz`), gzipSync(JSON.stringify(made)));
  process.stdout.write(`kept ${name}\n`);
}

const temporary = mkdtempSync(join(tmpdir(), 'caller-stats-keep-'));
try {
  await keepSqlite(temporary);
  await keepPostgres();
} finally {
  rmSync(temporary, { recursive: true });
}
