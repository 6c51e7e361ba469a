/** The assistant in real servers, whose packages only these tests need. */
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { build } from 'vite';
import { whenOver } from '../../support/cleanup.js';
import { runCommand } from '../../support/cli/cli.js';
import { succeed } from '../../support/cli/cli-place.js';
import type { Outcome } from '../../support/cli/process.js';
import { type AssistantEnv, programs, startProgram } from '../../support/client/frameworks.js';
import { freePort } from '../../support/free-port.js';
import { root } from '../../tidy/sources.js';

const PACKAGES = [
  '@hono/node-server@2.1.8',
  '@sveltejs/adapter-cloudflare@7.2.9',
  '@sveltejs/adapter-node@5.5.7',
  '@sveltejs/kit@2.70.4',
  '@sveltejs/vite-plugin-svelte@7.3.1',
  'bun@1.4.4',
  'deno@2.9.6',
  'nitro@3.0.0',
  'svelte@5.57.3',
  'workerd@1.20261117.1',
  // Part of the adapter for Cloudflare.
  'wrangler@4.86.0',
];

const buildHangMs = 300_000;

/** A copy of the programs with these packages, in the project's folder, so that its own packages are found, too. */
export async function installFrameworks(): Promise<string> {
  const folder = await mkdtemp(join(root, 'dist', 'frameworks-'));
  whenOver(() => rm(folder, { recursive: true, force: true }));
  await cp(programs, folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), packageJson);
  // Nitro can also build with Vite, of another version than the one that SvelteKit needs and the project has.
  const npm = ['install', '--legacy-peer-deps', '--no-audit', '--no-fund', '--no-package-lock', ...PACKAGES];
  await succeed(runCommand('npm', npm, { cwd: folder, env: inherited(), hangMs: buildHangMs }));
  return folder;
}

const packageJson = '{"type":"module","private":true}';

/** The environment of npm: its registry may be set there. */
const inherited = (): AssistantEnv =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || !/^(npm_config_|HOME$)/i.test(name) ? [] : [[name, value]],
    ),
  );

export const binary = (installed: string, name: string): string => join(installed, 'node_modules/.bin', name);

/** Bundles a worker, as Wrangler does, and serves it with workerd. */
export async function startWorker(installed: string, file: string, env: AssistantEnv): Promise<string> {
  const folder = await mkdtemp(join(installed, 'worker-'));
  await build({
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true, target: 'webworker' },
    build: {
      ssr: join(installed, file),
      outDir: folder,
      rolldownOptions: {
        external: ['cloudflare:workers', 'node:async_hooks'],
        output: { entryFileNames: 'worker.js' },
      },
    },
  });
  const bindings = Object.entries(env).map(([name, value]) => `(name = "${name}", text = "${value}")`);
  await writeFile(
    join(folder, 'config.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
     const config :Workerd.Config = (
       services = [
         (name = "main", worker = (
           modules = [(name = "worker", esModule = embed "worker.js")],
           compatibilityDate = "2026-11-01", compatibilityFlags = ["nodejs_als"],
           globalOutbound = "network", cacheApiOutbound = "cache", bindings = [${bindings.join(', ')}])),
         (name = "network", network = (allow = ["local"])),
         (name = "cache", worker = (
           serviceWorkerScript = "addEventListener('fetch', (event) => event.respondWith(new Response(null, { status: 504 })))",
           compatibilityDate = "2026-11-01")),
       ],
       sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]);`,
  );
  return startProgram(binary(installed, 'workerd'), ['serve', '--control-fd=1', 'config.capnp'], {
    cwd: folder,
    env: {},
    port: /"port":(\d+)/,
  });
}

/** An app, built without the variables that its recorder needs, and how it is served with them. */
export interface App {
  readonly built: Outcome;
  readonly serve: (env: AssistantEnv) => Promise<string>;
}

/** Writes the files of an app, below the packages that are installed. */
async function makeApp(
  installed: string,
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = join(installed, name);
  for (const [file, text] of Object.entries({ 'package.json': packageJson, ...files })) {
    await mkdir(join(folder, file, '..'), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  return folder;
}

/** Serves what a framework has built for Node. It listens on the port in `PORT`. */
async function serveBuilt(folder: string, file: string, env: AssistantEnv): Promise<string> {
  const port = await freePort();
  return startProgram(process.execPath, [file], {
    cwd: folder,
    env: { ...env, HOST: '127.0.0.1', PORT: String(port) },
    port: /Listening on \S+:(\d+)/,
  });
}

export async function buildNitro(installed: string): Promise<App> {
  const folder = await makeApp(installed, 'nitro-app', {
    'routes/ask.post.mjs': "export { default } from '../../nitro-route.mjs';\n",
  });
  const options = { cwd: folder, env: { HOME: folder }, hangMs: buildHangMs };
  const built = await runCommand(binary(installed, 'nitro'), ['build'], options);
  return { built, serve: (env) => serveBuilt(folder, '.output/server/index.mjs', env) };
}

export async function buildSvelteKit(installed: string): Promise<App> {
  const { folder, built } = await buildWithSvelteKit(installed, 'node', 'sveltekit-route');
  return { built, serve: (env) => serveBuilt(folder, 'build/index.js', env) };
}

export async function buildSvelteKitWorker(installed: string): Promise<App> {
  const { folder, built } = await buildWithSvelteKit(installed, 'cloudflare', 'sveltekit-worker-route');
  const worker = relative(installed, join(folder, '.svelte-kit/cloudflare/_worker.js'));
  return { built, serve: (env) => startWorker(installed, worker, env) };
}

async function buildWithSvelteKit(installed: string, adapter: 'node' | 'cloudflare', route: string) {
  const folder = await makeApp(installed, `sveltekit-${adapter}`, {
    'vite.config.js': `
      import { sveltekit } from '@sveltejs/kit/vite';
      export default { plugins: [sveltekit()] };`,
    'svelte.config.js': `
      import adapter from '@sveltejs/adapter-${adapter}';
      export default { kit: { adapter: adapter() } };`,
    'src/app.html': '<!doctype html><html>%sveltekit.head%<body>%sveltekit.body%</body></html>',
    'src/routes/ask/+server.js': `export { POST } from '../../../../${route}.mjs';\n`,
  });
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  const options = { cwd: folder, env: { HOME: folder }, hangMs: buildHangMs };
  return { folder, built: await runCommand(process.execPath, [vite, 'build'], options) };
}

/** An app with a route on this runtime. */
export async function buildNext(installed: string, runtime: 'nodejs' | 'edge'): Promise<App> {
  const folder = await makeApp(installed, `next-${runtime}`, {
    'app/ask/route.js': `export { POST } from '../../next-route.mjs';\nexport const runtime = '${runtime}';\n`,
  });
  for (const file of ['answers.mjs', 'next-route.mjs', 'next-server.mjs'])
    await cp(join(programs, file), join(folder, file));
  const quiet = { NEXT_TELEMETRY_DISABLED: '1' };
  const next = join(root, 'node_modules/next/dist/bin/next');
  const options = { cwd: folder, env: quiet, hangMs: buildHangMs };
  const built = await runCommand(process.execPath, [next, 'build'], options);
  const serve = (env: AssistantEnv) =>
    startProgram(process.execPath, ['next-server.mjs'], {
      cwd: folder,
      env: { ...quiet, ...env, NODE_ENV: 'production' },
    });
  return { built, serve };
}
