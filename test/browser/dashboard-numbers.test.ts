/** The numbers on screen equal the API's for every range, zone, system clock and language. */
import { parse } from 'csv-parse/sync';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { describeChange, percentOf } from '../../src/domain/counting/change.js';
import { dashboardStarters, onSqlite, startingAt } from '../support/browser/dashboard-server.js';
import { dashboardVisits, type Place, startSetUp } from '../support/browser/dashboard-visit.js';
import { type Bounds, bucketsOf, callersOf, countsOf } from '../support/browser/demo-api.js';
import { readDownload } from '../support/browser/download.js';
import { expectTiles, numberOf, patience, rowsOf } from '../support/browser/overview.js';
import { sharedByTests } from '../support/cleanup.js';
import { runCommand } from '../support/cli/cli.js';

const open = dashboardVisits();

/** The time of servers and pages: Berlin has a day of 23 hours, and the sample data surround it. */
const now = Temporal.Instant.from('2026-03-29T12:00:00Z');

type Period =
  | 'today'
  | 'yesterday'
  | '7-days-to-date'
  | '30-days-to-date'
  | 'last-30-days'
  | 'last-90-days'
  | 'last-week'
  | 'last-month'
  | 'this-month'
  | 'this-year'
  | '12-months-to-date'
  | 'all';

/** The days of a period in a zone, computed with another library than the server's. Weeks begin on Sunday. */
function periodBounds(period: Period, timeZone: string): Bounds {
  const today = now.toZonedDateTimeISO(timeZone).toPlainDate();
  const tomorrow = today.add({ days: 1 });
  const month = today.with({ day: 1 });
  const sunday = today.subtract({ days: today.dayOfWeek % 7 });
  const days: Record<Period, readonly [Temporal.PlainDate, Temporal.PlainDate] | null> = {
    today: [today, tomorrow],
    yesterday: [today.subtract({ days: 1 }), today],
    '7-days-to-date': [tomorrow.subtract({ days: 7 }), tomorrow],
    '30-days-to-date': [tomorrow.subtract({ days: 30 }), tomorrow],
    'last-30-days': [today.subtract({ days: 30 }), today],
    'last-90-days': [today.subtract({ days: 90 }), today],
    'last-week': [sunday.subtract({ days: 7 }), sunday],
    'last-month': [month.subtract({ months: 1 }), month],
    'this-month': [month, tomorrow],
    'this-year': [month.with({ month: 1 }), tomorrow],
    '12-months-to-date': [month.subtract({ months: 11 }), tomorrow],
    all: null,
  };
  const found = days[period];
  return found === null ? {} : dayBounds(found[0], found[1], timeZone);
}

/** From the start of a day to the start of another. */
function dayBounds(first: Temporal.PlainDate, end: Temporal.PlainDate, timeZone: string): Bounds {
  const at = (day: Temporal.PlainDate) => day.toZonedDateTime(timeZone).toInstant().toString();
  return { dateFrom: at(first), dateTo: at(end) };
}

/** Runs before the page's scripts: records every name that the range ever has on screen. */
const watchRange = `
  window.rangesSeen = [];
  new MutationObserver(() => {
    const shown = document.querySelector('.toolbar-range .toolbar-name');
    if (shown !== null) rangesSeen.push(shown.textContent);
  }).observe(document, { subtree: true, childList: true, characterData: true });
`;

async function openThen(place: Place, path: string, options: BrowserContextOptions = {}) {
  const visited = await open(place, '/livez', options);
  await visited.page.clock.setFixedTime(now.epochMilliseconds);
  await visited.page.goto(path);
  return visited;
}

/** The numbers of the chart's table, whose newest row is the first, in the order of time. */
async function readTable(page: Page): Promise<(number | undefined)[][]> {
  const rows = await rowsOf(page.getByRole('table', { name: /^Queries per/ }));
  return rows.map(([, ...cells]) => cells.map(numberOf)).toReversed();
}

describe.each(dashboardStarters)('on %s', (_kind, start) => {
  const shared = sharedByTests(startSetUp(startingAt(now.toString(), start)));

  test('ranges, bars and callers match the API', async () => {
    const { server } = shared();
    const { page } = await openThen(shared(), '/livez');
    for (const [period, zone, interval] of [
      ['today', 'Europe/Berlin', 'hour'],
      ['yesterday', 'Asia/Kathmandu', 'hour'],
      ['7-days-to-date', 'America/New_York', 'day'],
      ['last-30-days', 'Europe/Berlin', 'day'],
      ['last-week', 'America/New_York', 'day'],
      ['last-month', 'Europe/Berlin', 'day'],
      ['last-90-days', 'America/New_York', 'week'],
      ['12-months-to-date', 'Asia/Kathmandu', 'month'],
      ['all', 'Europe/Berlin', 'month'],
    ] as const) {
      await page.goto(
        `/projects/demo?period=${period}&zone=${zone}&weekStart=sunday&interval=${interval}&table=1`,
      );
      const bounds = periodBounds(period, zone);
      await expectTiles(page, await countsOf(server, bounds));
      const buckets = await bucketsOf(server, { ...bounds, interval, timeZone: zone, weekStart: 'sunday' });
      // Loaded on demand.
      await expect
        .poll(() => readTable(page), { ...patience, message: `${period} in ${zone}` })
        .toEqual(buckets.map(({ web, api, other, total }) => [web, api, other, total]));
      const { callers } = await callersOf(server, bounds);
      const shown = async () => {
        const rows = await rowsOf(page.getByRole('table', { name: 'Callers' }));
        return rows.map(([name, , , count, , ofOther]) => [name, numberOf(count), ofOther]);
      };
      const others = callers.filter(({ type }) => type === 'other');
      const othersTotal = others.reduce((sum, { count }) => sum + count, 0);
      await expect
        .poll(shown, patience)
        .toEqual(
          callers.map(({ caller, type, count }) => [
            caller,
            count,
            type === 'other' ? percentOf(count, othersTotal) : '',
          ]),
        );
    }
  });
});

describe('in detail', () => {
  const shared = sharedByTests(startSetUp(startingAt(now.toString(), onSqlite)));

  test('a project sends each request once, however late some responses are', async () => {
    const { page } = await openThen(shared(), '/projects', { timezoneId: 'UTC' });
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.url()));
    let release = () => {};
    const isShown = new Promise<void>((resolve) => {
      release = resolve;
    });
    // The series of the callers.
    await page.route(/\/series\?/, async (route) => {
      await isShown;
      await route.continue();
    });
    await page.getByRole('table').getByRole('link', { name: 'Sample events' }).click();
    await page.locator('.tile').first().waitFor();
    release();
    await page.locator('.change').first().waitFor();
    await page.locator('.callers .sparkline polyline').first().waitFor();
    expect(sent.filter((url, index) => sent.indexOf(url) < index)).toEqual([]);
  });

  test('presets, zones and custom ranges can be selected, and browser history restores them', async () => {
    const { server } = shared();
    const { page } = await openThen(shared(), '/projects/demo?zone=UTC');
    const zone = 'America/New_York';
    const range = page.getByRole('button', { name: /^Range:/ });
    await range.click();
    await page.getByRole('button', { name: 'This year' }).click();
    await expectTiles(page, await countsOf(server, periodBounds('this-year', 'UTC')));
    // Somebody types faster than the zones arrive.
    let load = () => {};
    const mayLoad = new Promise<void>((resolve) => {
      load = resolve;
    });
    await page.route('**/api/zones', async (route) => {
      await mayLoad;
      await route.continue();
    });
    await page.getByRole('button', { name: /^Time zone:/ }).click();
    await page.getByRole('combobox', { name: 'Time zone' }).fill('new york');
    await page.getByText('Loading…', { exact: true }).waitFor();
    await page.keyboard.press('Enter');
    load();
    await expectTiles(page, await countsOf(server, periodBounds('this-year', zone)));

    await range.click();
    const custom = page.getByRole('form', { name: 'Custom range' });
    await custom.getByLabel('From').fill('2025-11-05');
    await custom.getByLabel('To, inclusive').fill('2025-11-01');
    await custom.getByRole('button', { name: 'Apply' }).click();
    await custom.getByText('The end must come after the start.').waitFor();
    // Two days; on the second one the clocks are set back.
    await custom.getByLabel('From').fill('2025-11-01');
    await custom.getByLabel('To, inclusive').fill('2025-11-02');
    await custom.getByRole('button', { name: 'Apply' }).click();
    const days = [Temporal.PlainDate.from('2025-11-01'), Temporal.PlainDate.from('2025-11-03')] as const;
    const bounds = dayBounds(days[0], days[1], zone);
    await expectTiles(page, await countsOf(server, bounds));
    await page.getByRole('button', { name: 'Show as table' }).click();
    const buckets = await bucketsOf(server, { ...bounds, interval: 'hour', timeZone: zone });
    expect(buckets).toHaveLength(49);
    await expect
      .poll(() => readTable(page), patience)
      .toEqual(buckets.map(({ web, api, other, total }) => [web, api, other, total]));

    for (const _step of ['chart again', 'the year']) await page.goBack();
    await expectTiles(page, await countsOf(server, periodBounds('this-year', zone)));
    await page.goForward();
    await expectTiles(page, await countsOf(server, bounds));
  });

  test('a range with times excludes its last minute', async () => {
    const { server } = shared();
    const { page } = await openThen(shared(), '/projects/demo?zone=Asia/Kathmandu');
    await page.getByRole('button', { name: /^Range:/ }).click();
    const custom = page.getByRole('form', { name: 'Custom range' });
    await custom.getByLabel('With times').check();
    await custom.getByLabel('From').fill('2026-01-10');
    await custom.getByLabel('At').fill('09:15');
    await custom.getByLabel('To').fill('2026-01-20');
    await custom.getByLabel('Before').fill('18:30');
    await custom.getByRole('button', { name: 'Apply' }).click();
    await expectTiles(
      page,
      await countsOf(server, {
        dateFrom: '2026-01-10T09:15:00+05:45',
        dateTo: '2026-01-20T18:30:00+05:45',
      }),
    );
    const bar = page.getByRole('slider', { name: 'Queries per day' });
    await expect.poll(() => bar.getAttribute('aria-valuetext')).toMatch(/\(partial: .*(18|6):30/);
  });

  test('a URL shows everyone the same numbers, in any time zone', async () => {
    const { server } = shared();
    const first = await openThen(shared(), '/projects/demo?period=this-month', {
      timezoneId: 'Pacific/Apia',
    });
    // Without a project zone, the dashboard uses the user's zone, where it is already the next day.
    const counts = await countsOf(server, periodBounds('this-month', 'Pacific/Apia'));
    await expectTiles(first.page, counts);
    expect(new URL(first.page.url()).search).toBe('?period=this-month&zone=Pacific/Apia&weekStart=monday');
    await first.page.getByRole('checkbox', { name: 'Compare' }).check();
    // In one row.
    expect((await first.page.locator('.toolbar').boundingBox())?.height).toBeLessThan(50);
    await first.page.getByRole('button', { name: 'API', exact: true, pressed: true }).click();

    const second = await openThen(shared(), first.page.url(), {
      timezoneId: 'Pacific/Pago_Pago',
      locale: 'de-DE',
    });
    await expectTiles(second.page, counts);
    expect(await second.page.getByRole('checkbox', { name: 'Compare' }).isChecked()).toBe(true);
    await second.page.getByRole('button', { name: 'API', exact: true, pressed: false }).waitFor();
  });

  test.each([
    ['the 30 days to date where the project has queries in them', now, '30-days-to-date', '30 days to date'],
    ['all time where next to all queries are older', now.add({ hours: 24 * 365 }), 'all', 'All time'],
  ] as const)('an address without a range shows %s', async (_what, time, period, name) => {
    const later = time === now ? shared() : await startSetUp(startingAt(time.toString(), onSqlite))();
    const { page } = await open(later, '/livez');
    await page.clock.setFixedTime(time.epochMilliseconds);
    // The range must have the right name from the first render on.
    await page.addInitScript(watchRange);
    await page.goto('/projects/demo?zone=UTC');
    await page.getByRole('button', { name: `Range: ${name}` }).waitFor();
    await expectTiles(page, await countsOf(shared().server, periodBounds(period, 'UTC')));
    expect(new URL(page.url()).search).toBe(`?period=${period}&zone=UTC&weekStart=monday`);
    expect(await page.evaluate('[...new Set(rangesSeen)]')).toEqual([name]);
    // An explicitly selected range is shown even if it is empty.
    await page.goto('/projects/demo?period=last-30-days&zone=UTC');
    await page.getByRole('button', { name: 'Range: Last 30 days' }).waitFor();
  });

  test('weeks begin on the day that a person has chosen, and a link keeps it', async () => {
    const { server } = shared();
    const path = '/projects/demo?period=last-week&zone=UTC';
    const { page } = await openThen(shared(), path);
    await page.getByText(/^16\s?–\s?22 Mar 2026$/).waitFor();
    await page.getByRole('button', { name: /^Range:/ }).click();
    await page.getByLabel('Weeks begin on').selectOption('Sunday');
    await page.getByText(/^22\s?–\s?28 Mar 2026$/).waitFor();
    await expectTiles(page, await countsOf(server, periodBounds('last-week', 'UTC')));
    expect(new URL(page.url()).searchParams.get('weekStart')).toBe('sunday');
    // It is remembered, but an address that names another day has it.
    await page.goto(path);
    await page.getByText(/^22\s?–\s?28 Mar 2026$/).waitFor();
    await page.goto(`${path}&weekStart=monday`);
    await page.getByText(/^16\s?–\s?22 Mar 2026$/).waitFor();
  });

  test('zones are found by their current names', async () => {
    const { page } = await openThen(shared(), '/projects/demo', { timezoneId: 'Asia/Calcutta' });
    await page.getByRole('button', { name: 'Time zone: Asia/Calcutta' }).click();
    for (const name of ['Asia/Kolkata', 'Asia/Kathmandu', 'Europe/Kyiv', 'America/Argentina/Buenos Aires']) {
      await page.getByRole('combobox', { name: 'Time zone' }).fill(name);
      await page.getByRole('option', { name }).waitFor();
    }
  });

  test('dates, numbers and relative times use one locale, a variant of English', async () => {
    const { page } = await openThen(shared(), '/projects/demo?period=all', { locale: 'de-DE' });
    await page.getByRole('definition').getByText('30,269', { exact: true }).waitFor();
    await page.getByText(/^Updated (just now|\d+ seconds ago)$/).waitFor();
    await page.getByRole('button', { name: /^Range:/ }).click();
    await page.getByRole('button', { name: 'This month' }).click();
    await page.getByText(/^1\s?–\s?29 Mar 2026$/).waitFor();
  });

  test('each day is compared with the same day of the month before, and February 29 to 31 with nothing', async () => {
    const { server } = shared();
    const path = '/projects/demo?period=this-month&zone=Europe/Berlin&interval=day&table=1&compare=previous';
    const { page } = await openThen(shared(), path);
    const question = { period: 'this-month', timeZone: 'Europe/Berlin', compare: 'previous' };
    const buckets = await bucketsOf(server, { ...question, interval: 'day' });
    await page.getByRole('table', { name: /^Queries per/ }).waitFor();
    const march = await readTable(page);
    expect(march).toHaveLength(29);
    expect(march.map(([, , , , previous]) => previous)).toEqual(
      buckets.map(({ previous }) => previous?.total),
    );
    const changes = (await rowsOf(page.getByRole('table', { name: /^Queries per/ }))).map((row) => row[6]);
    // Recording began long before.
    const change = (now: number, before: number) =>
      describeChange(now, before, { comparedFrom: '', recordingBegan: null })?.text ?? '';
    for (const [at, { total, previous }] of buckets.toReversed().entries())
      expect(changes[at]).toContain(previous ? change(total, previous.total) : '–');
    const february = await bucketsOf(server, {
      ...dayBounds(
        Temporal.PlainDate.from('2026-02-01'),
        Temporal.PlainDate.from('2026-03-01'),
        'Europe/Berlin',
      ),
      ...{ interval: 'day', timeZone: 'Europe/Berlin' },
    });
    expect(march.map(([, , , , previous]) => previous).slice(0, 28)).toEqual(
      february.map(({ total }) => total),
    );
    expect(march[28]?.[4]).toBeUndefined();
  });

  test('one caller can be counted alone, and compared with the year before', async () => {
    const { server } = shared();
    const { page } = await openThen(
      shared(),
      '/projects/demo?period=12-months-to-date&zone=UTC&interval=month',
    );
    const caller = 'git-cli';
    const table = page.getByRole('table', { name: 'Callers' });
    await table.getByRole('button', { name: 'Caller', exact: true }).click();
    await expect
      .poll(async () => (await rowsOf(table)).map(([name]) => name))
      .toEqual(['api', 'git-cli', 'github-desktop', 'sdk.git', 'web']);
    await table.getByRole('button', { name: caller }).click();
    // March is not over, and would look like a drop.
    const trend = table.getByRole('row', { name: caller }).locator('polyline');
    await expect.poll(async () => (await trend.getAttribute('points'))?.split(' ').length).toBe(11);
    const bounds = periodBounds('12-months-to-date', 'UTC');
    const counts = await countsOf(server, { ...bounds, caller });
    expect(counts).toEqual({ web: 0, api: 0, other: counts.total, total: counts.total });
    await expectTiles(page, counts);
    expect(new URL(page.url()).searchParams.get('caller')).toBe(caller);

    await page.getByRole('checkbox', { name: 'Compare' }).check();
    await page.getByLabel('Compare with').selectOption('same period last year');
    // March is not over: it is compared with as much of it.
    const question = { period: '12-months-to-date', timeZone: 'UTC', compare: 'previous-year', caller };
    const before = (await countsOf(server, question)).previous;
    await page
      .getByTitle(new RegExp(`^${before?.total.toLocaleString('en-US')} in 1 Apr 2024.?–.?29 Mar 2025$`))
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Show as table' }).click();
    const buckets = await bucketsOf(server, { ...question, interval: 'month' });
    await expect
      .poll(async () => (await readTable(page)).map(([, , , , compared]) => compared), patience)
      .toEqual(buckets.map(({ previous }) => previous?.total));
    await page.getByRole('button', { name: 'Show all callers' }).click();
    await expectTiles(page, await countsOf(server, bounds));
  });

  test('a caller fits into the row of the toolbar, and without queries is named', async () => {
    const { page } = await open(shared(), '/projects/demo?period=12-months-to-date&zone=UTC&caller=slakc', {
      viewport: { width: 1280, height: 900 },
    });
    await page.getByText('No queries from slakc in this range').waitFor();
    const [first, last] = await Promise.all(
      ['.toolbar-range', '.toolbar-end'].map((part) => page.locator(part).first().boundingBox()),
    );
    expect(Math.abs((first?.y ?? 0) - (last?.y ?? 100))).toBeLessThan(10);
  });

  test('downloads contain what is on screen', async () => {
    const { server } = shared();
    const zone = 'Europe/Berlin';
    const { page } = await openThen(shared(), `/projects/demo?period=this-month&zone=${zone}&interval=day`);
    const bounds = periodBounds('this-month', zone);
    await expectTiles(page, await countsOf(server, bounds));
    const download = (item: string) =>
      readDownload(page, async () => {
        await page.getByRole('button', { name: 'Download' }).click();
        await page.getByRole('menuitem', { name: item }).click();
      });
    const today = page.getByRole('slider', { name: 'Queries per day' });
    await expect.poll(() => today.getAttribute('aria-valuetext')).toContain('2026 (so far): ');
    expect(await page.locator('.bar-incomplete').evaluateAll((paths) => paths.map(String))).toHaveLength(3);
    const buckets = await bucketsOf(server, { ...bounds, interval: 'day', timeZone: zone });
    const series = await download('Counts over time, as CSV');
    expect(series.name).toBe('demo-2026-03-01-to-2026-03-29-day.csv');
    const columns = ['start', 'end', 'web', 'api', 'other', 'total'] as const;
    expect(parse(series.text)).toEqual([
      columns,
      ...buckets.map((bucket) =>
        // As a spreadsheet reads times.
        columns.map((column) => String(bucket[column]).replace(/^(\S+)T00:00:00\.000.*/, '$1 00:00:00')),
      ),
    ]);
    expect(JSON.parse((await download('Counts over time, as JSON')).text)).toMatchObject({ buckets });
    const callers = await callersOf(server, bounds);
    expect(parse((await download('Callers, as CSV')).text)).toEqual([
      ['caller', 'type', 'count'],
      ...callers.callers.map(({ caller, type, count }) => [caller, type, String(count)]),
    ]);
    expect(JSON.parse((await download('Callers, as JSON')).text)).toEqual(callers);
    expect(JSON.parse((await download('Totals, as JSON')).text)).toEqual(await countsOf(server, bounds));

    const svg = await download('Chart, as SVG');
    expect(svg.name).toBe('demo-2026-03-01-to-2026-03-29-day.svg');
    expect(svg.text).not.toMatch(/var\(|light-dark|class=/);
    const words = `[...new DOMParser().parseFromString(${JSON.stringify(svg.text)}, 'image/svg+xml')
      .querySelectorAll('text')].map((text) => text.textContent)`;
    expect(await page.evaluate<string[]>(words)).toEqual(
      expect.arrayContaining([
        'Sample events',
        'Queries per day · 1–29 Mar 2026 · Europe/Berlin',
        ...['Web', 'API', 'Other', 'Outlined: incomplete'],
      ]),
    );
    const png = await download('Chart, as PNG');
    expect(png.name).toBe('demo-2026-03-01-to-2026-03-29-day.png');
    expect([png.bytes.readUInt32BE(16), png.bytes.readUInt32BE(20)]).toEqual([2400, 1280]);
  });

  test('the hours of the week are those of the zone, by type, as colors and as numbers', async () => {
    const { server } = shared();
    const zone = 'Europe/Berlin';
    const { page } = await openThen(
      shared(),
      `/projects/demo?period=this-month&zone=${zone}&weekStart=sunday`,
    );
    await page.getByLabel('Interval').selectOption('Week by hour');
    const bounds = periodBounds('this-month', zone);
    const buckets = await bucketsOf(server, { ...bounds, interval: 'hour', timeZone: zone });
    const hours = buckets.map((bucket) => {
      const { dayOfWeek, hour } = Temporal.Instant.from(bucket.start).toZonedDateTimeISO(zone);
      return { dayOfWeek, hour, bucket };
    });
    const expected = (of: 'total' | 'web') =>
      [7, 1, 2, 3, 4, 5, 6].map((weekday) =>
        Array.from({ length: 24 }, (_, hour) =>
          hours
            .filter((one) => one.dayOfWeek === weekday && one.hour === hour)
            .reduce((sum, { bucket }) => sum + bucket[of], 0),
        ),
      );
    const table = page.getByRole('table', { name: /^Week by hour, times in Europe/ });
    const cells = async () => {
      const rows = await table.locator('tbody tr').all();
      const texts = await Promise.all(rows.map((row) => row.locator('td').allTextContents()));
      return texts.map((row) => row.map((text) => numberOf(text) ?? 0));
    };
    await expect.poll(cells, patience).toEqual(expected('total'));
    expect(await table.locator('tbody th').allInnerTexts()).toEqual([
      'Sun',
      'Mon',
      'Tue',
      'Wed',
      'Thu',
      'Fri',
      'Sat',
    ]);
    expect(await table.locator('.week-level-5').first().getAttribute('title')).toMatch(
      /^\w{3}, .*: [\d,]+ quer/,
    );
    await page.getByRole('button', { name: 'Show as table' }).click();
    for (const type of ['API', 'Other']) await page.getByRole('button', { name: type, exact: true }).click();
    await expect.poll(cells, patience).toEqual(expected('web'));
    await page.reload();
    await expect.poll(cells, patience).toEqual(expected('web'));
    await page.getByLabel('Interval').selectOption('Days');
    await page.getByRole('table', { name: /^Queries per day/ }).waitFor();
  });

  test('a range with too many hours for a week says so, and offers a shorter one', async () => {
    const { troubles, page } = await openThen(shared(), '/projects/demo?period=this-month&zone=UTC');
    const api = '/api/organizations/default/projects/demo';
    const range = 'dateFrom=2020-01-01&dateTo=2026-01-01&timeZone=UTC&weekStart=monday';
    troubles.expect(
      `GET ${api}/week-hours?${range}: 400`,
      `GET ${api}/imported-counts?${range}&interval=hour: 400`,
    );
    await page.goto('/projects/demo?from=2020-01-01&to=2025-12-31&zone=UTC&week=1');
    await page.getByText('This range has too many hours').waitFor();
    await page.getByRole('button', { name: 'Show 12 months to date' }).click();
    await page.getByRole('table', { name: /^Week by hour/ }).waitFor();
  });

  test('the table is sorted by each of its columns', async () => {
    const { page } = await openThen(
      shared(),
      '/projects/demo?period=12-months-to-date&zone=UTC&interval=quarter&table=1',
    );
    const totals = async () => (await readTable(page)).toReversed().map(([, , , total]) => total ?? 0);
    const when = page.getByRole('columnheader', { name: 'When' });
    await when.waitFor();
    const newestFirst = await totals();
    expect(newestFirst).toHaveLength(4);
    const total = page.getByRole('columnheader', { name: 'Total' });
    expect(await when.getAttribute('aria-sort')).toBe('descending');
    await total.getByRole('button').click();
    expect(await total.getAttribute('aria-sort')).toBe('descending');
    expect(await when.getAttribute('aria-sort')).toBeNull();
    expect(await totals()).toEqual(newestFirst.toSorted((a, b) => b - a));
    await total.getByRole('button').click();
    expect(await totals()).toEqual(newestFirst.toSorted((a, b) => a - b));
    await when.getByRole('button').click();
    expect(await totals()).toEqual(newestFirst.toReversed());
  });

  test.each(['12-months-to-date', 'all'] as const)(
    'the copied command returns the same numbers for %s',
    async (period) => {
      const { server } = shared();
      const { page } = await openThen(shared(), `/projects/demo?period=${period}&zone=Asia/Kathmandu`, {
        permissions: ['clipboard-read', 'clipboard-write'],
      });
      const counts = await countsOf(server, periodBounds(period, 'Asia/Kathmandu'));
      await expectTiles(page, counts);
      const answers: { total: number; buckets?: { total: number }[] }[] = [];
      for (const name of ['Totals', 'Counts over time', 'Callers']) {
        await page.getByRole('button', { name: 'Copy as curl' }).click();
        await page.getByRole('menuitem', { name }).click();
        await page.getByText('Copied').waitFor();
        const command = await page.evaluate<string>('navigator.clipboard.readText()');
        expect(command).not.toContain(server.firstRun.admin);
        const { stdout, status } = await runCommand('bash', ['-c', command], {
          env: { ADMIN_KEY: server.firstRun.admin },
        });
        expect(status).toBe(0);
        answers.push(JSON.parse(stdout));
      }
      expect(answers[0]).toEqual(counts);
      expect(answers[1]).toMatchObject({ timeZone: 'Asia/Kathmandu' });
      expect(answers[1]?.buckets?.reduce((sum, { total }) => sum + total, 0)).toBe(counts.total);
      expect(answers[2]).toMatchObject({ total: counts.total });
    },
  );

  test('a note says which imported counts a range cuts', async () => {
    const { server } = shared();
    const { url, firstRun } = server;
    const span = { start: '2025-11-01T00:00:00Z', end: '2025-12-01T00:00:00Z' };
    const imported = await fetch(`${url}/v1/analytics/demo/assistant/imported-counts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${firstRun.admin}`, 'content-type': 'application/json' },
      body: JSON.stringify({ source: 'old', caller: 'web', count: 1200, ...span }),
    });
    expect(imported.status).toBe(200);
    const { page } = await openThen(shared(), '/projects/demo?from=2025-11-10&to=2026-01-10&zone=UTC');
    const none = page.getByText(/none of their 1,200 queries of .*Nov 2025 are in it/);
    const all = page.getByText(/all of their 1,200 queries of .*Nov 2025 are in it/);
    await none.waitFor();
    expect(await all.count()).toBe(0);
    await page.goto('/projects/demo?from=2025-10-10&to=2025-11-10&zone=UTC');
    await all.waitFor();
    expect(await none.count()).toBe(0);
    const bounds = { dateFrom: '2025-11-01T00:00Z', dateTo: '2025-12-01T00:00Z' };
    await page.goto('/projects/demo?from=2025-11-01&to=2025-11-30&zone=UTC&interval=month');
    await expectTiles(page, await countsOf(server, bounds));
    await page.waitForLoadState('networkidle');
    expect(await page.getByText('imported counts').count()).toBe(0);

    // Days and months of another zone do not begin where those of the import do, whatever the range.
    const moved = page.getByText(
      /begin in one month of this chart .* all of their 1,200 queries of .*Nov 2025.* earlier/,
    );
    for (const zone of ['America/New_York', 'Asia/Tokyo', 'UTC']) {
      await page.goto(`/projects/demo?period=all&interval=month&zone=${zone}`);
      await page.getByRole('slider', { name: 'Queries per month' }).waitFor();
      if (zone === 'UTC') await page.waitForLoadState('networkidle');
      else await moved.waitFor();
      expect(await page.getByText('counted at the start of their span').count()).toBe(zone === 'UTC' ? 0 : 1);
    }
    await page.goto('/projects/demo?period=all&interval=week&zone=UTC');
    await page
      .getByText(/begin in one week .* If they were imported in another time zone, choose that/)
      .waitFor();

    await page.goto('/projects/demo?from=2025-10-30&to=2025-11-10&zone=UTC');
    const chart = page.getByRole('slider', { name: 'Queries per day' });
    await page.locator('.chart-notes[d^="M"]').waitFor({ state: 'attached' });
    const last = await chart.getAttribute('aria-valuetext');
    expect(last).toContain('. Import of counts of old on 29 Mar 2026');
    await chart.focus();
    await page.keyboard.press('Home');
    expect(await chart.getAttribute('aria-valuetext')).not.toContain('Import');
  });
});
