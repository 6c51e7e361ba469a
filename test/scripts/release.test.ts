/** The steps of a release: what is refused, what is written, and what the tag gets. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findSection, releaseChanges, releaseNotes } from '../../scripts/release/changelog.js';
import { writeClientBills } from '../../scripts/release/client-bills.js';
import {
  compareNode,
  findDue,
  findOutdated,
  newerSince,
  readNodes,
} from '../../scripts/release/dependencies.js';
import { NODE_VERSION } from '../../scripts/release/node.js';
import { assertReady, type Preparation, prepareRelease } from '../../scripts/release/prepare.js';
import {
  findVersionProblems,
  MENTIONS,
  PLACEHOLDER,
  PYTHON_VERSION_FILE,
  replaceMentions,
} from '../../scripts/release/versions.js';
import { findNewerZones, readZoneVersion } from '../../scripts/zones/versions.js';
import { temporaryFolder } from '../support/temporary.js';
import { read, root } from '../tidy/sources.js';

const CHANGELOG = `# Changelog

## Unreleased

- A [page](docs/guides/run/install.md#the-first-keys), and [another site](https://example.org).

## 0.9.0, 2026-01-02

The first one.
`;

describe('the changelog', () => {
  test('cannot be released without changes, and no version twice', () => {
    expect(() => releaseChanges('# Changelog\n', '1.0.0', '2026-12-01')).toThrow('has no section');
    const empty = '# Changelog\n\n## Unreleased\n\n## 0.9.0, 2026-01-02\n\nThe first one.\n';
    expect(() => releaseChanges(empty, '1.0.0', '2026-12-01')).toThrow('is empty');
    expect(() => releaseChanges(CHANGELOG, '0.9.0', '2026-12-01')).toThrow('already has a section of 0.9.0');
  });

  test('gives notes only of a version that it has', () => {
    expect(() => releaseNotes(CHANGELOG, '1.0.0', 'https://example.org/a')).toThrow('no changes of 1.0.0');
    expect(() => releaseNotes(CHANGELOG, '0.9', 'https://example.org/a')).toThrow('no changes of 0.9');
  });

  test('notes are the section of the version, whose links lead to the tag', () => {
    const released = releaseChanges(CHANGELOG, '1.0.0', '2026-12-01');
    expect(released).toContain('## 1.0.0, 2026-12-01\n\n- A [page]');
    expect(findSection(released, '0.9.0')).toBe('The first one.');
    const notes = releaseNotes(released, '1.0.0', 'https://example.org/a');
    expect(notes).toContain(
      '- A [page](https://example.org/a/blob/v1.0.0/docs/guides/run/install.md#the-first-keys), and [another site](https://example.org).',
    );
    expect(notes).toContain('(https://example.org/a/blob/v1.0.0/docs/guides/run/install.md)');
    expect(notes).not.toContain('The first one.');
  });
});

test('a version in the name of a package, image or tag is replaced, and no other', () => {
  const text =
    './caller-stats-0.1.0.tgz caller-stats-client-0.1.0-rc.1.tgz image: x/caller-stats:0.1.0\n`v0.1.0` VERSION=0.1.0\nnpm install caller-stats@0.1.0\n';
  expect(replaceMentions(text, '1.2.3')).toBe(
    './caller-stats-1.2.3.tgz caller-stats-client-1.2.3.tgz image: x/caller-stats:1.2.3\n`v1.2.3` VERSION=1.2.3\nnpm install caller-stats@1.2.3\n',
  );
  const others =
    'Caddy 2.6.2, node:22.23.3-bookworm-slim, caller-stats.db.version-4, http://127.0.0.1:4000/v1';
  expect(replaceMentions(others, '1.2.3')).toBe(others);
});

test('every file that mentions the version is known', () => {
  const { version } = JSON.parse(read('package.json').text) as { version: string };
  const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
  const mentioning = tracked
    .filter(
      (path) =>
        /^(docs|deploy|dashboard\/src|client|README)/.test(path) && /\.(md|tsx?|yaml|xml)$/.test(path),
    )
    .filter((path) => replaceMentions(read(path).text, `${version}9`) !== read(path).text);
  expect(mentioning.toSorted()).toEqual(MENTIONS.toSorted());
});

test('checksums are those of all files, and find a change', async () => {
  const folder = await temporaryFolder();
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
  const script = join(root, 'scripts/release/checksums.sh');
  expect(() => run('bash', script, '.')).toThrow();
  writeFileSync(join(folder, 'b'), 'two');
  writeFileSync(join(folder, 'a 1'), 'one');
  run('bash', script, '.');
  // Again, with files that exist by then.
  writeFileSync(join(folder, 'SHA256SUMS.sigstore.json'), '{}');
  expect(run('bash', script, '.').split('\n')).toEqual([
    expect.stringMatching(/^7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed [ *]a 1$/),
    expect.stringMatching(/^3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3 [ *]b$/),
    '',
  ]);
  run('sha256sum', '--check', 'SHA256SUMS');
  writeFileSync(join(folder, 'b'), 'three');
  expect(() => run('sha256sum', '--check', 'SHA256SUMS')).toThrow(/b: FAILED|did NOT match/);
});

test('a release has its notes, and no notes among its files', async () => {
  const folder = await temporaryFolder();
  const files = join(folder, 'files');
  for (const path of [files, join(folder, 'bin')]) mkdirSync(path);
  writeFileSync(join(folder, 'bin/gh'), '#!/bin/sh\nprintf "%s\\n" "$@"\n', { mode: 0o755 });
  writeFileSync(join(folder, 'NOTES.md'), 'It is here.');
  for (const name of ['a 1', 'SHA256SUMS']) writeFileSync(join(files, name), name);
  const env = { ...process.env, LC_ALL: 'C', PATH: `${join(folder, 'bin')}:${process.env['PATH']}` };
  const publish = (version: string) => {
    const args = [join(root, 'scripts/release/publish.sh'), version, join(folder, 'NOTES.md'), files];
    return execFileSync('bash', args, { env, encoding: 'utf8' }).trimEnd().split('\n');
  };
  const options = ['--notes-file', join(folder, 'NOTES.md'), '--verify-tag'];
  const assets = [join(files, 'SHA256SUMS'), join(files, 'a 1')];
  const release = ['release', 'create'];
  expect(publish('v1.0.0')).toEqual([...release, 'v1.0.0', '--title', '1.0.0', ...options, ...assets]);
  expect(publish('1.0.0-rc.1')).toContain('--prerelease');
  const { text } = read('.github/workflows/release.yml');
  expect(text).toContain('publish.sh "$GITHUB_REF_NAME" NOTES.md\n');
  expect(text).not.toMatch(/> *dist-release/);
});

/** A clone with the files of the repository that have the version. Commands of npm are only noted; one leaves a file. */
async function cloneOf(): Promise<Preparation & { readonly ran: string[] }> {
  const folder = await temporaryFolder();
  for (const path of [
    ...MENTIONS,
    PYTHON_VERSION_FILE,
    'package.json',
    'clients/javascript/package.json',
    'package-lock.json',
    'clients/go/go.mod',
  ]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(root, path), join(folder, path));
  }
  writeFileSync(join(folder, 'CHANGELOG.md'), CHANGELOG);
  writeFileSync(join(folder, 'clients/go/go.mod'), 'module github.com/ada/stats/clients/go\n');
  const ran: string[] = [];
  const run = (program: string, ...args: string[]): string => {
    ran.push([program, ...args].join(' '));
    if (args[1] === 'scripts/keep-release.ts') writeFileSync(join(folder, 'kept'), '');
    if (program === 'npm' || program === 'npx') return '';
    return execFileSync(program, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  };
  run('git', 'init', '--quiet', '--initial-branch', 'main');
  run('git', 'config', 'user.name', 'Ada');
  run('git', 'config', 'user.email', 'ada@example.org');
  run('git', 'add', '.');
  run('git', 'commit', '--quiet', '--message', 'Begin');
  ran.splice(0);
  return { folder, version: '1.0.0', date: '2026-12-01', run, ran };
}

test('each client has a bill of materials, without dependencies', async () => {
  const clone = await cloneOf();
  const python = join(clone.folder, 'clients/python/pyproject.toml');
  writeFileSync(python, '[project]\nname = "caller-stats"\n');
  writeClientBills(clone.folder, clone.folder);
  const bill = readFileSync(join(clone.folder, 'caller-stats-go-0.1.0.sbom.json'), 'utf8');
  expect(JSON.parse(bill)).toMatchObject({
    metadata: { component: { purl: 'pkg:golang/github.com/ada/stats/clients/go@v0.1.0' } },
    components: [],
  });
  writeFileSync(python, '[project]\ndependencies = ["requests"]\n');
  expect(() => writeClientBills(clone.folder, clone.folder)).toThrow('clients/python/pyproject.toml has dep');
});

test('a release needs a version, a clean main branch and a new tag', async () => {
  const clone = await cloneOf();
  expect(() => assertReady({ ...clone, version: 'v1.0.0' })).toThrow('not a version');
  const module = join(clone.folder, 'clients/go/go.mod');
  const addressed = readFileSync(module, 'utf8');
  writeFileSync(module, `module ${PLACEHOLDER}/clients/go\n`);
  expect(() => assertReady(clone)).toThrow(
    `clients/go/go.mod names the module ${PLACEHOLDER}/clients/go, which nobody can install. Set the address`,
  );
  expect(findVersionProblems(clone.folder, '0.1.0')).toContainEqual(
    expect.stringContaining('Set the address'),
  );
  writeFileSync(module, addressed);
  clone.run('git', 'tag', 'v1.0.0');
  expect(() => assertReady(clone)).toThrow('The tag v1.0.0 exists');
  clone.run('git', 'tag', '--delete', 'v1.0.0');
  clone.run('git', 'tag', 'clients/go/v1.0.0');
  expect(() => assertReady(clone)).toThrow('The tag clients/go/v1.0.0 exists');
  clone.run('git', 'switch', '--quiet', '--create', 'feature');
  expect(() => assertReady(clone)).toThrow('This is the branch feature');
  writeFileSync(join(clone.folder, 'new'), '');
  expect(() => assertReady(clone)).toThrow('not committed');
});

describe('a package is due for an update', () => {
  const published = {
    created: '2020-01-01T00:00:00Z',
    modified: '2020-01-01T00:00:00Z',
    '1.9.0': '2026-05-01T00:00:00Z',
    '2.0.0': '2026-01-01T00:00:00Z',
    '2.1.0-beta.1': '2026-02-01T00:00:00Z',
    '2.0.10': '2026-06-01T00:00:00Z',
    '2.1.0': '2026-07-01T00:00:00Z',
    '3.0.0': '2026-03-01T00:00:00Z',
  };
  const one = { name: 'x', current: '2.0.0', latest: '2.1.0' };

  test('by the first newer release, not by prereleases, older lines, or what is not the newest line yet', () => {
    expect(newerSince(one, published)).toBe(Date.parse('2026-06-01T00:00:00Z'));
    expect(newerSince({ ...one, current: '2.1.0' }, published)).toBeUndefined();
    expect(newerSince({ ...one, current: '2.1.0-beta.1' }, published)).toBeUndefined();
    expect(newerSince({ ...one, current: '2.1.0', latest: '3.0.0' }, published)).toBe(
      Date.parse('2026-03-01T00:00:00Z'),
    );
  });

  test('after 90 days', () => {
    const on = (day: string) => findDue([one], { published: () => published, nowMs: Date.parse(day) });
    expect(on('2026-08-30')).toEqual([]);
    expect(on('2026-08-31')).toEqual(['x 2.0.0: a newer version has been out for 91 days (newest: 2.1.0).']);
    // What is held is held at one version.
    const held = (current: string) =>
      findDue([{ name: '@fastify/cookie', current, latest: '11.1.5' }], {
        published: () => ({ '11.1.5': '2026-01-01T00:00:00Z' }),
        nowMs: Date.parse('2026-11-01'),
      });
    expect(held('11.1.0')).toEqual([]);
    expect(held('11.0.0')).toHaveLength(1);
  });

  test('after 30 days, if it is a newer version of the line of Node in the executable or the image', () => {
    const ofImage = /^FROM node:([\d.]+)-/m.exec(read('deploy/Dockerfile').text)?.[1];
    expect(readNodes(root)).toEqual([NODE_VERSION, ofImage]);
    const [major, minor = 0, patch = 0] = NODE_VERSION.split('.').map(Number);
    const newer = `${major}.${minor}.${patch + 1}`;
    const node = compareNode(NODE_VERSION, () => ({
      [NODE_VERSION]: '2026-06-01T00:00:00Z',
      [`${major}.${minor + 1}.0`]: '2026-07-02T00:00:00Z',
      [newer]: '2026-07-01T00:00:00Z',
      [`${major}.${minor + 2}.0-rc.1`]: '2026-01-01T00:00:00Z',
      '99.0.0': '2026-01-01T00:00:00Z',
    }));
    expect(node).toMatchObject({ current: NODE_VERSION, latest: `${major}.${minor + 1}.0` });
    const on = (day: string) =>
      findDue([node], { published: () => ({ [newer]: '2026-07-01T00:00:00Z' }), nowMs: Date.parse(day) });
    expect(on('2026-07-31')).toEqual([]);
    expect(on('2026-08-01')).toHaveLength(1);
  });

  test('if another package of the release brought it, within the versions that this one allows', () => {
    const packages = ['own', 'inner', 'deep', 'new'].map((name) => ({ name, version: '1.0.0' }));
    const use = (dependent: string, wanted: string, current = '1.0.0') => ({
      ...{ current, wanted, latest: '9.0.0', dependent },
    });
    const uses = {
      own: use('caller-stats', '1.0.0'),
      inner: [use('own', '1.2.0'), use('deep', '1.3.0'), use('a-test-tool', '2.0.0')],
      deep: [use('inner', '1.0.0'), use('own', '1.5.0', '1.4.0')],
      tool: use('caller-stats', '2.0.0'),
    };
    expect(findOutdated({ packages, direct: new Set(['own', 'tool']) }, uses)).toEqual([
      { name: 'own', current: '1.0.0', latest: '9.0.0' },
      { name: 'inner', current: '1.0.0', latest: '1.3.0' },
    ]);
  });

  test('at once, if it has newer time zone data', () => {
    const zones = { name: 'moment-timezone', current: '0.6.5', latest: '0.6.6' };
    const at = (time: string) =>
      findDue([zones], { published: () => ({ '0.6.6': '2026-10-29T10:30:59Z' }), nowMs: Date.parse(time) });
    expect(at('2026-10-29T10:30:59Z')).toEqual([]);
    expect(at('2026-10-29T11:00:00Z')).toHaveLength(1);
  });
});

test('time zone data are due if the machine has newer ones', async () => {
  expect(findNewerZones('2026f', '2026g')).toHaveLength(1);
  expect(findNewerZones('2026f', '2027a')).toHaveLength(1);
  for (const older of ['2026f', '2026e', '2025z', undefined])
    expect(findNewerZones('2026f', older)).toEqual([]);
  const folder = await temporaryFolder();
  expect(readZoneVersion(folder)).toBeUndefined();
  writeFileSync(join(folder, '+VERSION'), '2026e\n');
  expect(readZoneVersion(folder)).toBe('2026e');
  writeFileSync(join(folder, 'tzdata.zi'), '# version 2026f\n# redo posix_only\n');
  expect(readZoneVersion(folder)).toBe('2026f');
});

test('a prepared release has one version everywhere, is tested, and is tagged', async () => {
  const clone = await cloneOf();
  expect(findVersionProblems(clone.folder, '1.0.0')).toEqual(
    expect.arrayContaining([
      'package.json has 0.1.0, not 1.0.0.',
      'package-lock.json, of the client has 0.1.0, not 1.0.0.',
      'the newest section of CHANGELOG.md with a date has 0.9.0, not 1.0.0.',
      'docs/reference/versioning.md names another version than 1.0.0.',
    ]),
  );
  prepareRelease(clone);
  expect(findVersionProblems(clone.folder, '1.0.0')).toEqual([]);
  // Nothing but versions has changed.
  expect(clone.run('git', 'show', '--numstat', '--format=', 'HEAD', '--', '*package*.json')).toBe(
    '1\t1\tclients/javascript/package.json\n3\t3\tpackage-lock.json\n1\t1\tpackage.json\n',
  );
  const tested = clone.ran.indexOf('npm test');
  expect(tested).toBeGreaterThan(clone.ran.indexOf('npm audit'));
  expect(clone.ran.indexOf('npm audit')).toBeGreaterThan(-1);
  expect(clone.run('git', 'show', '--name-only', '--format=', 'HEAD')).toContain('kept\n');
  expect(clone.ran.indexOf('npx tsx scripts/keep-release.ts')).toBeLessThan(tested);
  expect(clone.ran.indexOf('npm run updates')).toBeGreaterThan(tested);
  expect(tested).toBeLessThan(clone.ran.findIndex((command) => command.startsWith('git commit')));
  expect(clone.run('git', 'status', '--porcelain')).toBe('');
  expect(clone.run('git', 'describe')).toBe('v1.0.0\n');
  expect(clone.run('git', 'tag', '--points-at', 'HEAD')).toBe('clients/go/v1.0.0\nv1.0.0\n');
});

test('a prerelease has its version in the names of packages', async () => {
  const clone = { ...(await cloneOf()), version: '1.0.0-rc.1' };
  prepareRelease(clone);
  expect(readFileSync(join(clone.folder, 'clients/javascript/README.md'), 'utf8')).toContain(
    'caller-stats-client-1.0.0-rc.1.tgz',
  );
  expect(findVersionProblems(clone.folder, '1.0.0')).not.toEqual([]);
});
