/** The docs match the program: commands, options, settings, statuses, limits and links. */
import { describe, expect, test } from 'vitest';
import { sourceOf } from '../../docs/.vitepress/pages.js';
import { listedCommands } from '../../scripts/pages/commands.js';
import { KEY_VARIABLE, SETTINGS } from '../../src/cli/settings/settings.js';
import * as limits from '../../src/domain/limits.js';
import { ROLES } from '../../src/domain/people/member.js';
import { STATUS_OF_CODE } from '../../src/http/server/errors.js';
import { DASHBOARD_ROUTES } from '../support/http/dashboard-routes.js';
import { findCommandLines, findProblem } from './commands.js';
import { filesBelow, read } from './sources.js';

/** A page of the docs, without the padding of its tables. */
const page = (name: string): string => read(sourceOf(name)).text.replaceAll(/ +/g, ' ');

const [settings, limitsPage, errors] = [page('settings'), page('limits'), page('errors')];

describe('the docs describe', () => {
  test.each(Object.values(SETTINGS).map((one) => [one.flag, one] as const))(
    'the setting --%s with its variable and default',
    (flag, one) => {
      const begins = one.environmentOnly ? `| | \`${one.environment}\`` : `| \`--${flag}\``;
      const row = settings.split('\n').find((line) => line.startsWith(begins));
      expect(row, 'a row for it').toBeDefined();
      expect(row).toContain(`\`${one.environment}\``);
      expect(row).toContain('fallback' in one ? `| \`${one.fallback}\` |` : '| required |');
    },
  );

  test('the variable for the API key', () => {
    expect(settings).toContain(`\`${KEY_VARIABLE}\``);
  });

  test.each([
    ...new Set([
      ...Object.values(STATUS_OF_CODE).filter((status) => status !== 409),
      401,
      405,
      408,
      413,
      415,
      417,
      431,
      500,
    ]),
  ])('the status %d', (status) => {
    expect(errors).toMatch(new RegExp(`^\\| \`${status}\` \\|`, 'm'));
  });
});

describe('the docs describe only existing', () => {
  const begins = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name);

  test('settings', () => {
    const flags = Object.values(SETTINGS).flatMap((one) => (one.environmentOnly ? [] : [one.flag]));
    expect(begins(settings, /^\| `--([a-z-]+)`/gm).sort()).toEqual(flags.sort());
    const secret = Object.values(SETTINGS).flatMap((one) => (one.environmentOnly ? [one.environment] : []));
    expect(begins(settings, /^\| \| `([A-Z_]+)`/gm).sort()).toEqual(secret.sort());
  });

  test('commands', () => {
    const headings = begins(page('commands'), /^## `caller-stats ([a-z -]+?)(?: [A-Z.]+)*`$/gm);
    expect(headings.sort()).toEqual(
      listedCommands()
        .map(({ name }) => name)
        .sort(),
    );
  });

  test('fields of the log, and all of them', () => {
    const call = /\b(?:log\??\.(?:info|warn|error)|warn\w*)\(\s*(?:[\w.#]+\.log,\s*)?\{([^{}]*)\},\s*[^)\s]/g;
    const written = filesBelow('src', '.ts').flatMap(({ text }) =>
      [...text.matchAll(call)].flatMap(([, fields = '']) => fields.match(/(?<=^|,)\s*\w+/g) ?? []),
    );
    const ofEach = ['level', 'time', 'pid', 'hostname', 'msg', 'req', 'res', 'responseTime'];
    const ofRefusals = ['method', 'route', 'status', 'keyId', 'keyName', 'reason', 'userId', 'problem'];
    const of503 = ['load'];
    const names = [...written.map((name) => name.trim()), ...ofEach, ...ofRefusals, ...of503];
    const { text } = read(sourceOf('operate'));
    const section = text.slice(text.indexOf('\n## Logs'), text.indexOf('\n### Keep and rotate logs'));
    const listed = begins(section, /^- ((?:`\w+`(?:, )?)+):/gm).flatMap(
      (row = '') => row.match(/\w+/g) ?? [],
    );
    expect([...new Set(listed)].sort()).toEqual([...new Set(names)].sort());
  });

  test('roles, from the one that may do most', () => {
    const [, section = ''] = /^## Roles\n(.*?)^## /ms.exec(read(sourceOf('sign-in')).text) ?? [];
    expect(begins(section, /^- `(\w+)`: /gm)).toEqual(ROLES);
  });

  test('what is refused first, with its limits', () => {
    const [, section = ''] = /^## What is refused first\n(.*?)^## /ms.exec(`${errors}\n## `) ?? [];
    const { recordingsMax, requestsMax, strangerSignInsMax, knownSignInsMax } = limits;
    const mebibytes = (bytes: number) => `${bytes / 2 ** 20} MiB`;
    for (const said of [
      `${recordingsMax.toLocaleString('en')} of them are in progress; their bodies`,
      `use ${mebibytes(limits.recordingBytesMax)} of memory`,
      `${requestsMax.toLocaleString('en')} of them are in progress, large answers`,
      `large answers of ${mebibytes(limits.unreadBytesMax)}`,
      `corrections use ${mebibytes(limits.correctionsBytesMax)}`,
      `${limits.waitingReportsMax} of an organization wait`,
      `${strangerSignInsMax} of browsers that have not signed in before are in progress, or ${knownSignInsMax} of others`,
    ])
      expect(section).toContain(said);
  });

  test('limits, as they are', () => {
    const rows = [...limitsPage.matchAll(/^\| `(\w+)` \|([^|]*)\|/gm)];
    expect(rows.length).toBeGreaterThan(50);
    const known: Readonly<Record<string, number>> = limits;
    for (const [, name = '', value = ''] of rows)
      expect(Number(value.replaceAll(',', '').match(/\d+/)?.[0]), name).toBe(known[name]);
  });

  test('the page about signing in has the limits of the program', () => {
    const { guessesMax, addressFailuresMax, wideNetworkFactor, guessWindowSeconds, codeLockSeconds } = limits;
    const days = (seconds: number) => seconds / 86_400;
    const minutes = guessWindowSeconds / 60;
    const wide = (addressFailuresMax * wideNetworkFactor).toLocaleString('en');
    const text = read(sourceOf('sign-in')).text.replaceAll(/\s+/g, ' ');
    for (const said of [
      `${guessesMax} failures of a user in ${minutes} minutes`,
      `${addressFailuresMax} failures from an IPv4 address or a /64 network of IPv6, or ${wide} from a /48`,
      `${guessesMax} wrong codes of a user in ${codeLockSeconds / 60} minutes`,
      `Each session ends ${days(limits.sessionSecondsMax)} days after the last day of use, at the latest ${days(limits.sessionLifeSecondsMax)} days after the sign-in`,
      `skips the code there for ${days(limits.trustSeconds)} days`,
      `A password has ${limits.passwordCharactersMin} to ${limits.passwordCharactersMax} characters`,
      "those with fewer than 8 characters besides the user's address and name and the name of the program",
      `which works once, for ${limits.invitationDaysMax} days`,
      `at most ${limits.invitationMailsMax} an hour for each organization`,
      `must have signed in within the last ${['ten'][limits.freshSessionSeconds / 600 - 1]} minutes`,
    ])
      expect(text).toContain(said);
  });

  test('the page about signing in names every way to sign in', () => {
    const text = read(sourceOf('sign-in')).text;
    const sections: Readonly<Record<string, string>> = {
      'POST /api/sign-in': '## Passwords',
      'POST /api/sign-in/second-factor': '## Two-factor authentication',
      'POST /api/sign-in/second-factor/start': '## Two-factor authentication',
      'POST /api/sign-in/second-factor/passkey': '## Passkeys',
      'POST /api/sign-in/passkey/start': '## Passkeys',
      'POST /api/sign-in/passkey': '## Passkeys',
      'GET /api/sign-in/oidc': '## Single sign-on',
      'GET /api/sign-in/oidc/callback/sso': '## Single sign-on',
      'POST /api/set-up': '## Set up the first owner',
      'POST /api/invitations/look-up': '## Invite members',
      'POST /api/invitations/accept': '## Invite members',
      'POST /api/password-reset': '## Forgotten passwords',
      'POST /api/password-reset/mail': '## Forgotten passwords',
    };
    const open = DASHBOARD_ROUTES.filter(
      ({ who, path }) =>
        who === 'anybody' && !/^\/api\/(?:session|start|zones|sign-out|shared\b.*)$/.test(path),
    );
    expect(open.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
      Object.keys(sections).toSorted(),
    );
    for (const heading of Object.values(sections)) expect(text).toContain(`\n${heading}\n`);
  });
});

const pages = [
  ...filesBelow('docs', '.md'),
  ...[
    'README.md',
    'SECURITY.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    'bench/README.md',
    'demo/README.md',
  ].map(read),
];

test.each([
  ['the pages of the site', pages.filter(({ path }) => /^docs\/(?!engineering\/)/.test(path)), 45_000],
  ['ARCHITECTURE.md', [read('ARCHITECTURE.md')], 1_200],
] as const)('%s can be read in a reasonable time', (_what, texts, wordsMax) => {
  const words = texts.flatMap(({ text }) => text.match(/\S+/g) ?? []);
  expect(words.length).toBeGreaterThan(wordsMax / 2);
  expect(words.length).toBeLessThanOrEqual(wordsMax);
});

test('the page about spans names code that exists', () => {
  const { lines } = read('docs/engineering/spans.md');
  const code = filesBelow('src/domain/queries', '.ts')
    .map(({ text }) => text)
    .join();
  const named = lines
    .filter((line) => /^\| \d/.test(line))
    .flatMap((line) => line.split(' | ').at(-1)?.match(/\w+/g) ?? []);
  expect(named).toContain('beginOf');
  expect(named.filter((name) => !new RegExp(`\\b${name}\\(`).test(code))).toEqual([]);
});

describe('command lines in the docs', () => {
  test.each([
    [['stat', 'demo'], 'there is no such command'],
    [['stats', 'demo', '--chart'], 'stats has no option --chart'],
    [['stats', 'demo', 'docs'], 'stats does not take docs'],
    [['key', 'rotate', 'ID', '--grace', '24h'], undefined],
    [['import', 'a', 'b', '--project', 'docs'], undefined],
  ])('are checked: %j', (args, problem) => {
    expect(findProblem(args)).toBe(problem);
  });

  test.each(pages.map((page) => [page.path, page] as const))('are valid in %s', (_, { text }) => {
    const problems = findCommandLines(text).map((args) => [args.join(' '), findProblem(args)] as const);
    expect(problems.filter(([, problem]) => problem !== undefined)).toEqual([]);
  });

  test('are found', () => {
    expect(pages.flatMap(({ text }) => findCommandLines(text)).length).toBeGreaterThan(30);
  });
});

describe('the commands of the repository in the docs', () => {
  const codeIn = (pattern: RegExp) =>
    pages.flatMap(({ path, text }) => [...text.matchAll(pattern)].map((match) => [path, ...match.slice(1)]));

  test('run scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json').text) as { readonly scripts: object };
    const named = codeIn(/npm run ([\w:-]+)/g);
    expect(named.length).toBeGreaterThan(30);
    // The tutorial starts an assistant of the reader with `dev`.
    const missing = named.filter(([, name = '']) => name !== 'dev' && !Object.hasOwn(scripts, name));
    expect(missing).toEqual([]);
  });

  test('run each test that they name', () => {
    const files = filesBelow('test', '.test.ts').map(({ path }) => path);
    const toPattern = (name: string) => new RegExp(name.replaceAll('.', '\\.').replaceAll('*', '[^/]*'));
    const runs = codeIn(
      /(CALLER_STATS_TEST_DEEP=1 )?npx vitest run (?:--project \w+ )?((?:test\/[\w./*-]+ ?)+)/g,
    );
    expect(runs.length).toBeGreaterThan(20);
    const missing = runs.flatMap(([path, deep, named = '']) =>
      named
        .trim()
        .split(' ')
        .filter(
          (name) =>
            !files.some((file) => toPattern(name).test(file) && (deep || !file.endsWith('.deep.test.ts'))),
        )
        .map((name) => `${path}: ${name}`),
    );
    expect(missing).toEqual([]);
  });
});

test('every link to a file works', () => {
  for (const { path, text } of pages) {
    for (const [, target = ''] of text.matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)) {
      const folder = path.includes('/') ? path.slice(0, path.lastIndexOf('/') + 1) : '';
      expect(() => read(`${folder}${target}`), `${path}: ${target}`).not.toThrow();
    }
  }
});

/** The anchor that code hosts and the docs site give a heading. */
function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}

function findAnchors(text: string): string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, '');
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => toAnchor(heading));
}

test('every link to a heading works', () => {
  const links = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)].map(([, target = '', anchor = '']) => {
      const folder = path.includes('/') ? path.slice(0, path.lastIndexOf('/') + 1) : '';
      const there = target === '' ? text : read(`${folder}${target}`).text;
      return [`${path}: ${target}#${anchor}`, findAnchors(there).includes(anchor)] as const;
    }),
  );
  expect(links.length).toBeGreaterThan(20);
  expect(links.filter(([, found]) => !found).map(([link]) => link)).toEqual([]);
});

test('the glossary is in alphabetical order', () => {
  const terms = [...read('docs/concepts/how-it-works.md').text.matchAll(/^\| \*\*(.+?)\*\*/gm)].map(
    ([, term = '']) => term.toLowerCase(),
  );
  expect(terms.length).toBeGreaterThan(20);
  expect(terms).toEqual([...terms].sort());
});

test('every external link is a valid https URL', () => {
  const addresses = pages.flatMap(({ text }) =>
    [...text.matchAll(/\]\((https?:[^)]*)\)/g)].map(([, one = '']) => one),
  );
  expect(addresses.length).toBeGreaterThan(2);
  expect(addresses.filter((one) => !URL.canParse(one) || new URL(one).protocol !== 'https:')).toEqual([]);
});

test('the screenshot script takes every picture of the docs', () => {
  const script = read('scripts/screenshots.ts').text;
  const names = [...script.matchAll(/\bname: '([a-z-]+)'/g)].map(([, name]) => name);
  const shown = pages.flatMap(({ text }) =>
    [...text.matchAll(/images\/([a-z-]+)-(light|dark|phone)\.webp/g)].map(([, name]) => name),
  );
  const all = pages.flatMap(({ text }) => [...text.matchAll(/[\w/.-]+\.(?:png|jpe?g|gif|webp)\b/g)]);
  expect(shown.length).toBeGreaterThan(4);
  expect(shown).toHaveLength(all.length);
  expect(shown.filter((name) => !names.includes(name))).toEqual([]);
});

describe('a diagram of the docs', () => {
  const shown = pages.flatMap(({ text }) =>
    [...text.matchAll(/!\[([^\]]*)\]\([./]*images\/([\w-]+\.svg)\)/g)].map(
      ([, alternative = '', name = '']) => ({
        alternative,
        name,
      }),
    ),
  );

  test('is on a page', () => {
    const drawn = filesBelow('docs/images', '.svg').map(({ path }) => path.replace('docs/images/', ''));
    expect(shown.map(({ name }) => name).sort()).toEqual(drawn.sort());
    expect(drawn.length).toBeGreaterThan(2);
  });

  test.each(shown)(
    '$name has a title, a text alternative, large letters and dark colors',
    ({ name, alternative }) => {
      const { text } = read(`docs/images/${name}`);
      expect(text).toMatch(/aria-labelledby="title"[\s\S]*<title id="title">[^<]{20,}</);
      expect(alternative).toMatch(/^[A-Z].{50,}\.$/);
      const sizes = [...text.matchAll(/font(?:-size)?: (\d+)px/g)].map(([, size]) => Number(size));
      const width = Number(/viewBox="0 0 (\d+) /.exec(text)?.[1]);
      // On a phone of 390 px, a page has room for 342.
      expect(Math.min(...sizes) * Math.min(1, 342 / width)).toBeGreaterThan(10);
      const [light = '', dark = ''] = text.split('@media (prefers-color-scheme: dark)');
      const colored = (style: string) =>
        [...style.matchAll(/(\.?\w+) \{[^}]*(?:fill|stroke): #/g)].map(([, of]) => of);
      expect(colored(dark)).toEqual(colored(light));
      expect(text).not.toMatch(/<script|https?:\/\/(?!www\.w3\.org\/2000\/svg")/);
    },
  );
});
