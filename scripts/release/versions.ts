/** A release has one version, which several files contain. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { releasedVersions } from './changelog.js';

/** Has the version of the Python package, in quotes. */
export const PYTHON_VERSION_FILE = 'clients/python/src/caller_stats/_version.py';

const VERSION = /^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$/;

/** Files with the names of packages or images that contain the version, such as `caller-stats-1.0.0.tgz`. */
export const MENTIONS = [
  'clients/java/pom.xml',
  'clients/javascript/README.md',
  'dashboard/src/format/snippets.ts',
  'deploy/kubernetes/caller-stats.yaml',
  'docs/guides/record/client.md',
  'docs/guides/record/recipes-java.md',
  'docs/guides/run/backup.md',
  'docs/guides/run/install.md',
  'docs/reference/versioning.md',
] as const;

/** A version in the name of a package, an image or a tag of this project, or set for a shell. */
const MENTIONED =
  /((?:caller-stats(?:-client)?[-:@]|caller-stats-opentelemetry<\/artifactId>\s*<version>|\bv|VERSION=)(?=\d))\d+\.\d+\.\d+(?:-[0-9A-Za-z]+(?:\.\d+)*)?(?=\.tgz|[`\s"'/<]|$)/g;

export function isVersion(version: string): boolean {
  return VERSION.test(version);
}

/** The text with another version in every name that contains one. */
export function replaceMentions(text: string, version: string): string {
  return text.replaceAll(MENTIONED, (_all, name: string) => `${name}${version}`);
}

/** The first part of the Go module's path until the repository has an address. */
export const PLACEHOLDER = 'caller-stats.example';

/** What to do before the first release, if the Go module has no address to be found at. */
export function findPlaceholderProblems(folder: string): string[] {
  const path = /^module (.*)$/m.exec(readFileSync(join(folder, 'clients/go/go.mod'), 'utf8'))?.[1] ?? '';
  return path.startsWith(`${PLACEHOLDER}/`)
    ? [
        `clients/go/go.mod names the module ${path}, which nobody can install. Set the address of the repository everywhere: ` +
          `git grep -lF ${PLACEHOLDER}/clients | xargs sed -i 's,${PLACEHOLDER}/clients,github.com/OWNER/NAME/clients,g'`,
      ]
    : [];
}

/** All files below a folder that do not have this version, and what else keeps it from a release, as sentences. */
export function findVersionProblems(folder: string, version: string): string[] {
  const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
  const json = (path: string) => JSON.parse(read(path)) as { version: string };
  const lock = JSON.parse(read('package-lock.json')) as {
    version: string;
    packages: Record<string, { version: string }>;
  };
  const found: Record<string, string | undefined> = {
    'package.json': json('package.json').version,
    'clients/javascript/package.json': json('clients/javascript/package.json').version,
    [PYTHON_VERSION_FILE]: /"(.*)"/.exec(read(PYTHON_VERSION_FILE))?.[1],
    'package-lock.json': lock.version,
    'package-lock.json, of the server': lock.packages['']?.version,
    'package-lock.json, of the client': lock.packages['clients/javascript']?.version,
    'the newest section of CHANGELOG.md with a date': releasedVersions(read('CHANGELOG.md'))[0],
  };
  const problems = Object.entries(found)
    .filter(([, one]) => one !== version)
    .map(([where, one]) => `${where} has ${one ?? 'no version'}, not ${version}.`);
  const stale = MENTIONS.filter((path) => replaceMentions(read(path), version) !== read(path));
  if (!isVersion(version)) problems.unshift(`${version} is not a version such as 1.0.0 or 1.0.0-rc.1.`);
  return [
    ...problems,
    ...stale.map((path) => `${path} names another version than ${version}.`),
    ...findPlaceholderProblems(folder),
  ];
}
