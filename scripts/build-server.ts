/**
 * Joins `src` and the packages that it imports into the few files of `dist` that Node runs: they start faster than a
 * thousand small ones, and installing them takes three packages. Types are checked by `npm run types`.
 */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sbom from 'rollup-plugin-sbom';
import { build, type InlineConfig, type Plugin, type Rolldown } from 'vite';
import { ZONE_DATA_VERSION } from '../src/domain/time/zone-data.js';

interface Package {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const readPackage = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8')) as Package;

/** What contains compiled code for each platform: npm installs it. */
const installed = Object.keys(readPackage('package.json').dependencies ?? {});

/** What packages load at their start for features that the server does not use: YAML, lists of files, another driver. */
const unused = ['yaml', 'glob', 'pg-native'];

/** The framework loads HTTP/2 at its start, the server only with the first connection that needs it. */
const http2Later: Plugin = {
  name: 'http2-later',
  enforce: 'pre',
  resolveId: (id, importer = '') =>
    id === 'node:http2' && importer.includes('node_modules')
      ? { id: 'node:module', external: true }
      : undefined,
};

/** From Node 22 on, an import of `node:http` reads all its exports, one of which loads the code of `fetch` and `WebSocket`. */
const httpWithoutFetch: Plugin = {
  name: 'http-without-fetch',
  enforce: 'pre',
  resolveId: (id) => (/^(node:)?http$/.test(id) ? '\0http' : undefined),
  load: (id) => (id === '\0http' ? "module.exports = process.getBuiltinModule('node:http');" : undefined),
};

/**
 * V8 compiles a function in parentheses when it reads it. That of Node 20 does not do so with an arrow function: it reads it a
 * second time when it is called, as most modules are at the start.
 */
const readOnce: Plugin = {
  name: 'read-once',
  renderChunk: (code) => code.replaceAll(/(?<=__commonJSMin\(\()\(([a-z, ]*)\) => \{/g, 'function ($1) {'),
};

const plugins = [http2Later, httpWithoutFetch, readOnce];

/** What `serve` loads at its start. */
const served = ['src/cli/commands/serve.ts', 'src/http/app.ts', 'src/storage/sqlite/store.ts'];
const commandLine = 'src/cli/program.ts';

/** Finds what these modules import, directly or not, and the modules themselves; with `later` also what they load later. */
function importedBy(ids: readonly string[], modules: Rolldown.ChunkingContext, later = false): Set<string> {
  const found = new Set(ids);
  for (const id of found) {
    const { importedIds = [], dynamicallyImportedIds = [] } = modules.getModuleInfo(id) ?? {};
    for (const one of later ? [...importedIds, ...dynamicallyImportedIds] : importedIds) found.add(one);
  }
  return found;
}

/**
 * Joins what `serve` loads at its start, because each file takes time to find and to link: `shared` has what other commands
 * load, too, `later` what they may load later, `serving` what `serve` needs before the app, and `start` the rest.
 */
function createGroups(): Rolldown.CodeSplittingGroup[] {
  let files: ReadonlyMap<string, string> | undefined;
  const assign = (modules: Rolldown.ChunkingContext): ReadonlyMap<string, string> => {
    const [serve = '', ...roots] = served.map((path) => join(root, path));
    const commands = modules.getModuleInfo(join(root, commandLine))?.dynamicallyImportedIds ?? [];
    const others = commands.filter((command) => command !== serve);
    const [shared, later] = [importedBy(others, modules), importedBy(others, modules, true)];
    const first = importedBy([serve], modules);
    const fileOf = (id: string) =>
      shared.has(id) ? 'shared' : later.has(id) ? 'later' : first.has(id) ? 'serving' : 'start';
    return new Map([...first, ...importedBy(roots, modules)].map((id) => [id, fileOf(id)]));
  };
  const nameOf = (file: string) => (id: string, modules: Rolldown.ChunkingContext) => {
    files ??= assign(modules);
    return files.get(id) === file ? file : null;
  };
  return ['shared', 'later', 'serving', 'start'].map((file) => ({
    name: nameOf(file),
    debugName: file,
    includeDependenciesRecursively: false,
  }));
}

const options = (
  outDir: string,
  input: Readonly<Record<string, string>>,
  format: 'es' | 'cjs' = 'es',
): InlineConfig => ({
  root,
  configFile: false,
  logLevel: 'warn',
  publicDir: false,
  plugins,
  ssr: { noExternal: true, external: installed },
  resolve: { alias: Object.fromEntries(unused.map((name) => [name, 'node:module'])) },
  build: {
    ssr: true,
    target: 'node20',
    outDir,
    emptyOutDir: false,
    minify: false,
    rolldownOptions: {
      input,
      output: {
        format,
        strict: true,
        entryFileNames: format === 'es' ? '[name].js' : '[name].cjs',
        chunkFileNames: '[name]-[hash].js',
        codeSplitting: { groups: createGroups() },
        comments: false,
      },
      onwarn: (warning, warn) => {
        // It looks for Rollup, instead of which Vite uses Rolldown.
        if (/registration of tool "rollup"/.test(warning.message)) return;
        // Some modules that one command loads later are part of `start`.
        if (warning.code !== 'INEFFECTIVE_DYNAMIC_IMPORT') warn(warning);
      },
    },
  },
});

/** Adds the time zone data, and the packages that npm installs, which are not part of any file, to a bill of materials. */
function addOthers(file: string): void {
  const bill = JSON.parse(readFileSync(file, 'utf8')) as { components: object[] };
  const add = (name: string): void => {
    const { version, license, dependencies = {} } = readPackage(`node_modules/${name}/package.json`);
    const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
    bill.components.push({
      ...{ type: 'library', name, version, 'bom-ref': purl, purl },
      licenses: [{ license: { id: license } }],
    });
    Object.keys(dependencies).forEach(add);
  };
  installed.forEach(add);
  const zones = {
    name: 'tzdata',
    version: ZONE_DATA_VERSION,
    purl: `pkg:generic/tzdata@${ZONE_DATA_VERSION}`,
  };
  bill.components.push({
    ...{ type: 'data', ...zones, 'bom-ref': zones.purl },
    licenses: [{ license: { name: 'Public domain' } }],
  });
  writeFileSync(file, JSON.stringify(bill));
}

mkdirSync(dist, { recursive: true });
const folder = mkdtempSync(join(root, 'dist-'));
try {
  // The command line as well, for tests that call it in their own process.
  const whole = options(folder, { main: 'src/main.ts', program: 'src/cli/program.ts' });
  const bill = { outDir: '', outFilename: 'sbom', includeWellKnown: false, saveTimestamp: false };
  await build({
    ...whole,
    plugins: [...plugins, sbom(bill)],
    build: { ...whole.build, license: { fileName: 'third-party-licenses.md' } },
  });
  addOthers(join(folder, 'sbom.json'));
  // On their own: a thread loads one file in half the time. As CommonJS, which starts a fifth faster than modules.
  await build(options(folder, { 'writer-thread': 'src/storage/sqlite/writer/writer-thread.ts' }, 'cjs'));
  await build(options(folder, { 'hashing-thread': 'src/auth/passwords/hashing-thread.ts' }, 'cjs'));
  // A process that starts meanwhile finds the old files or the new ones.
  const files = readdirSync(folder);
  for (const name of files) renameSync(join(folder, name), join(dist, name));
  for (const name of readdirSync(dist)) {
    if (name.includes('.') && !files.includes(name)) rmSync(join(dist, name));
  }
} finally {
  rmSync(folder, { recursive: true });
}
