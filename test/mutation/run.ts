/**
 * `npm run mutate` tests the domain with mutants, `npm run mutate -- PART` another part of the code, with names of files
 * behind it only those. Fails where a mutant survived that `survivors.json` does not explain, where that names one that did
 * not, and where less than nine in ten are killed. `--force` does not believe what an earlier run found.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { environmentOf, optionsOf, PARTS, type Part, reportsFolder } from './stryker.js';
import { type Explained, type Report, type Survivor, verdictOf } from './verdict.js';

const shareMin = 0.9;

const { values, positionals } = parseArgs({
  options: { force: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const [name = 'domain', ...files] = positionals;
const part = PARTS[name];
if (part === undefined)
  throw new Error(`There is no part ${name} of the code; there are ${Object.keys(PARTS).join(', ')}.`);

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const readJson = <T>(path: string | URL): T => JSON.parse(readFileSync(path, 'utf8')) as T;

await mutate(name, part);

async function mutate(name: string, part: Part): Promise<void> {
  Object.assign(process.env, environmentOf(name));
  mkdirSync(reportsFolder, { recursive: true });
  await new Stryker(optionsOf(name, part, { files, force: values.force })).runMutationTest();
  const report = readJson<Report>(`${reportsFolder}/${name}.json`);
  const list = readJson<Explained[]>(new URL('./survivors.json', import.meta.url));
  const { mutants, killed, explained, unexplained, outdated, share } = verdictOf(report, list);
  for (const one of unexplained) print(`Survived, and survivors.json does not explain it: ${shown(one)}`);
  for (const one of outdated) print(`Explained in survivors.json, but did not survive: ${shown(one)}`);
  print(
    `${name}: ${mutants} mutants, ${killed} killed, ${explained} explained, ${unexplained.length} not: ` +
      `${(share * 100).toFixed(1)} % of those that are not explained were killed.`,
  );
  if (unexplained.length > 0 || outdated.length > 0 || share < shareMin) process.exitCode = 1;
}

function shown({ file, mutator, line, original, replacement }: Survivor): string {
  return `${file}: ${mutator}\n  in   ${line}\n  from ${original}\n  to   ${replacement}`;
}
