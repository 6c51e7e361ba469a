/**
 * `npx tsx scripts/screenshots.ts SET_UP_ADDRESS` takes the pictures of the docs, into `docs/images`, from a server that runs with
 * the sample data on a new database, `npm start -- --demo`, and prints that address. The overview ends at the current time.
 * At last it makes the picture that other sites show with a link to the docs.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import sharp from 'sharp';
import { findChromium, startChromium } from '../test/support/browser/chromium.js';

type Cookie = Parameters<BrowserContext['addCookies']>[0][number];

/** Maximum bytes per picture: every reader of the docs and every clone loads them all. */
const pictureBytesMax = 150_000;

interface Subject {
  /** The file name. */
  readonly name: string;
  readonly path: string;
  /** Resolves once the content to show is visible. */
  readonly ready: (page: Page) => Promise<unknown>;
}

const SUBJECTS: readonly Subject[] = [
  {
    name: 'overview',
    path: '/projects/assistant-demo?period=30-days-to-date&zone=UTC',
    ready: (page) => page.locator('.chart path').first().waitFor(),
  },
  {
    name: 'keys',
    path: '/projects/demo/keys',
    ready: (page) => page.getByText('First recording key').waitFor(),
  },
];

/** The user in the pictures. */
const owner = { name: 'Ada Lovelace', email: 'ada@example.org', password: 'a long enough passphrase' };

const desk = { viewport: { width: 1280, height: 800 } };
const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
  light: { ...desk, colorScheme: 'light' },
  dark: { ...desk, colorScheme: 'dark' },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: 'light', isMobile: true, hasTouch: true },
};

const images = fileURLToPath(new URL('../docs/images', import.meta.url));
const usage =
  'npx tsx scripts/screenshots.ts SET_UP_ADDRESS, which a server with the sample prints on a new database: npm start -- --demo';

async function main([address, ...more]: readonly string[]): Promise<void> {
  if (address === undefined || more.length > 0 || !URL.canParse(address)) throw new Error(usage);
  const { origin: baseURL, hash } = new URL(address);
  const cookies = await setUp(baseURL, hash.slice(1));
  await mkdir(images, { recursive: true });
  const folder = await mkdtemp(join(tmpdir(), 'caller-stats-screenshots-'));
  try {
    const browser = await startChromium(await findChromium(folder, process.env));
    try {
      for (const [look, options] of Object.entries(LOOKS))
        await take(browser, look, { ...options, baseURL }, cookies);
      await takePreview(browser);
    } finally {
      await browser.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Creates the first owner and returns the session cookies. */
async function setUp(baseURL: string, token: string): Promise<Cookie[]> {
  const response = await fetch(`${baseURL}/api/set-up`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: baseURL },
    body: JSON.stringify({ token, ...owner }),
  });
  if (!response.ok) throw new Error(`${await response.text()} ${usage}`);
  return response.headers.getSetCookie().map((cookie) => {
    const [pair = ''] = cookie.split(';');
    const at = pair.indexOf('=');
    return { name: pair.slice(0, at), value: pair.slice(at + 1), url: baseURL };
  });
}

async function take(
  browser: Browser,
  look: string,
  options: BrowserContextOptions,
  cookies: readonly Cookie[],
): Promise<void> {
  const context = await browser.newContext({
    ...options,
    locale: 'en-GB',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  });
  await context.addCookies([...cookies]);
  const page = await context.newPage();
  for (const { name, path, ready } of SUBJECTS) {
    await page.goto(path);
    await ready(page);
    await page.waitForLoadState('networkidle');
    await save(page, `${name}-${look}.webp`);
  }
  await context.close();
}

/** The overview below the name and the purpose, in the size that previews of links have. */
async function takePreview(browser: Browser): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1200, height: 630 } });
  const overview = (await readFile(join(images, 'overview-light.webp'))).toString('base64');
  await page.setContent(`
    <body style="margin: 0; padding: 36px 64px 0; background: #fafaf8; color: #17191e; font-family: system-ui, sans-serif">
      <h1 style="margin: 0; font-size: 52px">caller-stats</h1>
      <p style="margin: 8px 0 24px; font-size: 28px; line-height: 1.3">Counts the questions people ask your AI assistant,<br>
        exactly, by where they came from.</p>
      <img src="data:image/webp;base64,${overview}" style="width: 920px; border: 1px solid #8d8a84; border-radius: 12px">
    </body>`);
  await save(page, 'preview.png');
  await page.close();
}

async function save(page: Page, name: string): Promise<void> {
  const file = join(images, name);
  const taken = await page.screenshot({ animations: 'disabled', scale: 'css' });
  // Half as large. Some of the programs that show previews of links know only PNG.
  const picture = name.endsWith('.webp') ? await sharp(taken).webp({ lossless: true }).toBuffer() : taken;
  await writeFile(file, picture);
  const { length } = picture;
  process.stdout.write(`${file}: ${length} bytes\n`);
  if (length > pictureBytesMax)
    throw new Error(`${file} has more than ${pictureBytesMax} bytes: show less in it.`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`screenshots: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
