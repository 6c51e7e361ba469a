/** The packed server, installed globally and run from an empty folder. */
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ZONE_DATA_VERSION } from '../../../src/domain/time/zone-data.js';
import { sharedByTests } from '../../support/cleanup.js';
import { firstRunOf, runCommand, startCommand, urlIn } from '../../support/cli/cli.js';
import { clientOf } from '../../support/cli/cli-client.js';
import { startLocalRegistry } from '../../support/cli/local-registry.js';
import { temporaryFolder } from '../../support/temporary.js';
import { root } from '../../tidy/sources.js';

interface Named {
  readonly name: string;
  readonly version: string;
}

/** The package.json of a package, not one of a folder within it. */
const PACKAGE = /^(?:.+\/node_modules\/)?(?:@[^/]+\/)?[^/@]+\/package\.json$/;

interface Packed {
  readonly name: string;
  readonly version: string;
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** On a busy machine, for more than a hundred packages. */
const installTimeoutMs = 240_000;

/** The installed server. It is packed without building it again, because other tests use the build. */
const stranger = sharedByTests(async () => {
  const folder = await temporaryFolder();
  const registry = await startLocalRegistry();
  const env = { HOME: folder, npm_config_cache: join(folder, 'cache'), npm_config_registry: registry };
  const npm = async (args: readonly string[], cwd: string): Promise<string> => {
    const outcome = await runCommand('npm', args, { cwd, env });
    if (outcome.status !== 0) throw new Error(`npm ${args.join(' ')}: ${outcome.stderr}`);
    return outcome.stdout;
  };
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const [packed] = Object.values(JSON.parse(await npm(args, root)) as Record<string, Packed>);
  if (packed === undefined) throw new Error('npm pack packs nothing');
  const prefix = join(folder, 'prefix');
  const tarball = join(folder, packed.filename);
  await npm(['install', '--global', '--prefix', prefix, '--no-audit', '--no-fund', tarball], folder);
  const empty = join(folder, 'empty');
  await mkdir(empty);
  const paths = packed.files.map(({ path }) => path);
  return { packed, paths, empty, modules: join(prefix, 'lib/node_modules'), bin: join(prefix, 'bin') };
}, installTimeoutMs);

test('the package contains the built files and the docs, and nothing else', async () => {
  const { paths } = stranger();
  const page =
    /^dist\/dashboard\/(index\.html|favicon\.(ico|svg)|robots\.txt|theme\.js|assets\/[\w-]+\.(js|css))(\.br|\.gz)?$/;
  const docs =
    /^dist\/docs\/([\w-]+\.(html|md)|hashmap\.json|llms\.txt|sitemap\.xml|(assets|files)\/[\w./@-]+)(\.br|\.gz)?$/;
  const reading =
    /^(demo|docs(?!\/\.)|integrations)\/|^(CHANGELOG|README|SECURITY)\.md$|^LICENSE$|^package\.json$/;
  const services = ['caller-stats-service.xml', 'caller-stats.plist', 'caller-stats.service'];
  const program = /^dist\/([\w.-]+\.c?js|sbom\.json|third-party-licenses\.md)$/;
  const known = [page, docs, reading, program, /^deploy\/caller-stats/];
  expect(paths.filter((path) => !known.some((pattern) => pattern.test(path)))).toEqual([]);
  const needed = [
    'main.js',
    'writer-thread.cjs',
    'hashing-thread.cjs',
    'dashboard/index.html',
    'docs/index.html',
  ];
  expect(paths).toEqual(expect.arrayContaining(needed.map((name) => `dist/${name}`)));
  // docs/guides/run/install.md copies them from the package.
  expect(paths.filter((path) => path.startsWith('deploy/'))).toEqual(
    services.map((name) => `deploy/${name}`),
  );
});

test('it installs only the binding of SQLite and what that needs', async () => {
  const { modules } = stranger();
  expect(await readdir(modules)).toEqual(['caller-stats']);
  const installed = await readdir(join(modules, 'caller-stats/node_modules'));
  const packages = installed.filter((name) => !name.startsWith('.'));
  expect(packages).toEqual(['@photostructure', 'node-addon-api', 'node-gyp-build']);
});

test('all versions are the same', async () => {
  const { packed, bin, empty } = stranger();
  const read = async (path: string) => JSON.parse(await readFile(join(root, path), 'utf8'));
  const lock = await read('package-lock.json');
  const outcome = await runCommand(join(bin, 'caller-stats'), ['--version'], { cwd: empty });
  const versions = {
    server: (await read('package.json')).version,
    client: (await read('clients/javascript/package.json')).version,
    locked: lock.version,
    'locked server': lock.packages[''].version,
    'locked client': lock.packages['clients/javascript'].version,
    package: packed.version,
    'the program': outcome.stdout.trim(),
    changelog: /^## (\S+?),/m.exec(await readFile(join(root, 'CHANGELOG.md'), 'utf8'))?.[1],
  };
  for (const [where, version] of Object.entries(versions)) expect(version, where).toBe(packed.version);
});

test('the bill of materials lists the packages in the program, the installed ones and the time zone data', async () => {
  const { modules } = stranger();
  const folder = join(modules, 'caller-stats');
  const files = (await readdir(join(folder, 'node_modules'), { recursive: true })).filter((path) =>
    PACKAGE.test(path),
  );
  const read = async (path: string) => JSON.parse(await readFile(join(folder, path), 'utf8'));
  const installed: Named[] = await Promise.all(files.map((path) => read(`node_modules/${path}`)));
  const licenses = await readFile(join(folder, 'dist/third-party-licenses.md'), 'utf8');
  const bundled = [...licenses.matchAll(/^## (\S+) - (\S+) \(/gm)].map(
    ([, name, version]) => `${name}@${version}`,
  );
  const bill = (await read('dist/sbom.json')) as {
    readonly bomFormat: string;
    readonly metadata: { readonly component: Named };
    readonly components: readonly (Named & { readonly group?: string })[];
  };
  expect(bill.bomFormat).toBe('CycloneDX');
  expect(bill.metadata.component).toMatchObject({ name: 'caller-stats' });
  const listed = bill.components.map(({ group, name, version }) =>
    [group === undefined ? name : `${group}/${name}`, version].join('@'),
  );
  const expected = [
    ...bundled,
    ...installed.map(({ name, version }) => `${name}@${version}`),
    `tzdata@${ZONE_DATA_VERSION}`,
  ];
  expect(bundled.map((name) => name.replace(/@[^@]*$/, ''))).toContain('fastify');
  expect([...new Set(listed)].sort()).toEqual([...new Set(expected)].sort());
});

test('it runs in an empty folder: it records, counts, and serves the dashboard and the docs', async () => {
  const { bin, empty } = stranger();
  const options = { cwd: empty };
  const server = startCommand(join(bin, 'caller-stats'), ['serve', '--demo', '--port', '0'], options);
  const stdout = await server.printed(/^Documentation: .+\n/m);
  const url = urlIn(stdout);
  const { admin, recording, project } = firstRunOf({ stdout });
  const count = async () => (await clientOf({ url }, project, admin).count()).body;
  const before = await count();
  const { body } = await clientOf({ url }, project, recording).record([{ id: 'one', caller: 'web' }]);
  expect(body).toEqual({ recorded: 1, duplicates: 0 });
  const counts = await count();
  expect(before.total).toBeGreaterThan(0);
  expect(counts).toEqual({ ...before, web: before.web + 1, total: before.total + 1 });
  const page = await fetch(url);
  expect(await page.text()).toContain('<title>caller-stats</title>');
  expect((await fetch(`${url}/docs`)).status).toBe(200);
  expect(await readdir(empty)).toEqual(['data']);
  const stats = await runCommand(join(bin, 'caller-stats'), ['stats', project, '--json'], options);
  expect(JSON.parse(stats.stdout)).toEqual(counts);
});
