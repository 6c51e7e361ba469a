/** Setups that lose or double questions easily, with the real sender of each: what is counted, and who is told of the rest. */

import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { type ClientRequest, request } from 'node:http';
import { join, relative } from 'node:path';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { runCommand } from '../../support/cli/cli.js';
import type { Place } from '../../support/cli/cli-place.js';
import type { Outcome } from '../../support/cli/process.js';
import {
  type AssistantEnv,
  countQuestions,
  QUESTIONS,
  startProgram,
} from '../../support/client/frameworks.js';
import { askPlatform } from '../../support/client/platforms.js';
import { snippetProgram } from '../../support/client/snippet-program.js';
import { oddSpans, spanId, traceId } from '../../support/http/telemetry.js';
import { startHttpServer } from '../../support/http-server.js';
import { root } from '../../tidy/sources.js';
import { sdksFolder } from '../support/folder.js';
import { binary, buildSvelteKitWorker, startWorker } from '../support/frameworks.js';
import { askServer, prepareRecipe } from './recipes.js';

/** A server as a process, and a project of this row with its keys. */
interface World {
  readonly place: Place;
  readonly url: string;
  readonly project: string;
  readonly key: string;
  /** The metrics of the server. */
  readonly metrics: string;
  /** The folder of the programs for frameworks and their packages. */
  readonly installed: () => string;
}

export interface LostRow {
  readonly setup: string;
  readonly sent: number;
  /** What is right; all that was sent unless given. */
  readonly right?: number;
  /** What somebody must be told, by the sender or on *Sources*. */
  readonly told?: RegExp;
  /** Does it. Returns what the sender was told, and what was counted if that is not in the project of this row. */
  readonly send: (world: World) => Promise<string | { readonly told: string; readonly counted: number }>;
}

/** Runs a program with a recorder of these options, which end the process without a callback. */
function record({ url, project, key }: World, code: string, options: object = {}): Promise<Outcome> {
  const all = JSON.stringify({ url, projectId: project, key, ...options });
  const program = `
    import { createRecorder } from 'caller-stats-client';
    import { openSpool } from 'caller-stats-client/spool';
    import { recordQuestions } from 'caller-stats-client/fetch';
    const options = ${all};
    const record = (recorder, name, count) => {
      for (let at = 0; at < count; at++) recorder.record({ id: name + at, caller: 'web' });
    };
    const ask = (id) => new Request('https://docs.example.com/ask', { method: 'POST', body: JSON.stringify({ id }) });
    const id = async (request) => (await request.json()).id;
    ${code}`;
  const args = ['--input-type=module', '--eval', program];
  return runCommand(process.execPath, args, { cwd: root, hangMs: 60_000 });
}

const printed = ({ stdout, stderr }: Outcome) => `${stdout}${stderr}`;

async function post({ url, key }: World, path: string, type: string, body: string | Uint8Array) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': type };
  const answer = await fetch(url + path, { method: 'POST', headers, body: Buffer.from(body) });
  return `${answer.status} ${await answer.text()}`;
}

const queries = ({ project }: World) => `/v1/analytics/${project}/assistant/queries`;
const json = 'application/json';
const traces = (world: World, spans: readonly object[]) =>
  post(world, '/v1/traces', json, JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }));

/** A span of a question, as an exporter writes it. */
const span = (at: number, more: object = {}) => ({
  traceId: traceId(at),
  spanId: spanId(1),
  startTimeUnixNano: String(BigInt(Date.now()) * 1_000_000n),
  attributes: [{ key: 'gen_ai.operation.name', value: { stringValue: 'chat' } }],
  ...more,
});

/** Small spans in batches of a size, by an exporter of OpenTelemetry. */
async function exportSpans(exporter: SpanExporter, size: number): Promise<string> {
  const failures: string[] = [];
  const watched: SpanExporter = {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error !== undefined) failures.push(String(result.error));
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
  const batches = { maxExportBatchSize: size, maxQueueSize: 2 * size, scheduledDelayMillis: 60_000 };
  const tracers = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(watched, batches)] });
  const attributes = { 'gen_ai.operation.name': 'chat' };
  for (let at = 0; at < size; at++) tracers.getTracer('assistant').startSpan('chat', { attributes }).end();
  await tracers.shutdown();
  return failures.join();
}

const exporterTo = ({ url, key }: World) => ({
  url: `${url}/v1/traces`,
  headers: { authorization: `Bearer ${key}` },
  timeoutMillis: timeoutMs,
});

/** A machine that does much else takes more than the ten seconds that exporters wait. */
const timeoutMs = 120_000;

const telemetry: readonly LostRow[] = [
  {
    setup: 'AI SDK 7 as in the recipe, 90 questions of 60 KB',
    sent: 90,
    send: async (world) => {
      const ids = Array.from({ length: 90 }, (_, at) => `message-${at}`);
      await askServer(await prepareRecipe('chat.mjs', world.url, world.key), ids, 'x'.repeat(60_000));
      return '';
    },
  },
  {
    setup: 'AI SDK 7, 20 questions of 10 steps with 60 KB each',
    sent: 20,
    send: async ({ url, key }) => {
      const env = {
        OTEL_EXPORTER_OTLP_ENDPOINT: url,
        OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer%20${key}`,
        // All 600 spans in one batch, which the process waits for.
        OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1000',
        OTEL_BSP_SCHEDULE_DELAY: '600000',
        OTEL_EXPORTER_OTLP_TIMEOUT: String(timeoutMs),
      };
      const args = [join(sdksFolder, 'run.mjs'), 'ai-sdk', 'tenSteps', '7'];
      return printed(await runCommand(process.execPath, args, { env }));
    },
  },
  {
    setup: 'OTLP exporter, a batch of 8,192 spans in protobuf',
    sent: 8192,
    send: (world) => exportSpans(new ProtobufExporter(exporterTo(world)), 8192),
  },
  {
    setup: 'OTLP exporter, a batch of 4,096 spans in JSON',
    sent: 4096,
    send: (world) => exportSpans(new JsonExporter(exporterTo(world)), 4096),
  },
  {
    setup: 'odd spans beside good ones: invalid UTF-8, 2^60, bad times, a numeric parent',
    sent: 10,
    right: 7,
    told: /"rejectedSpans":"?3.*startTimeUnixNano.*parentSpanId/,
    send: (world) => post(world, '/v1/traces', json, oddSpans(BigInt(Date.now()) * 1_000_000n)),
  },
  {
    setup: 'OTLP JSON with enum names, snake_case, instrumentationLibrarySpans',
    sent: 3,
    send: async (world) => {
      const bodies = [
        { resourceSpans: [{ scopeSpans: [{ spans: [span(1, { kind: 'SPAN_KIND_INTERNAL' })] }] }] },
        { resourceSpans: [{ instrumentationLibrarySpans: [{ spans: [span(2)] }] }] },
        {
          resource_spans: [
            {
              scope_spans: [
                {
                  spans: [
                    {
                      trace_id: traceId(3),
                      span_id: spanId(1),
                      start_time_unix_nano: span(3).startTimeUnixNano,
                      attributes: [{ key: 'gen_ai.operation.name', value: { string_value: 'chat' } }],
                    },
                  ],
                },
              ],
            },
          ],
        },
      ];
      const answers: string[] = [];
      for (const body of bodies) answers.push(await post(world, '/v1/traces', json, JSON.stringify(body)));
      return answers.join(' ');
    },
  },
  {
    setup: 'OTLP with times in another unit, of the year 1 and years ahead',
    sent: 4,
    right: 1,
    told: /"rejectedSpans":"?3.*time-ahead.*time-past|"rejectedSpans":"?3.*time-past.*time-ahead/,
    send: (world) =>
      traces(world, [
        span(1),
        span(2, { startTimeUnixNano: String(Date.now()) }),
        span(3, { startTimeUnixNano: '-62135596800000000000' }),
        span(4, { startTimeUnixNano: String((BigInt(Date.now()) + 1_000_000_000_000n) * 1_000_000n) }),
      ]),
  },
  {
    setup: 'HTTP with a time of the year 1',
    sent: 1,
    told: /time-doubtful/,
    send: (world) =>
      post(world, queries(world), json, '{"id":"a","caller":"web","occurredAt":"0001-01-01T00:00:00Z"}'),
  },
  {
    setup: 'caller_stats.id as a number, on three spans of one question',
    sent: 3,
    right: 1,
    send: (world) => {
      const id = { key: 'caller_stats.id', value: { intValue: '17' } };
      return traces(
        world,
        [1, 2, 3].map((at) => span(at, { attributes: [...span(at).attributes, id] })),
      );
    },
  },
];

const lines = (name: string, count: number) =>
  Array.from({ length: count }, (_, at) => `{"id":"${name}-${at}","caller":"web"}\n`).join('');

const http: readonly LostRow[] = [
  {
    setup: 'NDJSON as application/json, one line and then five',
    sent: 6,
    send: async (world) => {
      const one = await post(world, queries(world), json, lines('one', 1));
      return `${one} ${await post(world, queries(world), json, lines('five', 5))}`;
    },
  },
  ...(
    [
      [301, []],
      [301, ['--request', 'POST']],
      [308, []],
    ] as const
  ).map(
    ([status, options]): LostRow => ({
      setup: `${['curl --location', ...options].join(' ')} to an address that a proxy redirects with ${status}`,
      sent: 1,
      right: 0,
      told: /a redirect has (made this (GET|POST) of|left) it.*; send it to http:\/\/127\S+\/queries itself/,
      send: async (world) => {
        const { url, key } = world;
        const headers = [`authorization: Bearer ${key}`, `content-type: ${json}`];
        const args = [
          ...['--silent', '--location', ...options],
          ...headers.flatMap((header) => ['--header', header]),
          ...['--data', '{"id":"a","caller":"web"}', (await redirectTo(url, status)) + queries(world)],
        ];
        return printed(await runCommand('curl', args, {}));
      },
    }),
  ),
  {
    setup: 'a recording key that expires in ten days',
    sent: 1,
    told: /caller-stats-key-expires.*doctor: .* expires at.*metric: [1-9].*Sources: .*is in use/s,
    send: async ({ place, url, project, metrics }) => {
      const create = ['key', 'create', '--name', 'Website', '--type', 'recording', '--project', project];
      const { stdout } = await place.run([...create, '--expires', '10d']);
      const world = { place, url, project, key: stdout.trim() };
      const headers = { authorization: `Bearer ${world.key}`, 'content-type': json };
      const body = '{"id":"a","caller":"web"}';
      const path = `/v1/analytics/${project}/assistant/queries`;
      const answer = await fetch(url + path, { method: 'POST', headers, body });
      const doctor = await place.run(['doctor', '--json'], { env: { PORT: '0' } });
      const found = /"message": *"([^"]*expires at [^"]*)/.exec(doctor.stdout.replaceAll('\\"', "'"))?.[1];
      const seconds = /key_expiry_seconds\{[^}]*\} (\S+)/.exec(await (await fetch(metrics)).text())?.[1];
      const header = 'caller-stats-key-expires';
      return `${header}: ${answer.headers.get(header)}, doctor: ${found}, metric: ${seconds} s`;
    },
  },
];

/** Redirects everything to the server, as a proxy does to https. */
const redirectTo = (url: string, status = 301) =>
  startHttpServer((from, answer) => answer.writeHead(status, { location: url + from.url }).end());

const once = "record(createRecorder(options), 'a', 1);";
const wrong: readonly (readonly [
  what: string,
  options: object,
  code: string,
  told: RegExp,
  sees?: RegExp,
])[] = [
  ['a wrong key', { key: 'cs_recording_wrong' }, once, /not counted.*API key/s, /key-unknown/],
  ['a key of another project', { projectId: 'other' }, once, /not counted.*no such project/s],
  ['a wrong port', { url: 'http://127.0.0.1:2' }, once, /not counted.*No response from/s],
  [
    'a clock two days ahead',
    {},
    `const { now } = Date; Date.now = () => now() + 2 * 86_400_000; ${once}`,
    /not counted.*ahead of the server's clock/s,
    /time-ahead/,
  ],
  [
    "caller: 'Slack'",
    {},
    "createRecorder(options).record({ id: 'a', caller: 'Slack' });",
    /not counted.*caller: "Slack"/s,
  ],
  ['a numeric id', {}, "createRecorder(options).record({ id: 7, caller: 'web' });", /not counted.*id: 7/s],
];

const recorders: readonly LostRow[] = [
  ...wrong.map(
    ([what, options, code, told, sees]): LostRow => ({
      setup: `recorder with ${what}`,
      sent: 1,
      right: 0,
      told: sees === undefined ? told : new RegExp(`${told.source}.*${sees.source}`, 's'),
      send: async (world) => printed(await record(world, code, options)),
    }),
  ),
  {
    setup: 'recorder to an address that a proxy redirects',
    sent: 1,
    right: 0,
    told: /not counted.*redirect.*http:\/\/127/s,
    send: async (world) => {
      return printed(await record(world, once, { url: await redirectTo(world.url) }));
    },
  },
  {
    setup:
      'four processes with the id 1, by a link and a relative path too, with the module twice, share a spool and are killed',
    sent: 200,
    send: async (world) => {
      const folder = world.place.path(`spool-${world.project}`);
      await mkdir(folder);
      await symlink(folder, `${folder}-link`);
      const spool = JSON.stringify(folder);
      const keep = (name: string, path: string) => `
        Object.defineProperty(process, 'pid', { value: 1 });
        const again = await import(import.meta.resolve('caller-stats-client/spool') + '?again');
        for (const [at, open] of [openSpool, again.openSpool].entries())
          record(createRecorder({ ...options, onError: () => {}, spool: open(${JSON.stringify(path)}) }), '${name}' + at, 25);
        process.kill(process.ppid && Number((await import('node:fs')).readlinkSync('/proc/self')), 'SIGKILL');`;
      const away = { url: 'http://127.0.0.1:2' };
      const paths = { a: folder, b: folder, c: `${folder}-link`, d: relative(root, folder) };
      await Promise.all(Object.entries(paths).map(([name, path]) => record(world, keep(name, path), away)));
      // Those who come next, a minute later.
      const adopt = `
        const { readdirSync, utimesSync } = await import('node:fs');
        for (const file of readdirSync(${spool})) utimesSync(${spool} + '/' + file, 0, 0);
        await createRecorder({ ...options, spool: openSpool(${spool}) }).close();`;
      return printed(await record(world, adopt));
    },
  },
];

/** The handler of a request, behind the middleware of `fetch`; `code` asks it. */
const handler = (code: string) => `
  const recorder = createRecorder(options);
  const answer = () => new Response('Because.');
  ${code}
  await recorder.close();`;

const websocket = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' };

/** Resolves when the server has changed to WebSocket, and leaves. */
function changeToWebSocket(url: string): Promise<void> {
  const headers = { ...websocket, 'Sec-WebSocket-Key': Buffer.alloc(16).toString('base64') };
  return new Promise((resolve, reject) => {
    const asked: ClientRequest = request(url, { headers });
    asked.on('upgrade', (_, socket) => {
      socket.destroy();
      resolve();
    });
    asked.on('error', reject).end();
  });
}

const asked = Object.values(QUESTIONS).reduce((sum, { correct }) => sum + correct, 0);

/** Every kind of question in a server of workerd. */
const workerRow = (
  what: string,
  start: (installed: string, env: AssistantEnv) => Promise<string>,
): LostRow => ({
  setup: `${what} on workerd`,
  sent: asked,
  send: async ({ installed }) => {
    const counts = await countQuestions((env) => start(installed(), env));
    return { told: '', counted: Object.values(counts).reduce((sum, count) => sum + count, 0) };
  },
});

const middleware: readonly LostRow[] = [
  workerRow('Hono', (installed, env) => startWorker(installed, 'hono-worker.mjs', env)),
  workerRow('SvelteKit', async (installed, env) => (await buildSvelteKitWorker(installed)).serve(env)),
  workerRow('a route without the context', (installed, env) =>
    startWorker(installed, 'worker-without-context.mjs', env),
  ),
  ...(['lambda', 'vercel', 'cloudflare'] as const).map(
    (name): LostRow => ({
      setup: `${name}, frozen after its answer: three messages, one of them twice`,
      sent: 4,
      right: 3,
      send: async (world) => {
        await askPlatform(name, world);
        return '';
      },
    }),
  ),
  {
    setup: 'Bun: a change to WebSocket, then a question',
    sent: 1,
    send: async ({ installed, url, project, key }) => {
      const env = { CALLER_STATS_URL: url, CALLER_STATS_PROJECT: project, CALLER_STATS_RECORDING_KEY: key };
      const args = ['bun-websocket.mjs'];
      const bun = await startProgram(binary(installed(), 'bun'), args, { cwd: installed(), env });
      await changeToWebSocket(bun);
      return (await fetch(bun, { method: 'POST', body: '{}' })).text();
    },
  },
  {
    setup: 'a body that is locked, and one that was read, with the option id',
    sent: 2,
    told: /body/i,
    send: async (world) =>
      printed(
        await record(
          world,
          handler(`
            const POST = recordQuestions(answer, { recorder, id });
            const [locked, read] = [ask('a'), ask('b')];
            locked.body.getReader();
            await read.text();
            for (const one of [locked, read]) if ((await POST(one)).status !== 200) throw new Error('no answer');`),
        ),
      ),
  },
  {
    setup: 'the middleware twice',
    sent: 1,
    send: async (world) =>
      printed(
        await record(
          world,
          handler(`
            const POST = recordQuestions(recordQuestions(answer, { recorder }), { recorder, id });
            await POST(ask('a'));`),
        ),
      ),
  },
  ...(['Next.js', 'Express', 'Fastify'] as const).map(
    (sender): LostRow => ({
      setup: `the dashboard's code for ${sender}: one message three times`,
      sent: 3,
      right: 1,
      send: async ({ url, project, key }) => {
        const args = ['--input-type=module', '--eval', snippetProgram(sender, url, project)];
        return printed(await runCommand(process.execPath, args, { env: { RECORDING_KEY: key }, cwd: root }));
      },
    }),
  ),
];

/** Imports a file, with what the command prints. */
async function importFile(
  { place, project }: World,
  name: string,
  content: string | Uint8Array,
  ...args: string[]
) {
  await writeFile(place.path(name), content);
  return printed(await place.run(['import', name, '--project', project, ...args]));
}

const csv = (...rows: string[]) => `${['id,caller,occurredAt', ...rows].join('\n')}\n`;

const imports: readonly LostRow[] = [
  {
    setup: 'access logs of two servers behind a balancer',
    sent: 600,
    told: /occur in several.*--source/s,
    send: async (world) => {
      const { place, project } = world;
      const log = Array.from({ length: 300 }, (_, at) => {
        const time = new Date(at * 1000).toISOString().slice(14, 19);
        return `192.0.2.1 - - [15/Jun/2026:10:${time} +0000] "POST /ask HTTP/1.1" 200 5 "-" "curl/8"\n`;
      }).join('');
      for (const name of ['web-1', 'web-2']) await writeFile(place.path(name), log);
      const args = ['--project', project, '--path', '^/ask', '--caller', 'web'];
      const both = await place.run(['import', 'log', 'web-1', 'web-2', ...args]);
      for (const name of ['web-1', 'web-2'])
        await place.run(['import', 'log', name, ...args, '--source', name]);
      return printed(both);
    },
  },
  {
    setup: 'CSV with a stray quote',
    sent: 5,
    right: 4,
    told: /quote\.csv:3: has a quote/,
    send: (world) =>
      importFile(
        world,
        'quote.csv',
        csv(
          'a,web,2026-01-01T00:00:00Z',
          'b,"web,2026-01-01T00:00:00Z',
          ...['c', 'd', 'e'].map((id) => `${id},web,2026-01-01T00:00:00Z`),
        ),
      ),
  },
  {
    setup: 'CSV in UTF-16 with a line sep=; and local times',
    sent: 2,
    send: (world) => {
      const text =
        '\ufeffsep=;\r\nid;caller;occurredAt\r\na;web;2026-01-01 10:00:00\r\nb;web;2026-01-02 10:00:00';
      return importFile(world, 'utf16.csv', Buffer.from(text, 'utf16le'), '--time-zone', 'Europe/Berlin');
    },
  },
  {
    setup: 'CSV with local times, without --time-zone',
    sent: 1,
    right: 0,
    told: /--time-zone/,
    send: (world) => importFile(world, 'local.csv', csv('a,web,2026-01-01 10:00:00')),
  },
  {
    setup: 'CSV of a spreadsheet that shortened the ids to 1.2E+17',
    sent: 3,
    right: 0,
    told: /E\+17/,
    send: (world) =>
      importFile(world, 'ids.csv', csv(...[1, 2, 3].map((day) => `1.2E+17,web,2026-01-0${day}T00:00:00Z`))),
  },
  {
    setup: 'a zip or xlsx file',
    sent: 1,
    right: 0,
    told: /zip|xlsx/i,
    send: (world) => importFile(world, 'export.xlsx', Buffer.from('PK\u0003\u0004 and more of it')),
  },
];

export const lostRows: readonly LostRow[] = [...telemetry, ...http, ...recorders, ...middleware, ...imports];
