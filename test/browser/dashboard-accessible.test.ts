/** No page or dialog has an accessibility problem that axe finds, or scrolls sideways. */
import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { accessibilityProblems, colorProblems } from '../support/browser/accessible.js';
import { onSqlite } from '../support/browser/dashboard-server.js';
import { person, Session } from '../support/browser/dashboard-user.js';
import { dashboardVisits, startSetUp } from '../support/browser/dashboard-visit.js';
import { sendSpans } from '../support/browser/sent-spans.js';
import { sharedByTests } from '../support/cleanup.js';
import { isDeep } from '../support/volume.js';

const open = dashboardVisits();

const shared = sharedByTests(async () => {
  const place = await startSetUp(onSqlite)();
  const { session } = place;
  const base = '/api/organizations/default';
  await session.bring(person('Grace'), 'viewer');
  await session.ask('POST', `${base}/invitations`, { email: 'alan@example.com', role: 'editor' });
  await session.ask('POST', `${base}/projects`, { name: 'Handbook', id: 'handbook' });
  for (const name of ['Nightly export', 'Old export', 'Paused export'])
    await session.ask('POST', `${base}/keys`, {
      name,
      type: 'admin',
      expires: '7d',
      allow: ['192.0.2.0/24'],
    });
  const { keys } = await session.ask<{ keys: { id: string; name: string }[] }>('GET', `${base}/keys`);
  const keyId = (name: string) => keys.find((key) => key.name === name)?.id;
  await session.ask('POST', `${base}/keys/${keyId('Old export')}/revoke`, {});
  await session.ask('POST', `${base}/keys/${keyId('Paused export')}/disable`, {});
  await session.ask('POST', `${base}/projects/demo/corrections`, {
    ...{ id: 'typing', action: 'rename', caller: 'git-cli', to: 'git', reason: 'a typing mistake' },
  });
  await sendSpans(place.server, 'docs-assistant', [
    { 'gen_ai.operation.name': 'chat' },
    { 'gen_ai.operation.name': 'execute_tool' },
    { 'http.route': '/api/organizations/:organizationId/projects/:projectId/ask' },
  ]);
  await sendSpans(place.server, 'shop', [{ other: 1 }]);
  return place;
});

/** Brings a page into the state to check. */
type Subject = readonly [name: string, path: string, act: (page: Page) => Promise<unknown>];

const heading = (name: string) => (page: Page) =>
  page.getByRole('heading', { name, level: 1, exact: true }).waitFor();

const press =
  (...names: readonly (string | RegExp)[]) =>
  async (page: Page) => {
    for (const name of names) await page.getByRole('button', { name }).first().click();
  };

/** Opens a dialog, whose code is loaded on demand. */
const openDialog = (name: string) => async (page: Page) => {
  await press(name)(page);
  await page.getByRole('dialog').waitFor();
};

const signedOut: readonly Subject[] = [
  ['sign-in', '/sign-in', heading('Sign in')],
  ['sign-in that was refused', '/sign-in?problem=not_a_member', (page) => page.getByRole('alert').waitFor()],
  ['a used address', '/set-up#used', heading('This address does not work')],
  ['half a link', '/join', heading('This invitation does not work')],
  ['a new password', '/reset#token', heading('Set a new password')],
  ['a forgotten password', '/forgot', heading('Forgot your password')],
];

const year = '/projects/demo?from=2025-01-01&to=2025-12-31&zone=UTC&compare=previous';
const keys = '/projects/demo/keys';

const signedIn: readonly Subject[] = [
  ['overview', year, (page) => page.getByRole('slider').waitFor()],
  [
    'overview of a week',
    `${year}&week=1`,
    (page) => page.getByRole('table', { name: /^Week by hour/ }).waitFor(),
  ],
  [
    'overview of a week as a table',
    `${year}&week=1&table=1`,
    (page) => page.getByRole('table', { name: /^Week by hour/ }).waitFor(),
  ],
  [
    'overview as a table',
    `${year}&table=1`,
    (page) => page.getByRole('table', { name: /^Queries/ }).waitFor(),
  ],
  [
    'overview of nothing',
    '/projects/demo?from=2001-01-01&to=2001-01-31&zone=UTC',
    (page) => page.getByText('No queries in this range').waitFor(),
  ],
  ['why a number changed', year, openDialog('Why did it change?')],
  ['range', year, press(/^Range:/)],
  ['time zone', year, press(/^Time zone:/)],
  ['download', year, press('Download')],
  [
    'an empty project',
    '/projects/handbook',
    (page) => page.getByText('Waiting for the first query.').waitFor(),
  ],
  [
    'all projects',
    '/account',
    async (page) => {
      await page.getByRole('link', { name: 'All projects' }).click();
      await page.getByRole('row', { name: /^Handbook 0 – – None yet$/ }).waitFor();
      await page.getByText(/^The 30 days to date of each project, .+, compared with .+\.$/).waitFor();
    },
  ],
  ['keys', keys, async (page) => page.getByText(/^Expired and revoked \(/).click()],
  [
    'a new key',
    keys,
    async (page) => {
      await press('Create a key')(page);
      await page.getByRole('radio', { name: 'Admin' }).check();
      await page.getByLabel('Expires').selectOption('date');
    },
  ],
  [
    'a secret',
    keys,
    async (page) => {
      await press('Create a key')(page);
      await page.getByLabel('Name').fill('For a look');
      await press('Create key')(page);
      await page.getByRole('dialog', { name: 'Your new key' }).waitFor();
    },
  ],
  ['actions of a key', keys, press('Actions for Nightly export')],
  [
    'rotate',
    keys,
    async (page) => {
      await press('Actions for Nightly export')(page);
      await page.getByRole('menuitem', { name: 'Rotate…' }).click();
      await page.getByRole('dialog').waitFor();
    },
  ],
  ['sources', '/projects/demo/sources', (page) => page.getByRole('row', { name: /shop/ }).waitFor()],
  [
    'sources of nothing',
    '/projects/handbook/sources',
    (page) => page.getByText('Nothing has arrived').waitFor(),
  ],
  ['corrections', '/projects/demo/corrections', (page) => page.getByText('Rename git-cli to git').waitFor()],
  ['correcting', '/projects/demo/corrections', openDialog('Correct…')],
  ['settings', '/projects/demo/settings', heading('Settings')],
  ['deleting', '/projects/demo/settings', openDialog('Delete project…')],
  ['members', '/members', (page) => page.getByRole('row', { name: /Grace/ }).waitFor()],
  ['inviting', '/members', openDialog('Invite member')],
  ['removing', '/members', openDialog('Remove grace@example.com')],
  ['audit log', '/audit', (page) => page.getByRole('table').waitFor()],
  ['account', '/account', (page) => page.getByText('This one').waitFor()],
  [
    'a second factor',
    '/account',
    async (page) => {
      await press('Set up…')(page);
      await page.getByRole('dialog').getByLabel('Your password').fill(person('Ada').password);
      await press('Continue')(page);
      await page.getByLabel('I have stored the backup codes').check();
      await press('Continue')(page);
      await page.getByRole('dialog', { name: 'Step 2 of 2: Pair your app' }).waitFor();
    },
  ],
  ['account menu', '/account', press(/Account menu/)],
  ['projects', '/account', press(/Switch project/)],
  [
    'shortcuts',
    '/account',
    async (page) => {
      await heading('Your account')(page);
      await page.keyboard.press('?');
      await page.getByRole('dialog').waitFor();
    },
  ],
  ['a new project', '/new-project', heading('New project')],
  ['nothing', '/projects/none', heading('Not found')],
];

/** Dialogs, menus and other states of pages that are in the list. Of each component, the quick run has one. */
const opened = ['range', 'a new key', 'a second factor', 'account menu'];
const openedInDeepRun = [
  ...['time zone', 'download', 'a secret', 'actions of a key', 'rotate', 'deleting', 'correcting'],
  ...['inviting', 'removing', 'projects', 'shortcuts'],
  ...['overview of nothing', 'sources of nothing', 'sign-in that was refused', 'half a link'],
];

const desktop = { width: 1440, height: 900 };
const tablet = { width: 768, height: 1024 };
/** Just wide enough for the sidebar. */
const narrowest = { width: 970, height: 800 };
const phone = { width: 320, height: 700 };

/** The quick run looks at these in dark colors too: they have the most colors and elements. */
const inDark = ['overview', 'overview of a week', 'keys', 'sources', 'account'];

/** Checks a page in its current state for accessibility problems, in light and dark colors. */
async function findProblems(page: Page, isDark = true): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light' });
  await expectStill(page);
  const problems = await accessibilityProblems(page);
  if (!isDark) return problems;
  await page.emulateMedia({ colorScheme: 'dark' });
  await expectStill(page);
  return [...problems, ...(await colorProblems(page)).map((problem) => `in dark colors: ${problem}`)];
}

/** Waits until animations have ended, except endless ones. */
async function expectStill(page: Page): Promise<void> {
  const moving = `document.getAnimations()
    .filter((one) => one.playState === 'running' && one.effect.getComputedTiming().endTime !== Infinity)
    .map((one) => one.effect.target.outerHTML)`;
  await expect.poll(() => page.evaluate(moving)).toEqual([]);
}

/** The elements that make a page scroll sideways, and tables that their card cuts off. */
function findOverflow(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const room = document.documentElement.clientWidth;
    const rightOf = (one) => one.getBoundingClientRect().right;
    const cut = [...document.querySelectorAll('.card > .table')]
      .filter((one) => rightOf(one) > rightOf(one.parentElement) + 1)
      .map((one) => 'is cut off: ' + one.tagName + '.' + one.className);
    if (document.documentElement.scrollWidth <= room) return cut;
    const wide = [...document.body.querySelectorAll('*')].filter((one) => rightOf(one) > room + 1);
    return [...cut, ...wide.slice(0, 3).map((one) => 'runs off the screen: ' + one.tagName + '.' + one.className)];
  })()`);
}

const subjects = [
  ...signedOut.map((subject) => [...subject, false] as const),
  ...signedIn.map((subject) => [...subject, true] as const),
].filter(([name]) => isDeep || !openedInDeepRun.includes(name));

/** Its user types the password, which replaces the token of the session: it needs one of its own. */
const renewing = 'a second factor';

async function openSubject(name: string, path: string, isSignedIn: boolean, options: BrowserContextOptions) {
  const { server, session } = shared();
  const own = name === renewing ? await Session.signIn(server, person('Ada')) : session;
  const place = { ...shared(), session: isSignedIn ? own : null };
  const visit = await open(place, path, options);
  await visit.page.getByRole('heading', { level: 1 }).waitFor();
  return visit;
}

test.each(subjects)(
  '%s is accessible and fits on screens of any width',
  async (name, path, act, isSignedIn) => {
    const { page } = await openSubject(name, path, isSignedIn, {
      viewport: desktop,
      reducedMotion: 'no-preference',
    });
    await act(page);
    const footer = page.getByRole('contentinfo');
    expect(await footer.getByRole('link').allInnerTexts()).toEqual(
      ['Documentation', 'API', /^caller-stats \d/]
        .slice(0, isSignedIn ? 3 : 2)
        .map((name) => expect.stringMatching(name)),
    );
    const problems = await findOverflow(page);
    problems.push(...(await findProblems(page, isDeep || inDark.includes(name))));
    expect(problems).toEqual([]);
    // Dialogs and menus are opened on a narrow screen only in the deep run, below.
    if ([...opened, ...openedInDeepRun].includes(name)) return;
    for (const size of [narrowest, tablet, phone]) {
      await page.setViewportSize(size);
      await expect.poll(() => findOverflow(page)).toEqual([]);
    }
  },
);

// A narrow screen has the same elements and colors, so the quick run only checks the widths of pages, above.
if (isDeep)
  test.each(subjects)(
    '%s is accessible when opened on a narrow screen',
    async (name, path, act, isSignedIn) => {
      const { page } = await openSubject(name, path, isSignedIn, {
        viewport: phone,
        reducedMotion: 'reduce',
      });
      await act(page);
      expect([...(await findOverflow(page)), ...(await findProblems(page))]).toEqual([]);
    },
  );

test('no endless animation runs when reduced motion is requested', async () => {
  const { page } = await open(shared(), '/projects/handbook', { reducedMotion: 'reduce' });
  await page.getByText('Waiting for the first query.').waitFor();
  const forever = 'document.getAnimations().filter((one) => one.playState === "running").length';
  expect(await page.evaluate(forever)).toBe(0);
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  expect(await page.evaluate(forever)).toBeGreaterThan(0);
});

/** Pairs of types whose bars may touch, differ in luminance by less than 3:1, and have no pattern. */
const findSimilarNeighbors = `(() => {
  const luminance = (type) => {
    const [red, green, blue] = getComputedStyle(document.querySelector('.chart .type-' + type))
      .fill.match(/[\\d.]+/g)
      .map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const hasPattern = (type) =>
    document.querySelector('.chart .type-' + type).parentElement.querySelector('path[fill^="url"]') !== null;
  return [['web', 'api'], ['api', 'other'], ['web', 'other']].filter((pair) => {
    const [darker, lighter] = pair.map(luminance).sort((a, b) => a - b);
    return (lighter + 0.05) / (darker + 0.05) < 3 && pair.filter(hasPattern).length !== 1;
  });
})()`;

test('caller types stay distinguishable in forced colors', async () => {
  const { page } = await open(shared(), year, { forcedColors: 'active' });
  await page.getByRole('slider').waitFor();
  const fills = await page.evaluate<string[]>(
    "['web', 'api', 'other'].map((type) => getComputedStyle(document.querySelector('svg .type-' + type)).fill)",
  );
  expect(new Set(fills).size).toBe(3);
  // Gradients, of which arrows would be drawn, are not painted.
  const arrow = "getComputedStyle(document.querySelector('select')).appearance";
  expect(await page.evaluate(arrow)).toBe('auto');
  expect([...(await findOverflow(page)), ...(await findProblems(page))]).toEqual([]);

  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ forcedColors: 'none', colorScheme });
    expect(await page.evaluate(findSimilarNeighbors), colorScheme).toEqual([]);
  }

  // A printed page is light and has no controls.
  await page.emulateMedia({ media: 'print' });
  await page.setViewportSize({ width: 700, height: 900 });
  for (const role of ['banner', 'navigation', 'checkbox', 'combobox'] as const)
    expect(await page.getByRole(role).count(), role).toBe(0);
  expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('light');
  expect([...(await findOverflow(page)), ...(await accessibilityProblems(page))]).toEqual([]);
});

test('on a phone, the chart begins on the first screen, and the first tap on a bar shows its value', async () => {
  const viewport = { width: 390, height: 844 };
  const { page } = await open(shared(), year, { viewport, hasTouch: true });
  await page.getByRole('slider').waitFor();
  const chart = page.locator('.chart svg').first();
  const box = await chart.boundingBox();
  expect((box?.y ?? 0) + (box?.height ?? 0) / 2).toBeLessThan(viewport.height);
  await chart.tap({ position: { x: 200, y: 100 } });
  const openBar = page.getByRole('button', { name: /^Open \w+ 2025$/ });
  await openBar.waitFor();
  expect(await findProblems(page)).toEqual([]);
  await page.getByRole('heading', { name: 'Overview' }).tap();
  await openBar.waitFor({ state: 'detached' });
  await chart.tap({ position: { x: 200, y: 100 } });
  expect(new URL(page.url()).searchParams.get('to')).toBe('2025-12-31');
  // A finger that is where the button appears does not press it.
  await page.setViewportSize({ width: 390, height: 1000 });
  const from = await chart.boundingBox();
  const button = await openBar.boundingBox();
  if (from === null || button === null) throw new Error('The chart is not visible.');
  const y = Math.min(button.y + button.height / 2, from.y + from.height / 2);
  const finger = { x: from.x + from.width * 0.45, y: Math.max(y, button.y + 1) };
  await page.getByRole('heading', { name: 'Overview' }).tap();
  await page.touchscreen.tap(finger.x, finger.y);
  await openBar.tap({ trial: true, position: { x: finger.x - button.x, y: finger.y - button.y } });
  expect(new URL(page.url()).searchParams.get('to')).toBe('2025-12-31');
  await openBar.tap();
  await page.getByRole('slider', { name: 'Queries per day' }).waitFor();

  const bar = "getComputedStyle(document.querySelector('.topbar')).position";
  expect(await page.evaluate(bar)).toBe('sticky');
  await page.setViewportSize({ width: 390, height: 390 });
  expect(await page.evaluate(bar)).toBe('static');
});
