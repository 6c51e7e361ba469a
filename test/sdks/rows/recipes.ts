/** The recipes for AI SDKs run as documented, and count each question once, also if it is asked again. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { whenOver } from '../../support/cleanup.js';
import { matched, runCommand, startCommand } from '../../support/cli/cli.js';
import { clientOf } from '../../support/cli/cli-client.js';
import { makeKey, placeWithProject, project } from '../../support/cli/cli-place.js';
import { samples, variablesIn } from '../../support/cli/samples.js';
import { startHttpServer } from '../../support/http-server.js';
import { read } from '../../tidy/sources.js';
import { sdksFolder } from '../support/folder.js';
import { answerLikeOpenAi } from '../support/model.js';
import type { Row } from './row.js';

const { path, text } = read('docs/guides/record/recipes-sdks.md');
const page = samples().filter((one) => one.page === path);

export const recipeRows: readonly Row[] = [
  rowOf('chat.mjs', askServer),
  rowOf('langchain.mjs', askProgram),
  rowOf('agents.mjs', askProgram),
];

interface Recipe {
  readonly file: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

/** `ask` asks two questions, the first of them twice. */
function rowOf(file: string, ask: (recipe: Recipe) => Promise<void>): Row {
  const count = async () => {
    const place = await placeWithProject();
    const [recording, admin] = [await makeKey(place, 'recording'), await makeKey(place, 'admin')];
    const { url } = await place.serve();
    await ask(await prepareRecipe(file, url, recording));
    const { body } = await clientOf({ url }, project, admin).count();
    expect(body.total).toBe(body.web);
    return body.web;
  };
  return { setup: `recipe ${file}: a question, the same again, another one`, correct: 2, count };
}

/** Writes the recipe to a folder, for a server and a key. */
export async function prepareRecipe(file: string, url: string, recording: string): Promise<Recipe> {
  // In the folder of the SDKs, so that they are found.
  const folder = await mkdtemp(join(sdksFolder, 'node_modules', 'recipes-'));
  whenOver(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, file), recipeIn(file));
  const env = {
    ...variablesIn(text),
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer%20${recording}`,
    OPENAI_API_KEY: 'none',
    OPENAI_BASE_URL: `${await startHttpServer(answerLikeOpenAi)}/v1`,
    OPENAI_AGENTS_DISABLE_TRACING: '0',
    PORT: '0',
  };
  return { file, folder, env };
}

/** The recipe, whose first line names its file. */
function recipeIn(file: string): string {
  const [recipe, ...others] = page.filter(({ code }) => code.startsWith(`// ${file}\n`));
  expect([recipe === undefined, others]).toEqual([false, []]);
  return recipe?.code ?? '';
}

/** Asks the recipe of a server a question for each id, with this text. */
export async function askServer(
  { file, folder, env }: Recipe,
  ids: readonly string[] = ['message-1', 'message-1', 'message-2'],
  question = 'How do I install it?',
): Promise<void> {
  const server = startCommand(process.execPath, [file], { cwd: folder, env });
  const port = matched(await server.printed(/listens on \d+/), /listens on (\d+)/);
  for (const id of ids) {
    const messages = [{ id, role: 'user', parts: [{ type: 'text', text: question }] }];
    const answer = await fetch(`http://127.0.0.1:${port}/api/chat`, {
      method: 'POST',
      body: JSON.stringify({ messages }),
    });
    expect(await answer.text()).toContain('install');
  }
  process.kill(server.pid, 'SIGTERM');
  await server.ended;
}

async function askProgram({ file, folder, env }: Recipe): Promise<void> {
  for (const id of ['message-1', 'message-1', 'message-2']) {
    const args = [file, id, 'How do I install it?'];
    const outcome = await runCommand(process.execPath, args, { cwd: folder, env });
    expect(outcome).toMatchObject({ status: 0, stdout: 'Run npm install.\n' });
  }
}
