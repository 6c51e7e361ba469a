/** The recipe for Spring Boot, built with the packages that `java/pom.xml` names. */
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { matched, startCommand } from '../../support/cli/cli.js';
import { temporaryFolder } from '../../support/temporary.js';
import { run } from './commands.js';
import { sdksFolder } from './folder.js';
import { recipe } from './recipe.js';
import type { Env, Service } from './service.js';

const page = 'docs/guides/record/recipes-java.md';
const sources = join(sdksFolder, 'java');

/** The recipe, with its own `Answers.java` or with that of the tests. */
export const springService = (sdk: string, isOwn: boolean): Service => ({
  language: 'Java',
  framework: 'Spring Boot',
  sdk,
  start: async (env: Env) => {
    const program = await temporaryFolder();
    const code = join(program, 'src/main/java/assistant');
    const resources = join(program, 'src/main/resources');
    for (const folder of [code, resources]) await mkdir(folder, { recursive: true });
    await cp(join(sources, 'pom.xml'), join(program, 'pom.xml'));
    const answers = join(code, 'Answers.java');
    if (isOwn) await writeFile(answers, recipe(page, 'Answers.java'));
    else await cp(join(sources, 'Answers.java'), answers);
    await writeFile(join(code, 'Assistant.java'), recipe(page, 'Assistant.java'));
    await writeFile(join(resources, 'application.properties'), recipe(page, 'application.properties'));
    await run('mvn', ['--batch-mode', '--no-transfer-progress', '--quiet', 'package'], program);
    const args = [
      '-jar',
      join(program, 'target/assistant-1.jar'),
      '--server.port=0',
      `--spring.ai.openai.base-url=${env['OPENAI_BASE_URL']}`,
      `--management.opentelemetry.tracing.export.schedule-delay=${env['OTEL_BSP_SCHEDULE_DELAY']}ms`,
    ];
    const key = env['OTEL_EXPORTER_OTLP_HEADERS']?.replace('Authorization=Bearer%20', '') ?? '';
    const server = startCommand('java', args, { env: { ...env, RECORDING_KEY: key }, hangMs: 300_000 });
    const port = /Tomcat started on port (\d+)/;
    return { url: `http://127.0.0.1:${matched(await server.printed(port), port)}`, processes: [server] };
  },
});
