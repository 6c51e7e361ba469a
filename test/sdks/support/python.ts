/** The recipes for Python, run in a virtual environment of locked packages. */
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { matched, runCommand, startCommand } from '../../support/cli/cli.js';
import { temporaryFolder } from '../../support/temporary.js';
import { root } from '../../tidy/sources.js';
import { run } from './commands.js';
import { sdksFolder } from './folder.js';
import { recipe } from './recipe.js';
import type { Assistant, Env, Service } from './service.js';

const page = 'docs/guides/record/recipes-python.md';
const sources = join(sdksFolder, 'python');
const environment = join(sources, '.venv');
const binary = (name: string) => join(environment, 'bin', name);

/** Makes the virtual environment, unless it has exactly the locked packages. */
async function installPython(): Promise<void> {
  const python = process.env['CALLER_STATS_TEST_PYTHON'] ?? 'python3';
  const check =
    'import sys, venv, ensurepip; assert sys.version_info >= (3, 10), "Python 3.10 or later is needed"';
  await run(python, ['-c', check], sources);
  const state = join(environment, 'state');
  const locked = readFileSync(join(sources, 'requirements.txt'), 'utf8');
  if (existsSync(state) && readFileSync(state, 'utf8') === locked) return;
  await rm(environment, { recursive: true, force: true });
  await run(python, ['-m', 'venv', environment], sources);
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--require-hashes'];
  await run(binary('python'), [...install, '-r', 'requirements.txt'], sources);
  await writeFile(state, locked);
}

type App = 'fastapi' | 'flask' | 'django' | 'celery';

const APPS: Readonly<Record<App, string>> = {
  fastapi: 'FastAPI, uvicorn',
  flask: 'Flask, gunicorn',
  django: 'Django, gunicorn',
  celery: 'Flask and Celery',
};

/** The recipe for this app, with an assistant of `python/assistants`, or with its own. */
export function pythonService(
  app: App,
  sdk: string,
  file: string | undefined,
  instrumentation = '',
  { hasProcessor = true, ...more }: Partial<Service> & { readonly hasProcessor?: boolean } = {},
): Service {
  const prepare = async (env: Env) => {
    await installPython();
    const folder = await temporaryFolder();
    const telemetry = recipe(page, 'telemetry.py');
    const processor = 'provider.add_span_processor(QuestionSpanProcessor())';
    await writeFile(
      join(folder, 'telemetry.py'),
      hasProcessor ? telemetry : telemetry.replace(processor, ''),
    );
    await writeFile(
      join(folder, `${app}_app.py`),
      recipe(page, `${app}_app.py`) + (app === 'celery' ? inFolder : ''),
    );
    await cp(join(sources, 'assistants', 'scenarios.py'), join(folder, 'scenarios.py'));
    const assistant = join(folder, 'assistant.py');
    if (file === undefined) await writeFile(assistant, recipe(page, 'assistant.py'));
    else await cp(join(sources, 'assistants', file), assistant);
    await mkdir(join(folder, 'queue'));
    return {
      cwd: folder,
      hangMs: 300_000,
      env: {
        ...env,
        INSTRUMENTATION: instrumentation,
        PYTHONPATH: [folder, join(root, 'clients/python/src')].join(delimiter),
        PYTHONDONTWRITEBYTECODE: '1',
        BROKER: 'filesystem://',
        RESULTS: `file://${join(folder, 'queue')}`,
      },
    };
  };
  const start = async (env: Env): Promise<Assistant> => {
    const options = await prepare(env);
    const [command, args] = SERVERS[app];
    const server = startCommand(binary(command), args, options);
    const address = /(?:Listening at|running on): ?(http:\/\/[\d.:]+)|running on (http:\/\/[\d.:]+)/;
    const logged = await server.logged(address);
    const url = matched(logged, /(?:Listening at:|running on) (http:\/\/[\d.:]+)/);
    if (app !== 'celery') return { url, processes: [server] };
    const worker = startCommand(
      binary('celery'),
      ['--app', 'celery_app.celery', 'worker', '--concurrency', '2', '--loglevel', 'info'],
      options,
    );
    await worker.logged(/ ready\./);
    return { url, processes: [worker, server] };
  };
  const evaluate = async (env: Env) => {
    const code = 'import telemetry, assistant; print("".join(assistant.answer("ask: evaluation")))';
    const { status, stderr } = await runCommand(binary('python'), ['-c', code], await prepare(env));
    if (status !== 0) throw new Error(stderr);
  };
  return { language: 'Python', framework: APPS[app], sdk, start, evaluate, ...more };
}

/** Makes the tasks of the recipe wait in a folder, without a broker. */
const inFolder = `
celery.conf.broker_transport_options = {
    f"{name}_folder{end}": "queue"
    for name, end in [("data", "_in"), ("data", "_out"), ("processed", ""), ("control", "")]
}
`;

const gunicorn = (module: string) =>
  ['gunicorn', [`${module}:app`, '--bind', '127.0.0.1:0', '--threads', '8']] as const;

const SERVERS: Readonly<Record<App, readonly [command: string, args: readonly string[]]>> = {
  fastapi: ['uvicorn', ['fastapi_app:app', '--port', '0']],
  flask: gunicorn('flask_app'),
  django: gunicorn('django_app'),
  celery: gunicorn('celery_app'),
};
