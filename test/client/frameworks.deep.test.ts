/** The middleware in real servers whose packages only this test needs. It installs them with npm. */
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'vite';
import { describe, expect, test } from 'vitest';
import { sharedByTests, whenOver } from '../support/cleanup.js';
import { runCommand } from '../support/cli/cli.js';
import { succeed } from '../support/cli/cli-place.js';
import {
  type AssistantEnv,
  expectCounts,
  onNode,
  programs,
  type StartAssistant,
  startProgram,
} from '../support/client/frameworks.js';
import { freePort } from '../support/free-port.js';
import { root } from '../tidy/sources.js';

const PACKAGES = [
  '@hono/node-server@2.1.8',
  'bun@1.4.4',
  'deno@2.9.6',
  'nitro@3.0.0',
  'workerd@1.20261117.1',
];

/** A copy of the programs with these packages, in the project's folder, so that its own packages are found, too. */
const installed = sharedByTests(async () => {
  const folder = await mkdtemp(join(root, 'dist', 'frameworks-'));
  whenOver(() => rm(folder, { recursive: true, force: true }));
  await cp(programs, folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"type":"module","private":true}');
  const npm = ['install', '--no-audit', '--no-fund', '--no-package-lock', ...PACKAGES];
  await succeed(runCommand('npm', npm, { cwd: folder, env: inherited(), hangMs: 300_000 }));
  return folder;
}, 300_000);

/** The environment of npm: its registry may be set there. */
const inherited = (): AssistantEnv =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || !/^(npm_config_|HOME$)/i.test(name) ? [] : [[name, value]],
    ),
  );

const binary = (name: string): string => join(installed(), 'node_modules/.bin', name);

/** Bundles a worker, as Wrangler does, and serves it with workerd. */
async function startWorker(file: string, env: AssistantEnv): Promise<string> {
  const folder = await mkdtemp(join(installed(), 'worker-'));
  await build({
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true, target: 'webworker' },
    build: {
      ssr: join(installed(), file),
      outDir: folder,
      rolldownOptions: { output: { entryFileNames: 'worker.js' } },
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
           compatibilityDate = "2026-11-01", globalOutbound = "network", bindings = [${bindings.join(', ')}])),
         (name = "network", network = (allow = ["local"])),
       ],
       sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]);`,
  );
  return startProgram(binary('workerd'), ['serve', '--control-fd=1', 'config.capnp'], {
    cwd: folder,
    env: {},
    port: /"port":(\d+)/,
  });
}

async function startNitro(env: AssistantEnv): Promise<string> {
  const folder = join(installed(), 'nitro-app');
  await mkdir(join(folder, 'routes'), { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"type":"module","private":true}');
  await writeFile(join(folder, 'routes/ask.post.mjs'), "export { default } from '../../nitro-route.mjs';\n");
  await succeed(
    runCommand(binary('nitro'), ['build'], { cwd: folder, env: { HOME: folder }, hangMs: 300_000 }),
  );
  const port = await freePort();
  return startProgram(process.execPath, ['.output/server/index.mjs'], {
    cwd: folder,
    env: { ...env, HOST: '127.0.0.1', PORT: String(port) },
    port: /Listening on \S+:(\d+)/,
  });
}

/** Builds an app with a route on this runtime, without the variables that its recorder needs, and serves it with them. */
async function startNext(runtime: 'nodejs' | 'edge', env: AssistantEnv): Promise<string> {
  const folder = join(installed(), `next-${runtime}`);
  await mkdir(join(folder, 'app/ask'), { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"type":"module","private":true}');
  for (const file of ['answers.mjs', 'next-route.mjs', 'next-server.mjs'])
    await cp(join(programs, file), join(folder, file));
  await writeFile(
    join(folder, 'app/ask/route.js'),
    `export { POST } from '../../next-route.mjs';\nexport const runtime = '${runtime}';\n`,
  );
  const quiet = { NEXT_TELEMETRY_DISABLED: '1' };
  const next = join(root, 'node_modules/next/dist/bin/next');
  const built = await succeed(
    runCommand(process.execPath, [next, 'build'], { cwd: folder, env: quiet, hangMs: 300_000 }),
  );
  expect(built.stderr).not.toContain('createRecorder');
  return startProgram(process.execPath, ['next-server.mjs'], {
    cwd: folder,
    env: { ...quiet, ...env, NODE_ENV: 'production' },
  });
}

const frameworks: Readonly<Record<string, StartAssistant>> = {
  'Hono on Node': (env) => onNode('hono-node.mjs', installed())(env),
  'Hono on workerd': (env) => startWorker('hono-worker.mjs', env),
  'a worker on workerd': (env) => startWorker('worker.mjs', env),
  Bun: (env) => startProgram(binary('bun'), ['bun.mjs'], { cwd: installed(), env }),
  Deno: (env) => startProgram(binary('deno'), ['run', '--allow-all', 'deno.mjs'], { cwd: installed(), env }),
  'Express on Bun': (env) => startProgram(binary('bun'), ['express.mjs'], { cwd: installed(), env }),
  'Express on Deno': (env) =>
    startProgram(binary('deno'), ['run', '--allow-all', 'express.mjs'], { cwd: installed(), env }),
  Nitro: startNitro,
  'Next.js on Node': (env) => startNext('nodejs', env),
  'Next.js on its edge runtime': (env) => startNext('edge', env),
};

describe('each question counts once, however the response ends', () => {
  test.each(Object.entries(frameworks))('%s', (_, start) => expectCounts(start), 300_000);
});
