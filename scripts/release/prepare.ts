/** The steps from a clean clone to a tag. The release workflow does everything after the tag is pushed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { releaseChanges } from './changelog.js';
import {
  findPlaceholderProblems,
  findVersionProblems,
  isVersion,
  MENTIONS,
  PYTHON_VERSION_FILE,
  replaceMentions,
} from './versions.js';

export interface Preparation {
  /** The clone. */
  readonly folder: string;
  readonly version: string;
  /** `YYYY-MM-DD`. */
  readonly date: string;
  /** Runs a program in the clone, and returns what it prints. Throws if it fails. */
  readonly run: (program: string, ...args: string[]) => string;
}

interface Lock {
  version: string;
  packages: Record<string, { version: string }>;
}

/** As npm writes it. */
const print = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** Go finds a module in a folder by a tag with the name of the folder. */
export const tagsOf = (version: string): readonly string[] => [`v${version}`, `clients/go/v${version}`];

/** What must be true before anything changes. Throws an error that says what is not. */
export function assertReady({ folder, version, run }: Preparation): void {
  if (!isVersion(version)) throw new Error(`${version} is not a version such as 1.0.0 or 1.0.0-rc.1.`);
  const [placeholder] = findPlaceholderProblems(folder);
  if (placeholder !== undefined) throw new Error(placeholder);
  if (run('git', 'status', '--porcelain') !== '')
    throw new Error('There are changes that are not committed.');
  const branch = run('git', 'branch', '--show-current').trim();
  if (branch !== 'main') throw new Error(`This is the branch ${branch}, not main.`);
  for (const tag of tagsOf(version))
    if (run('git', 'tag', '--list', tag) !== '') throw new Error(`The tag ${tag} exists already.`);
}

/** Writes the version and the date into all files that have them. */
function writeVersion({ folder, version, date }: Preparation): void {
  const change = (path: string, toNew: (text: string) => string): void => {
    const file = join(folder, path);
    writeFileSync(file, toNew(readFileSync(file, 'utf8')));
  };
  change('CHANGELOG.md', (text) => releaseChanges(text, version, date));
  for (const path of MENTIONS) change(path, (text) => replaceMentions(text, version));
  for (const path of ['package.json', 'clients/javascript/package.json'])
    change(path, (text) => print({ ...(JSON.parse(text) as object), version }));
  change(PYTHON_VERSION_FILE, (text) => text.replace(/".*"/, `"${version}"`));
  change('package-lock.json', (text) => {
    const lock = JSON.parse(text) as Lock;
    for (const one of [lock, lock.packages[''], lock.packages['clients/javascript']])
      if (one !== undefined) one.version = version;
    return print(lock);
  });
  const problems = findVersionProblems(folder, version);
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

/** Checks and tests everything, commits, and tags. */
export function prepareRelease(preparation: Preparation): void {
  const { version, run } = preparation;
  assertReady(preparation);
  // Nothing is released with a known vulnerability: SECURITY.md. What is bundled are development dependencies of the package.
  run('npm', 'audit');
  writeVersion(preparation);
  // Every later version must read what this one leaves with its users.
  run('npm', 'run', 'build');
  run('npx', 'tsx', 'scripts/keep-release.ts');
  run('npm', 'test');
  // Nor with a package that is due for an update. The tests have built the list of packages.
  run('npm', 'run', 'updates');
  run('git', 'add', '--all');
  run('git', 'commit', '--message', `Release version ${version}`);
  const [tag = '', ofGo = ''] = tagsOf(version);
  run('git', 'tag', '--annotate', tag, '--message', version);
  // Without a message, so that `git describe` names the other one.
  run('git', 'tag', ofGo);
}
