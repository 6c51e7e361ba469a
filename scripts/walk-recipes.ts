/**
 * The recipes, followed like a new user: each in an empty folder with an empty cache of npm, by the commands and files of its
 * page, until the server counts the question. A server on loopback answers in place of the model.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { answerLikeOpenAi } from '../test/sdks/support/model.js';
import { variablesIn } from '../test/support/cli/samples.js';

export interface RecipeTime {
  readonly page: string;
  readonly recipe: string;
  /** The version of what runs it. */
  readonly version: string;
  /** Undefined if this machine does not have that. */
  readonly seconds: number | undefined;
}

/** A project of its own for a recipe, because all of them send the same id. */
export interface Target {
  readonly url: string;
  readonly project: string;
  readonly key: string;
  readonly count: () => Promise<number>;
}

const countMsMax = 60_000;

interface Recipe {
  readonly name: string;
  readonly commands: readonly string[];
  readonly file: string;
  readonly program: string;
}

/** The recipes of the pages in the folder `pages`, in `folder`, which is empty. */
export async function walkRecipes(
  pages: string,
  folder: string,
  makeTarget: (project: string) => Target,
): Promise<RecipeTime[]> {
  const model = createServer((request, response) => void answerLikeOpenAi(request, response));
  await once(model.listen(0, '127.0.0.1'), 'listening');
  const modelUrl = `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`;
  const times: RecipeTime[] = [];
  for (const page of ['recipes.md', 'recipes-sdks.md']) {
    const text = readFileSync(join(pages, page), 'utf8');
    for (const recipe of recipesIn(text)) {
      process.stderr.write(`${recipe.name}\n`);
      const name = `recipe-${times.length + 1}`;
      const here = join(folder, name);
      mkdirSync(here);
      const version = versionOf(recipe);
      const target = makeTarget(name);
      const env = { ...process.env, ...variablesIn(text), ...variablesOf(target), OPENAI_BASE_URL: modelUrl };
      const seconds = version === undefined ? undefined : await follow(recipe, here, env, target);
      times.push({ page, recipe: recipe.name, version: version ?? '', seconds });
    }
  }
  model.close();
  model.closeAllConnections();
  return times;
}

/** What the pages leave to the reader. */
function variablesOf({ url, project, key }: Target): Readonly<Record<string, string>> {
  return {
    CALLER_STATS_URL: url,
    CALLER_STATS_PROJECT: project,
    CALLER_STATS_RECORDING_KEY: key,
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer%20${key}`,
    OPENAI_API_KEY: 'none',
  };
}

/** Each program of a page with its commands, which are in the block of `sh` that names its file. */
function recipesIn(page: string): Recipe[] {
  const blocks = [...page.matchAll(/^```(\w+)(?: \[([^\]]+)\])?\n([\s\S]*?)^```/gm)].map(
    ({ 1: language, 2: tab, 3: code = '', index }) => {
      const heading = [...page.slice(0, index).matchAll(/^## (.+)$/gm)].at(-1)?.[1] ?? '';
      return { language, tab, code, heading };
    },
  );
  return blocks
    .filter(({ language }) => language !== 'sh')
    .map(({ tab, code, heading }) => {
      const file = tab ?? /^\/\/ (\S+)/.exec(code)?.[1] ?? '';
      const shell = blocks.find((one) => one.language === 'sh' && one.code.includes(file));
      const commands = (shell?.code ?? '').replaceAll('\\\n', ' ').trim().split('\n');
      return { name: shell?.tab ?? heading, commands, file, program: code };
    });
}

/** Undefined if this machine does not have the language. */
function versionOf({ name, commands }: Recipe): string | undefined {
  const [program = ''] = commands.at(-1)?.split(' ') ?? [];
  if (program === 'node' || program === 'curl') return `Node ${process.versions.node}`;
  try {
    const args = [program === 'go' ? 'version' : '--version'];
    return `${name} ${/\d+(\.\d+)+/.exec(execFileSync(program, args, { encoding: 'utf8' }))?.[0]}`;
  } catch {
    return undefined;
  }
}

/** Runs the commands one after another. The seconds until the question counts. */
async function follow(
  { commands, file, program }: Recipe,
  folder: string,
  env: NodeJS.ProcessEnv,
  { count }: Target,
): Promise<number> {
  const before = await count();
  const begin = performance.now();
  writeFileSync(join(folder, file), program);
  const servers: ChildProcess[] = [];
  for (const command of commands) {
    // As a process of its own, so that it can be stopped: a shell does not pass signals on.
    const child = spawn('sh', ['-c', `exec ${command}`], {
      cwd: folder,
      env: { ...env, npm_config_cache: join(folder, 'cache'), GOCACHE: join(folder, 'cache') },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const listens = new Promise<'listens'>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => {
        if (chunk.toString().includes('listens on')) resolve('listens');
      });
    });
    const outcome = await Promise.race([listens, once(child, 'exit')]);
    if (outcome === 'listens') servers.push(child);
    else if (outcome[0] !== 0) throw new Error(`${command} exited with ${outcome[0]}`);
  }
  const ended = performance.now();
  while ((await count()) === before) {
    if (performance.now() - ended > countMsMax) throw new Error(`${file}: the question does not count`);
    await wait(100);
  }
  const seconds = (performance.now() - begin) / 1000;
  for (const server of servers) server.kill();
  if ((await count()) !== before + 1) throw new Error(`${file}: one question does not count once`);
  return seconds;
}
