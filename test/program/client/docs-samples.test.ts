/** The code samples of the client's documentation run unchanged against a real server. */
import { describe, expect, test } from 'vitest';
import { sharedByTests } from '../../support/cleanup.js';
import { runCommand } from '../../support/cli/cli.js';
import { placeWithDemo, succeed } from '../../support/cli/cli-place.js';
import { samples } from '../../support/cli/samples.js';
import { MIDDLEWARE, SETTLE, snippetProgram } from '../../support/client/snippet-program.js';
import { root } from '../../tidy/sources.js';

const RECORDER = `import { createRecorder } from 'caller-stats-client';
const recorder = createRecorder({ url: 'https://stats.example.com', projectId: 'docs', key: process.env.KEY });`;
const REQUEST = "const request = new Request('https://docs.example.com/ask', { method: 'POST' });";
const MESSAGE = "const message = { id: 'm-1' };";
/** A sample, identified by its page and first line; the code before and after it; its expected output. */
const CASES: readonly (readonly [
  page: string,
  begins: string,
  before: string,
  after: string,
  prints: string,
])[] = [
  [
    'docs/guides/record/client.md',
    "import { createRecorder } from 'caller-stats-client';\n\nexport",
    MESSAGE,
    SETTLE,
    '1\n',
  ],
  [
    'docs/guides/record/client.md',
    'import { OTLPTraceExporter',
    '',
    'console.log(spanProcessors.length);',
    '2\n',
  ],
  [
    'docs/guides/record/client.md',
    'import { callerRulesProblems',
    `${RECORDER} ${REQUEST} const id = 'm-1';`,
    `console.log(problems.length); ${SETTLE}`,
    '0\n1\n',
  ],
  [
    'docs/guides/record/client.md',
    'const id = async (request)',
    `${RECORDER} import { recordQuestions } from 'caller-stats-client/next';
     const [rules, tasks] = [{}, []];
     const after = (task) => tasks.push(task());
     const answer = async (request) => Response.json(await request.json());`,
    `const messages = [{ role: 'user', id: 'm-1' }];
     const ask = (...more) => POST(new Request('https://docs.example.com/ask', {
       method: 'POST', body: JSON.stringify({ messages: [...messages, ...more] }) }));
     await ask(); await ask(); await ask({ role: 'assistant', id: 'a-1' });
     await Promise.all(tasks); console.log(recorder.stats.recorded, recorder.stats.duplicates);`,
    '1 2\n',
  ],
  [
    'docs/guides/record/client.md',
    "import { recordQuestions } from 'caller-stats-client/mcp'",
    `${RECORDER} import { McpServer, fromJsonSchema } from '@modelcontextprotocol/server';
     const [rules, inputSchema, ask] = [{}, fromJsonSchema({ type: 'object' }), async () => ({ content: [] })];
     const server = new McpServer({ name: 'docs', version: '1' });`,
    "console.log('taken');",
    'taken\n',
  ],
  [
    'docs/guides/record/client.md',
    "process.once('SIGTERM'",
    `${RECORDER} const server = { close: async () => console.log('closed') }; recorder.record({ id: 'm-1', caller: 'web' });
     process.on('exit', () => console.log(recorder.stats.recorded));`,
    "setInterval(() => {}, 1000); process.kill(process.pid, 'SIGTERM');",
    'closed\n1\n',
  ],
  [
    'docs/guides/record/client.md',
    "import { createRecorder } from 'caller-stats-client';\nimport { openSpool",
    '',
    `recorder.record({ id: 'm-1', caller: 'web' }); ${SETTLE}`,
    '1\n',
  ],
  [
    'docs/guides/record/client.md',
    'import { createReader',
    '',
    'console.log(total > 0, buckets.length > 0, callers.length > 0);',
    'true true true\n',
  ],
  [
    'README.md',
    'const recorder',
    `import { createRecorder, detectCaller } from 'caller-stats-client'; const key = process.env.KEY; ${REQUEST} ${MESSAGE}`,
    SETTLE,
    '1\n',
  ],
  ['docs/guides/record/record.md', 'import { createRecorder', '', SETTLE, '1\n'],
  [
    'clients/javascript/README.md',
    'import { createRecorder, detectCaller',
    `${REQUEST} ${MESSAGE}`,
    'console.log(recorder.stats.recorded);',
    '1\n',
  ],
];

function sampleOf(page: string, begins: string): string {
  const found = samples().filter((one) => one.page === page && one.code.startsWith(begins));
  expect(found, begins).toHaveLength(1);
  return found[0]?.code ?? '';
}

describe('the code samples record and read:', () => {
  const shared = sharedByTests(async () => {
    const place = await placeWithDemo();
    return { server: await place.serve(), firstRun: place.firstRun, folder: place.folder };
  });

  test.each(CASES)('%s: %s', async (page, begins, before, after, prints) => {
    const { server, firstRun, folder } = shared();
    const { project, admin, recording } = firstRun;
    const code = `${before}\n${sampleOf(page, begins)}\n${after}`
      // The samples share a server, which would count the same id only once.
      .replaceAll("'m-1'", `'${page} ${begins.length}'`)
      .replaceAll(/https:\/\/stats\.example\.com|http:\/\/127\.0\.0\.1:4000/g, server.url)
      .replaceAll("projectId: 'docs'", `projectId: '${project}'`)
      .replaceAll('/var/lib/assistant', folder);
    const keys = { KEY: recording, RECORDING_KEY: recording, CALLER_STATS_RECORDING_KEY: recording };
    const env = { ...keys, CALLER_STATS_ADMIN_KEY: admin };
    const args = ['--input-type=module', '--eval', code];
    const { stdout } = await succeed(runCommand(process.execPath, args, { env, cwd: root }));
    expect(stdout).toBe(prints);
  });

  test.each(['Express', 'Fastify', 'Next.js'] as const)(
    '%s: one message, sent three times, counts once with the code that the dashboard shows',
    async (sender) => {
      const { server, firstRun } = shared();
      const script = snippetProgram(sender, server.url, firstRun.project);
      const args = ['--input-type=module', '--eval', script];
      const env = { RECORDING_KEY: firstRun.recording };
      const { stdout } = await succeed(runCommand(process.execPath, args, { env, cwd: root }));
      expect(stdout).toBe('1\n');
    },
  );

  test.each(Object.entries(MIDDLEWARE))('the middleware of %s', async (name, before) => {
    const begins = `import { recordQuestions } from 'caller-stats-client/${name}'`;
    const part = sampleOf('docs/guides/record/client.md', begins);
    const code = `${RECORDER}\nconst rules = {};\n${before}\n${part}\nconsole.log('taken');`;
    const { stdout } = await succeed(
      runCommand(process.execPath, ['--input-type=module', '--eval', code], {
        env: { KEY: 'key' },
        cwd: root,
      }),
    );
    expect(stdout).toBe('taken\n');
  });
});
