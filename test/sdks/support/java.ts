/** The recipes for Spring Boot, built with the packages that `java/pom.xml` names. */
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { matched, startCommand } from '../../support/cli/cli.js';
import { temporaryFolder } from '../../support/temporary.js';
import { root } from '../../tidy/sources.js';
import { run } from './commands.js';
import { sdksFolder } from './folder.js';
import { recipe } from './recipe.js';
import type { Env, Service } from './service.js';

const page = 'docs/guides/record/recipes-java.md';
const sources = join(sdksFolder, 'java');
const agent = { version: '2.31.1', name: 'opentelemetry-javaagent' };

interface Told {
  /** In place of the recipe's. */
  readonly answers?: 'SpringAiAnswers.java' | 'LangChain4jAnswers.java';
  readonly hasAgent?: boolean;
  readonly rule?: string;
}

export const springService = (sdk: string, told: Told = {}): Service => ({
  language: 'Java',
  framework: 'Spring Boot',
  sdk,
  ...(told.rule !== undefined && { rule: told.rule }),
  start: async (env: Env) => {
    const processor = await buildProcessor();
    const program = await writeProgram(told);
    await maven('package', program);
    const started = told.hasAgent === true ? await withAgent(program, processor, env) : withMicrometer(env);
    const args = [
      ...started.options,
      '-jar',
      join(program, 'target/assistant-1.jar'),
      '--server.port=0',
      `--spring.ai.openai.base-url=${env['OPENAI_BASE_URL']}`,
      ...started.settings,
    ];
    const server = startCommand('java', args, { env: { ...env, ...started.env }, hangMs: 300_000 });
    const port = /Tomcat started on port (\d+)/;
    return { url: `http://127.0.0.1:${matched(await server.printed(port), port)}`, processes: [server] };
  },
});

const maven = (goal: string, folder: string, options: readonly string[] = []) =>
  run('mvn', ['--batch-mode', '--no-transfer-progress', '--quiet', goal, ...options], folder);

/** Tests and installs the span processor, as its recipe says, and returns the folder with its file. */
async function buildProcessor(): Promise<string> {
  const folder = await temporaryFolder();
  await cp(join(root, 'clients/java'), folder, { recursive: true });
  await maven('install', folder);
  return join(folder, 'target');
}

async function writeProgram({ answers, hasAgent = false }: Told): Promise<string> {
  const program = await temporaryFolder();
  const code = join(program, 'src/main/java/assistant');
  const resources = join(program, 'src/main/resources');
  for (const folder of [code, resources]) await mkdir(folder, { recursive: true });
  const write = (file: string, into = code) => writeFile(join(into, file), recipe(page, file));
  const packages = await readFile(join(sources, 'pom.xml'), 'utf8');
  const api = '<groupId>io.opentelemetry</groupId>\n      <artifactId>opentelemetry-api</artifactId>';
  const exporter = /<groupId>\S+<\/groupId>\s*<artifactId>spring-boot-starter-opentelemetry<\/artifactId>/;
  await writeFile(join(program, 'pom.xml'), hasAgent ? packages.replace(exporter, api) : packages);
  if (answers === undefined) await write('Answers.java');
  else await cp(join(sources, answers), join(code, 'Answers.java'));
  await write('Assistant.java');
  await write('ChatSpans.java');
  await write(hasAgent ? 'AgentTelemetry.java' : 'Telemetry.java');
  await write('application.properties', resources);
  return program;
}

interface Started {
  readonly options: readonly string[];
  readonly settings: readonly string[];
  readonly env: Env;
}

function withMicrometer(env: Env): Started {
  const key = env['OTEL_EXPORTER_OTLP_HEADERS']?.replace('Authorization=Bearer%20', '') ?? '';
  const delay = `--management.opentelemetry.tracing.export.schedule-delay=${env['OTEL_BSP_SCHEDULE_DELAY']}ms`;
  return { options: [], settings: [delay], env: { RECORDING_KEY: key } };
}

async function withAgent(program: string, processor: string, env: Env): Promise<Started> {
  const { name, version } = agent;
  const artifact = `-Dartifact=io.opentelemetry.javaagent:${name}:${version}`;
  await maven('dependency:copy', program, [
    artifact,
    `-DoutputDirectory=${program}`,
    '-Dmdep.stripVersion=true',
  ]);
  return {
    options: [
      `-javaagent:${join(program, `${name}.jar`)}`,
      `-Dotel.javaagent.extensions=${join(processor, 'caller-stats-opentelemetry.jar')}`,
    ],
    settings: [],
    env: { ...env, RECORDING_KEY: 'none', OTEL_METRICS_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' },
  };
}
