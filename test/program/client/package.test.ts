/** The packed client in an empty project, installed without a registry and used from JavaScript and TypeScript. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Rolldown } from 'vite';
import { describe, expect, test } from 'vitest';
import { sharedByTests } from '../../support/cleanup.js';
import { runCommand } from '../../support/cli/cli.js';
import { samples } from '../../support/cli/samples.js';
import { emptyNpmProject } from '../../support/client/npm-project.js';
import { root } from '../../tidy/sources.js';

/** Size limit in bytes, gzipped, of the platform-independent modules. */
const bytesMax = 7200;

const middleware = ['express', 'fastify', 'fetch', 'hono', 'next', 'node'];

/** The documented command to install the package. */
const installs = samples().filter(({ code }) => code.startsWith('npm install ./caller-stats-client'));

/** An empty project with the packed client, installed as documented. */
const stranger = sharedByTests(async () => {
  const { project, env } = await emptyNpmProject();
  const npm = async (args: readonly string[], cwd: string): Promise<string> => {
    const outcome = await runCommand('npm', args, { cwd, env });
    if (outcome.status !== 0) throw new Error(`npm ${args.join(' ')}: ${outcome.stderr}`);
    return outcome.stdout;
  };
  const packed = await npm(
    ['pack', '--json', '--pack-destination', project],
    join(root, 'clients/javascript'),
  );
  const [install] = installs;
  const installed = await runCommand('bash', ['--norc', '-c', install?.code ?? ''], { cwd: project, env });
  if (installed.status !== 0) throw new Error(`${install?.name}: ${installed.stderr}`);
  return { project, packed, installed: join(project, 'node_modules/caller-stats-client') };
});

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

test('all pages document the same installation', () => {
  expect(installs.map(({ page }) => page)).toEqual([
    'clients/javascript/README.md',
    'docs/guides/record/client.md',
  ]);
  expect(new Set(installs.map(({ code }) => code)).size).toBe(1);
});

test('it has no dependencies and contains a flat dist with types', async () => {
  const { project, installed, packed } = stranger();
  const modules = (await readdir(join(project, 'node_modules'))).filter((name) => !name.startsWith('.'));
  expect(modules).toEqual(['caller-stats-client']);
  const sources = (await filesOf(join(root, 'clients/javascript/src'))).map((path) => basename(path));
  const built = [...sources, 'caller-detection.ts', 'api-client.ts', 'names.ts'].flatMap((name) =>
    ['.js', '.d.ts'].map((ending) => join('dist', name.replace(/\.ts$/, ending))),
  );
  const files = (await filesOf(installed)).map((path) => relative(installed, path));
  expect(files.sort()).toEqual([...built, 'LICENSE', 'README.md', 'package.json'].sort());
  expect(packed).not.toContain('tsconfig');
  const { exports } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  const entry = (name: string) => ({ types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` });
  expect(exports).toEqual({
    '.': entry('index'),
    ...Object.fromEntries(
      [...middleware, 'mcp', 'opentelemetry', 'spool'].map((name) => [`./${name}`, entry(name)]),
    ),
    './package.json': './package.json',
  });
});

test('it imports only its own modules; the spool also imports Node modules', async () => {
  const { installed } = stranger();
  const files = (await filesOf(installed)).filter((path) => /\.(js|d\.ts)$/.test(path));
  expect(files.length).toBeGreaterThan(middleware.length);
  for (const path of files) {
    const text = await readFile(path, 'utf8');
    const specifiers = [...text.matchAll(/(?:\bfrom|\bimport\(?|\brequire\()\s*(['"])(.+?)\1/g)];
    const foreign = specifiers.map(([, , name = '']) => name).filter((name) => !name.startsWith('.'));
    expect(foreign, path).toEqual(path.endsWith('spool.js') ? ['node:fs', 'node:process'] : []);
  }
});

test(`all that runs on any platform weighs less than ${bytesMax} bytes, compressed`, async () => {
  const { project } = stranger();
  const entry = join(project, 'everything.js');
  await writeFile(
    entry,
    [
      "export * from 'caller-stats-client';",
      ...middleware.map(
        (name) => `export { recordQuestions as ${name} } from 'caller-stats-client/${name}';`,
      ),
    ].join('\n'),
  );
  const bundle = async (input: string): Promise<number> => {
    const built = (await build({
      root: project,
      configFile: false,
      logLevel: 'silent',
      build: {
        write: false,
        target: 'es2022',
        modulePreload: false,
        rolldownOptions: { input, preserveEntrySignatures: 'strict' },
      },
    })) as Rolldown.RolldownOutput;
    const code = built.output.map((chunk) => (chunk.type === 'chunk' ? chunk.code : '')).join('');
    return gzipSync(code, { level: 9 }).length;
  };
  expect(await bundle(entry)).toBeLessThan(bytesMax);
  // Code that only detects callers does not load the recorder.
  const part = join(project, 'part.js');
  await writeFile(part, "export { detectCaller } from 'caller-stats-client';");
  expect(await bundle(part)).toBeLessThan(bytesMax / 4);
});

test('it runs from JavaScript', async () => {
  const { project } = stranger();
  await writeFile(
    join(project, 'use.js'),
    `import { createRecorder, createReader, detectCaller, KNOWN_CALLERS, NotFoundError } from 'caller-stats-client';
     import { openSpool } from 'caller-stats-client/spool';
     ${middleware.map((name) => `import { recordQuestions as ${name} } from 'caller-stats-client/${name}';`).join('\n')}
     const request = new Request('http://docs.test', { headers: { 'x-slack-signature': 'v0=a' } });
     const all = [createRecorder, createReader, NotFoundError, openSpool, ${middleware.join(', ')}];
     console.log(detectCaller(request), KNOWN_CALLERS.length > 0, all.every((one) => typeof one === 'function'));`,
  );
  const { stdout, stderr } = await runCommand(process.execPath, ['use.js'], { cwd: project });
  expect({ stdout, stderr }).toEqual({ stdout: 'slack true true\n', stderr: '' });
});

const compilers = {
  7: 'node_modules/typescript/bin/tsc',
  5: 'clients/javascript/node_modules/typescript/bin/tsc',
};

describe.each(Object.entries(compilers))('it type-checks with TypeScript %s', (_, compiler) => {
  test.each([
    ['node16', 'node16'],
    ['bundler', 'esnext'],
  ])('under moduleResolution %s', async (moduleResolution, module) => {
    const { project } = stranger();
    const use = join(project, 'use.ts');
    await writeFile(
      use,
      `import { createReader, createRecorder, detectCaller, type CallerStats, type Recorder } from 'caller-stats-client';
       ${middleware.map((name) => `import { recordQuestions as ${name} } from 'caller-stats-client/${name}';`).join('\n')}
       const options = { url: 'https://stats.test', projectId: 'docs', key: 'key' };
       const recorder: Recorder = createRecorder({ ...options, onDrop: (queries, { code }) => [queries[0]?.id, code] });
       recorder.record({ id: 'a', caller: detectCaller(new Request('https://docs.test')), occurredAt: new Date() });
       export async function total(): Promise<number> {
         await using second = createRecorder(options);
         second.record({ id: 'a', caller: 'web' });
         const stats: CallerStats = await createReader(options).callerStats({ projectId: 'docs', from: new Date() });
         return stats.total;
       }
       export const POST = next((request: Request) => new Response(request.url), { recorder });
       export const GET = fetch((request: Request) => new Response(request.url), { recorder, id: async (request) => request.text() });
       export const all = [express({ recorder }), fastify({ recorder }), hono({ recorder }), node(() => {}, { recorder })];
       const { CALLER_STATS_URL: url } = {} as Record<string, string | undefined>;
       export const fromEnvironment = createRecorder({ ...options, url });`,
    );
    const wrong = join(project, 'wrong.ts');
    await writeFile(
      wrong,
      "import { createRecorder } from 'caller-stats-client';\ncreateRecorder({ url: 'https://stats.test' }).record({ id: 1 });",
    );
    const compilerOptions = {
      ...{ noEmit: true, strict: true, exactOptionalPropertyTypes: true, types: [] },
      ...{ target: 'es2022', module, moduleResolution },
    };
    const files = [use, wrong];
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    const args = [join(root, compiler), '--project', project];
    const { stdout } = await runCommand(process.execPath, args, { cwd: project });
    expect(stdout).toMatch(/projectId[\s\S]*'number' is not assignable to type 'string'/);
    const errors = stdout.split('\n').filter((line) => line !== '' && !line.startsWith(' '));
    expect(errors).toEqual(errors.map(() => expect.stringMatching(/^wrong\.ts\(/)));
  });
});
