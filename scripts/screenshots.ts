/**
 * `npm run screenshots -- URL` takes the pictures of the docs, into `docs/images`, from a server that runs with the
 * sample: `npm start -- --demo`. With one browser and its fonts they are the same each time.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { findChromium, startChromium } from '../test/support/chromium.js';

/** Of each picture: whoever reads the docs, or clones the repository, loads them all. */
const pictureBytesMax = 150_000;

interface Subject {
  /** What the files are called. */
  readonly name: string;
  readonly path: string;
  /** Resolves when there is to see what the picture is for. */
  readonly ready: (page: Page) => Promise<unknown>;
}

const SUBJECTS: readonly Subject[] = [
  {
    name: 'api-documentation',
    path: '/docs',
    ready: (page) => page.getByRole('heading', { name: 'caller-stats' }).waitFor(),
  },
];

const desk = { viewport: { width: 1280, height: 800 } };
const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
  light: { ...desk, colorScheme: 'light' },
  dark: { ...desk, colorScheme: 'dark' },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: 'light', isMobile: true, hasTouch: true },
};

const images = fileURLToPath(new URL('../docs/images', import.meta.url));
const usage = 'npm run screenshots -- URL, where a server with the sample runs: npm start -- --demo';

async function main([baseURL, ...more]: readonly string[]): Promise<void> {
  if (baseURL === undefined || more.length > 0 || !URL.canParse(baseURL)) throw new Error(usage);
  await mkdir(images, { recursive: true });
  const folder = await mkdtemp(join(tmpdir(), 'caller-stats-screenshots-'));
  try {
    const browser = await startChromium(await findChromium(folder, process.env));
    try {
      for (const [look, options] of Object.entries(LOOKS)) await take(browser, look, { ...options, baseURL });
    } finally {
      await browser.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function take(browser: Browser, look: string, options: BrowserContextOptions): Promise<void> {
  const context = await browser.newContext({
    ...options,
    locale: 'en-GB',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  for (const { name, path, ready } of SUBJECTS) {
    await page.goto(path);
    await ready(page);
    const file = join(images, `${name}-${look}.png`);
    const { length } = await page.screenshot({ path: file, animations: 'disabled', scale: 'css' });
    process.stdout.write(`${file}: ${length} bytes\n`);
    if (length > pictureBytesMax)
      throw new Error(`${file} has more than ${pictureBytesMax} bytes: show less in it.`);
  }
  await context.close();
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`screenshots: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
