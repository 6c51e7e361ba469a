/** Finds the Chromium for tests and screenshots, and starts it without access to other machines. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';

const run = promisify(execFile);

/** Names the browser to use. */
const variable = 'CALLER_STATS_TEST_CHROMIUM';

/** A browser that starts on this machine. Plain data, so that it can be sent to other processes. */
export interface Chromium {
  readonly origin: string;
  /** Undefined if Playwright knows it. */
  readonly path?: string;
  /** Additional environment variables. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Browsers without windows, which need a third less processor time. */
const shells = ['/usr/bin/chromium-headless-shell', '/usr/bin/chrome-headless-shell'];

/** The paths that systems and installers use. */
const usualPlaces = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/microsoft-edge',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** Only names of this machine can be resolved. Playwright itself disables the requests of browsers to their vendors. */
export const switches = [
  '--disable-gpu',
  '--disable-quic',
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost',
];

/**
 * Returns the first browser that starts and draws text: the machine's, Playwright's, or the one of an npm package, of which
 * 200 MB are unpacked into `folder`. For tests, browsers without windows come first. If `CALLER_STATS_TEST_CHROMIUM` names
 * a browser, no other is tried.
 */
export async function findChromium(
  folder: string,
  env: NodeJS.ProcessEnv,
  { forTests = false }: { readonly forTests?: boolean } = {},
): Promise<Chromium> {
  const named = env[variable];
  const npm = () => packaged(folder, env);
  const usual = [...installed(usualPlaces), { origin: "Playwright's own" }];
  const found = forTests ? [...installed(shells), npm, ...usual] : [...usual, npm];
  const candidates = named === undefined ? found : [{ origin: variable, path: named }];
  const problems: string[] = [];
  for (const candidate of candidates) {
    try {
      const found = typeof candidate === 'function' ? await candidate() : candidate;
      await requireText(found);
      return found;
    } catch (error) {
      problems.push(firstLine(error));
    }
  }
  throw new Error(
    `The browser tests need a Chromium, and none that was tried starts: ${problems.join('; ')}. Install one ` +
      '(on Debian: apt-get install chromium; elsewhere: npx playwright-core install --with-deps chromium-headless-shell), ' +
      `or name one in ${variable}.`,
  );
}

function installed(places: readonly string[]): Chromium[] {
  return places.filter((path) => existsSync(path)).map((path) => ({ origin: path, path }));
}

/** Starts it. The caller closes it. */
export function startChromium({ path, env }: Chromium): Promise<Browser> {
  return chromium.launch({
    args: switches,
    ...(path === undefined ? {} : { executablePath: path }),
    ...(env === undefined ? {} : { env: { ...process.env, ...env } }),
  });
}

/** Throws if the browser has no fonts: it starts, but its text has no width. */
async function requireText(found: Chromium): Promise<void> {
  const browser = await startChromium(found).catch((error: unknown) => {
    throw new Error(`${found.origin}: ${reason(error)}`);
  });
  try {
    const page = await browser.newPage();
    await page.setContent('<span>counts</span>');
    const box = await page.locator('span').boundingBox();
    if (box === null || box.width === 0) throw new Error(`${found.origin}: it has no fonts`);
  } finally {
    await browser.close();
  }
}

/**
 * `@sparticuz/chromium` contains the browser with the libraries and fonts that a bare machine lacks. It unpacks the libraries
 * only if its environment looks like AWS Lambda when it is loaded.
 */
async function packaged(folder: string, env: NodeJS.ProcessEnv): Promise<Chromium> {
  const origin = 'the npm package @sparticuz/chromium';
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error(`${origin}: it is for Linux on x64 only`);
  const script = "import('@sparticuz/chromium').then((it) => it.default.executablePath())";
  await run(process.execPath, ['--eval', script], {
    cwd: import.meta.dirname,
    env: { PATH: env['PATH'], TMPDIR: folder, AWS_LAMBDA_JS_RUNTIME: 'nodejs20.x' },
  }).catch(({ stderr }: { stderr?: string }) => {
    throw new Error(`${origin}: ${/^\w*Error.*/m.exec(stderr ?? '')?.[0] ?? 'it cannot be unpacked'}`);
  });
  // The package's own font configuration names folders of AWS Lambda.
  const fonts = join(folder, 'fonts.conf');
  await writeFile(
    fonts,
    `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${join(folder, 'fonts')}</dir>
  <cachedir>${join(folder, 'fonts-cache')}</cachedir>
</fontconfig>
`,
  );
  return {
    origin,
    path: join(folder, 'chromium'),
    env: { LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'), FONTCONFIG_FILE: fonts },
  };
}

/** Extracts the browser's own message from the long error of Playwright. */
function reason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  if (text.includes('has been closed')) return 'it ends as soon as it is started';
  return /error while loading shared libraries: .+|executable doesn't exist.*/i.exec(text)?.[0] ?? text;
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n')[0] ?? text;
}
