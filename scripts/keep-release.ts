/**
 * `npx tsx scripts/keep-release.ts` saves what users of this version have: the packed client, a spool that it left behind, and a
 * backup, in a folder of `test/samples/releases`. Tests read them with every later version.
 * `npm run release` runs it.
 */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { createRecorder } from '../clients/javascript/src/index.js';
import { openSpool } from '../clients/javascript/src/spool.js';
import { keptLines, keptQueriesFile } from '../test/support/kept-queries.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'clients/javascript/package.json'), 'utf8')) as {
  version: string;
};
const folder = join(root, 'test/samples/releases', version);

function packClient(): void {
  execFileSync('npm', ['pack', '--pack-destination', folder], {
    cwd: join(root, 'clients/javascript'),
    stdio: 'inherit',
  });
}

/** Fills a spool as a process does that is killed before anything was sent, in the middle of a line. */
async function keepSpool(temporary: string): Promise<void> {
  const path = join(temporary, 'queries.spool');
  const recorder = createRecorder({
    url: 'http://127.0.0.1',
    projectId: 'docs',
    key: 'key',
    spool: openSpool(path),
    platform: { fetch: () => new Promise(() => {}) },
  });
  for (const query of keptLines) recorder.record(query);
  await recorder.close({ timeoutMs: 0 });
  const kept = join(folder, 'queries.spool');
  cpSync(path, kept, { recursive: true });
  for (const name of readdirSync(kept)) appendFileSync(join(kept, name), '{"id":"never acknowledged","cal');
}

function keepBackup(temporary: string): void {
  const program = (...args: string[]): void => {
    const database = `sqlite:${join(temporary, 'kept.db')}`;
    execFileSync(process.execPath, [join(root, 'dist/main.js'), ...args, '--database', database]);
  };
  program('project', 'create', 'Docs', '--id', 'docs');
  program('import', keptQueriesFile, '--project', 'docs');
  program('backup', join(temporary, 'backup.db'));
  writeFileSync(
    join(folder, 'backup.db.gz'),
    gzipSync(readFileSync(join(temporary, 'backup.db')), { level: 9 }),
  );
}

const temporary = mkdtempSync(join(tmpdir(), 'caller-stats-keep-'));
try {
  mkdirSync(folder, { recursive: true });
  packClient();
  await keepSpool(temporary);
  keepBackup(temporary);
  process.stdout.write(`kept ${folder}\n`);
} finally {
  rmSync(temporary, { recursive: true });
}
