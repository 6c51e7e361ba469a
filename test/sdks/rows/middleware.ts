/** The client's middleware in real servers: each question counts once, however the response ends. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { makeKey, placeWithProject, project, recordedIn } from '../../support/cli/cli-place.js';
import { samples } from '../../support/cli/samples.js';
import {
  countQuestions,
  onNode,
  QUESTIONS,
  type StartAssistant,
  startProgram,
} from '../../support/client/frameworks.js';
import {
  type App,
  binary,
  buildNext,
  buildNitro,
  buildSvelteKit,
  buildSvelteKitWorker,
  startWorker,
} from '../support/frameworks.js';
import { once, type Row } from './row.js';

/** `installed` returns the folder of the programs and their packages. */
export function middlewareRows(installed: () => string): Row[] {
  const apps: Readonly<Record<string, () => Promise<App>>> = {
    'Next.js on Node': once(() => buildNext(installed(), 'nodejs')),
    'Next.js on its edge runtime': once(() => buildNext(installed(), 'edge')),
    Nitro: once(() => buildNitro(installed())),
    SvelteKit: once(() => buildSvelteKit(installed())),
    'SvelteKit on workerd': once(() => buildSvelteKitWorker(installed())),
  };
  const run = (command: string, ...args: string[]): StartAssistant => {
    return (env) => startProgram(binary(installed(), command), args, { cwd: installed(), env });
  };
  const frameworks: Readonly<Record<string, StartAssistant>> = {
    'Express 5': onNode('express.mjs'),
    'Fastify 5': onNode('fastify.mjs'),
    'node:http': onNode('node.mjs'),
    'Hono on Node': (env) => onNode('hono-node.mjs', installed())(env),
    'Hono on workerd': (env) => startWorker(installed(), 'hono-worker.mjs', env),
    'a worker on workerd': (env) => startWorker(installed(), 'worker.mjs', env),
    'a route on workerd without the context': (env) =>
      startWorker(installed(), 'worker-without-context.mjs', env),
    Bun: run('bun', 'bun.mjs'),
    Deno: run('deno', 'run', '--allow-all', 'deno.mjs'),
    'Express on Bun': run('bun', 'express.mjs'),
    'Express on Deno': run('deno', 'run', '--allow-all', 'express.mjs'),
    ...Object.fromEntries(
      Object.entries(apps).map(([name, app]): [string, StartAssistant] => [
        name,
        async (env) => (await app()).serve(env),
      ]),
    ),
  };
  return [
    ...Object.entries(apps).map(([name, app]): Row => buildRow(name, app)),
    ...Object.entries(frameworks).flatMap(([name, start]) => questionRows(name, start)),
    workerRecipeRow(installed),
  ];
}

/** The recipe for Cloudflare Workers, as it is in the docs. */
function workerRecipeRow(installed: () => string): Row {
  const count = async () => {
    const place = await placeWithProject();
    const { url } = await place.serve();
    const recipe = samples().find(({ code }) => code.includes("from 'cloudflare:workers'"));
    const code = recipe?.code.replace("projectId: 'my-docs'", `projectId: '${project}'`) ?? '';
    await writeFile(join(installed(), 'worker-recipe.mjs'), code);
    const env = { CALLER_STATS_URL: url, RECORDING_KEY: await makeKey(place, 'recording') };
    const worker = await startWorker(installed(), 'worker-recipe.mjs', env);
    for (const id of ['first', 'first', 'second']) {
      const init = { method: 'POST', body: JSON.stringify({ id, question: 'Why?' }) };
      await (await fetch(worker, init)).text();
    }
    await expect.poll(() => recordedIn(place)).toBe(2);
    return recordedIn(place);
  };
  return {
    setup: 'recipe for Cloudflare Workers: a question, the same again, another one',
    correct: 2,
    count,
  };
}

/** Building loads the module that creates the recorder. */
function buildRow(name: string, app: () => Promise<App>): Row {
  const count = async () => {
    const { status, stdout, stderr } = (await app()).built;
    if (status !== 0) return `fails: ${stderr}`;
    return /createRecorder|caller-stats-client/.test(stdout + stderr) ? 'warns' : 'builds';
  };
  return { setup: `${name}: built without the variables of the recorder`, correct: 'builds', count };
}

/** All are asked for by the first row. */
function questionRows(name: string, start: StartAssistant): Row[] {
  const counted = once(() => countQuestions(start));
  return Object.entries(QUESTIONS).map(([kind, { what, correct }]) => ({
    setup: `${name}, recordQuestions: ${what}`,
    correct,
    count: async () => (await counted())[kind] ?? 0,
  }));
}
