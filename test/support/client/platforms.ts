/** The recipes for platforms that stop a function after its answer, in a process that ends right after its last answer. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { root } from '../../tidy/sources.js';
import { whenOver } from '../cleanup.js';
import { runCommand } from '../cli/cli.js';
import { succeed } from '../cli/cli-place.js';
import { samples } from '../cli/samples.js';

/** The block of a page that contains a text. */
export function blockWith(page: string, text: string): string {
  const [block, ...others] = samples().filter((one) => one.page === page && one.code.includes(text));
  expect([block === undefined, others]).toEqual([false, []]);
  return block?.code ?? '';
}

/** Calls the recipe like its platform: with the body and the headers of a request. Returns the text of the response. */
export const platforms = {
  lambda: {
    import: "from 'hono/aws-lambda'",
    before: '',
    call: `async (headers, body) => {
      const http = { method: 'POST', path: '/ask', sourceIp: '127.0.0.1' };
      const event = { version: '2.0', rawPath: '/ask', rawQueryString: '', headers, body, isBase64Encoded: false,
        requestContext: { http, domainName: 'docs.test', stage: '$default' } };
      return (await recipe.handler(event, {})).body;
    }`,
  },
  vercel: {
    import: "from '@vercel/functions'",
    before: '',
    call: `async (headers, body) => {
      const response = await recipe.POST(new Request('https://docs.test/ask', { method: 'POST', headers, body }));
      const text = await response.text();
      await Promise.all(globalThis.waiting.splice(0));
      return text;
    }`,
  },
  cloudflare: {
    import: "from 'cloudflare:workers'",
    before: "Object.defineProperty(globalThis, 'navigator', { value: { userAgent: 'Cloudflare-Workers' } });",
    call: `async (headers, body) => {
      const waiting = [];
      const context = { waitUntil: (promise) => void waiting.push(promise) };
      const request = new Request('https://docs.test/ask', { method: 'POST', headers, body });
      const response = await recipe.default.fetch(request, {}, context);
      const text = await response.text();
      await Promise.all(waiting);
      return text;
    }`,
  },
} as const;

/** Asks four times, the second and the third time with one message. */
export async function askPlatform(
  name: keyof typeof platforms,
  to: { readonly url: string; readonly key: string; readonly project: string },
): Promise<void> {
  const { import: mark, before, call } = platforms[name];
  // In the project's folder, so that its packages are found.
  const folder = await mkdtemp(join(root, 'dist', `${name}-`));
  whenOver(() => rm(folder, { recursive: true, force: true }));
  const recipe = blockWith('docs/guides/record/recipes-serverless.md', mark)
    .replace("import { env } from 'cloudflare:workers';", 'const { env } = process;')
    .replace(
      "import { waitUntil } from '@vercel/functions';",
      'const waitUntil = (promise) => void (globalThis.waiting ??= []).push(promise);',
    )
    .replaceAll("projectId: 'my-docs'", `projectId: '${to.project}'`);
  await writeFile(join(folder, 'recipe.mjs'), recipe);
  await writeFile(
    join(folder, 'platform.mjs'),
    `${before}
     const recipe = await import('./recipe.mjs');
     const call = ${call};
     const headers = { 'content-type': 'application/json', origin: 'https://docs.example.com' };
     for (const id of ['first', 'second', 'second', 'last']) {
       const text = await call(headers, JSON.stringify({ id: '${name} ' + id, question: 'Why?' }));
       if (text !== '{"answer":"You asked: Why?"}') throw new Error(text);
     }
     process.exit();`,
  );
  const env = { CALLER_STATS_URL: to.url, RECORDING_KEY: to.key };
  const outcome = await succeed(runCommand(process.execPath, ['platform.mjs'], { cwd: folder, env }));
  expect(outcome.stderr).toBe('');
}
