/** A local package registry that serves the locked packages from `node_modules`, as far as `npm install` needs it. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../../tidy/sources.js';
import { startHttpServer } from '../http-server.js';

/** The entry of a package in the lock file, which has everything that npm reads before it downloads the package. */
interface Locked {
  readonly name?: string;
  readonly version: string;
  readonly link?: boolean;
}

const run = promisify(execFile);

/** More than the size of any package. */
const tarballBytesMax = 100_000_000;

/** Serves until the test is over. Returns the registry's URL. */
export async function startLocalRegistry(): Promise<string> {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, Locked>>;
  };
  const folders = Object.entries(packages).filter(([path, { link }]) => path !== '' && link !== true);
  const url = await startHttpServer((request, response) => {
    const [path = '', tarball] = decodeURIComponent((request.url ?? '').slice(1)).split('?tarball=');
    if (tarball !== undefined) {
      packed(tarball).then(
        (bytes) => response.end(bytes),
        () => response.writeHead(404).end(),
      );
      return;
    }
    const found = folders.filter(([folder]) => folder.split('node_modules/').at(-1) === path);
    const versions = found.map(([folder, locked]) => {
      const dist = { tarball: `${url}/${encodeURIComponent(path)}?tarball=${encodeURIComponent(folder)}` };
      return [locked.version, { ...locked, name: path, dist }] as const;
    });
    response
      .writeHead(versions.length === 0 ? 404 : 200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ name: path, versions: Object.fromEntries(versions), 'dist-tags': {} }));
  });
  return url;
}

/** A tarball of a package. npm accepts any name for the folder in it. */
async function packed(folder: string): Promise<Buffer> {
  const name = basename(folder);
  const args = ['-C', join(root, dirname(folder)), '-cf', '-', `--exclude=${name}/node_modules`, name];
  const { stdout } = await run('tar', args, { encoding: 'buffer', maxBuffer: tarballBytesMax });
  return stdout;
}
