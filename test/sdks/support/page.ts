/** The results on the page docs/engineering/sdks.md: a table after the comment with the name of each language. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { read, root } from '../../tidy/sources.js';
import { SCENARIOS, type Service } from './service.js';

export interface Result {
  readonly service: Service;
  readonly counted: Readonly<Record<string, number>>;
}

const path = 'docs/engineering/sdks.md';

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

const nameOf = ({ framework, sdk }: Service) => `| ${framework} | ${sdk} |`;

/** Writes the rows of these results. Those of the other services stay. */
export async function writePage(results: readonly Result[], services: readonly Service[]): Promise<void> {
  let { text } = read(path);
  for (const language of new Set(results.map(({ service }) => service.language))) {
    const place = new RegExp(`(<!-- ${language} -->\n)([^#]*)`);
    const before = place.exec(text)?.[2]?.split('\n') ?? [];
    const rows = services
      .filter((service) => service.language === language)
      .flatMap((service) => {
        const result = results.find((one) => one.service === service);
        const row =
          result === undefined ? before.find((line) => line.startsWith(nameOf(service))) : rowOf(result);
        return row ?? [];
      });
    const table = ['| app | SDK | asked | counted | wrong |', '| --- | --- | ---: | ---: | --- |', ...rows];
    text = text.replace(place, (_, mark: string) => `${mark}\n${table.join('\n')}\n\n`);
  }
  await writeFile(join(root, path), `${text.trimEnd()}\n`);
}

function rowOf({ service, counted }: Result): string {
  const asked = sum(Object.values(SCENARIOS).map(({ right }) => right));
  const wrong = Object.entries(counted).flatMap(([name, number]) => {
    const { right = 0, what = `the caller ${name}` } = SCENARIOS[name] ?? {};
    return number === right ? [] : [`${what}: ${number} for ${right}`];
  });
  const why = wrong.length === 0 ? 'nothing' : [...wrong, service.wrong?.why ?? ''].join('; ');
  return `${nameOf(service)} ${asked} | ${sum(Object.values(counted))} | ${why} |`;
}
