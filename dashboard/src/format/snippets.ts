/** Commands and code for a new project, to copy: they contain its id and, once it is created, its recording key. */
import { quote } from './curl.js';

export const SENDERS = ['curl', 'Express', 'Next.js', 'Fastify', 'OpenTelemetry', 'Import'] as const;

export type Sender = (typeof SENDERS)[number];

export interface Recipient {
  readonly origin: string;
  readonly projectId: string;
  /** The recording key; null if it is to be read from the environment. */
  readonly key: string | null;
}

export interface Snippet {
  readonly title: string;
  readonly code: string;
}

/** A request that proves address, project and key, and records nothing: a list without queries. */
export function testCommand(to: Recipient): string {
  return `${setKey(to, 'RECORDING_KEY')}${postCommand(to, '[]')}`;
}

/** What to copy in order to send queries. */
export function snippets(sender: Sender, to: Recipient): readonly Snippet[] {
  switch (sender) {
    case 'curl': {
      const code = `${setKey(to, 'RECORDING_KEY')}${postCommand(to, '{"id": "first-query", "caller": "web"}')}`;
      return [{ title: 'In a terminal', code }];
    }
    case 'Express':
      return middleware(
        to,
        'express',
        'const id = (request) => request.body.id;',
        "app.post('/ask', express.json(), recordQuestions({ recorder, rules, id }), answer);",
      );
    case 'Next.js':
      return middleware(
        to,
        'next',
        "const id = async (request) =>\n  (await request.json()).messages.findLast(({ role }) => role === 'user')?.id;",
        'export const POST = recordQuestions(answer, { recorder, rules, id, after });',
        "import { after } from 'next/server';\n",
      );
    case 'Fastify':
      return middleware(
        to,
        'fastify',
        'const id = (request) => request.body.id;',
        "app.register(\n  recordQuestions({ recorder, rules, id, isQuestion: (request) => request.url === '/ask' }),\n);",
      );
    case 'OpenTelemetry':
      return [{ title: 'In the environment of your assistant', code: telemetry(to) }];
    case 'Import':
      return [{ title: 'In a terminal', code: importCommands(to) }];
  }
}

function postCommand({ origin, projectId }: Recipient, body: string): string {
  return `curl ${quote(`${origin}/v1/analytics/${encodeURIComponent(projectId)}/assistant/queries`)} \\
  --header "Authorization: Bearer $RECORDING_KEY" \\
  --header 'Content-Type: application/json' \\
  --data ${quote(body)}`;
}

/** The line that sets the environment variable with the key, or nothing without a key. */
function setKey({ key }: Recipient, variable: string): string {
  return key === null ? '' : `export ${variable}=${quote(key)}\n`;
}

function middleware(
  to: Recipient,
  framework: string,
  id: string,
  use: string,
  imports = '',
): readonly Snippet[] {
  const install = `${setKey(to, 'RECORDING_KEY')}npm install ./caller-stats-client-0.1.0.tgz`;
  const code = `import { createRecorder } from 'caller-stats-client';
import { recordQuestions } from ${quote(`caller-stats-client/${framework}`)};
${imports}
const recorder = createRecorder({
  url: ${JSON.stringify(to.origin)},
  projectId: ${JSON.stringify(to.projectId)},
  key: process.env.RECORDING_KEY,
});
// Requests from these origins count as web.
const rules = { siteOrigins: ['https://docs.example.com'] };
// The id of the message in the body of the request: what is sent again counts once.
${id}

${use}`;
  return [
    { title: 'In a terminal', code: install },
    { title: 'In your server', code },
  ];
}

function telemetry({ origin, key }: Recipient): string {
  return `export OTEL_EXPORTER_OTLP_ENDPOINT=${quote(origin)}
export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
export OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20${key ?? '$RECORDING_KEY'}"
export OTEL_RESOURCE_ATTRIBUTES=service.name=docs-assistant,caller_stats.caller=web
export OTEL_METRICS_EXPORTER=none`;
}

function importCommands(to: Recipient): string {
  const command = `caller-stats import queries.ndjson --project ${quote(to.projectId)} --url ${quote(to.origin)}`;
  const key = to.key === null ? 'export CALLER_STATS_KEY="$RECORDING_KEY"\n' : setKey(to, 'CALLER_STATS_KEY');
  return `${key}${command} --dry-run\n${command}`;
}
