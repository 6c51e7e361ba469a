/**
 * Collects problems in a browser that its user may not see: errors, failed requests, violations of the Content-Security-Policy.
 * Each is one line without the server's address, so that a test can name the ones it expects.
 */
import type { BrowserContext, ConsoleMessage, Page, Request } from 'playwright-core';

/** The browser's own line about a failed request, which is usually reported in another way as well. */
const requestLine = /^Failed to load resource: /;

/** The error of a request that the page itself aborted. */
const givenUp = 'net::ERR_ABORTED';

/** A function that Playwright adds to the page. */
const binding = 'callerStatsReportViolation';

/** Runs in each page before its own scripts. Also receives violations that are only reported. */
const listener = `document.addEventListener('securitypolicyviolation', (event) => {
  const { effectiveDirective, blockedURI, documentURI } = event;
  window.${binding}(effectiveDirective, blockedURI, documentURI);
});`;

export class Troubles {
  readonly #context: BrowserContext;
  readonly #found: string[] = [];
  readonly #expected = new Set<string>();
  readonly #ignored: string[] = [];
  readonly #failedUrls = new Set<string>();
  /** Console lines about requests, by URL. Only at the end is it known which were not reported otherwise. */
  readonly #requestLines: (readonly [url: string, trouble: string])[] = [];

  private constructor(context: BrowserContext) {
    this.#context = context;
  }

  /** Watches every page of the context, including later ones. */
  static async watch(context: BrowserContext): Promise<Troubles> {
    const troubles = new Troubles(context);
    await context.exposeBinding(binding, (_source, directive: string, blocked: string, page: string) => {
      troubles.#found.push(`${directive} does not allow ${shown(blocked)} on ${shown(page)}`);
    });
    await context.addInitScript(listener);
    context.on('console', (message) => troubles.#addConsole(message));
    context.on('weberror', (error) => {
      troubles.#found.push(`uncaught: ${error.error().message}`);
    });
    context.on('page', (page) => troubles.#watchLeaving(page));
    context.on('response', (response) => {
      if (response.status() >= 400) troubles.#addRequest(response.request(), `${response.status()}`);
    });
    return troubles;
  }

  /**
   * Expects a problem at least once from now on, named as a failing test prints it: `POST /api/sign-in: 401`,
   * `GET /export.csv: net::ERR_ABORTED`.
   */
  expect(...troubles: string[]): void {
    for (const one of troubles) this.#expected.add(one);
  }

  /** Allows pages to abort requests that start like this, `GET /api/`, as they do when they show something else. */
  ignoreGivenUp(beginning: string): void {
    this.#ignored.push(beginning);
  }

  /** All unexpected problems, and expected ones that did not happen. */
  async unexpected(): Promise<string[]> {
    // Messages of a page arrive in order, so its response follows all problems.
    for (const page of this.#context.pages()) await answerOf(page);
    const unheard = this.#requestLines.filter(([url]) => !this.#failedUrls.has(url)).map(([, line]) => line);
    const found = [...this.#found, ...unheard];
    return [
      ...new Set(found.filter((one) => !this.#expected.has(one))),
      ...[...this.#expected].filter((one) => !found.includes(one)).map((one) => `did not happen: ${one}`),
    ];
  }

  /** Ignores requests that end because the page navigates, such as prefetched pages. */
  #watchLeaving(page: Page): void {
    /** Navigations that began, and whether the page still is the one before the last of them. */
    let leaves = 0;
    let isLeaving = false;
    const leavesBefore = new WeakMap<Request, number>();
    page.on('request', (request) => {
      if (request.isNavigationRequest()) {
        leaves++;
        isLeaving = true;
      }
      leavesBefore.set(request, isLeaving ? leaves - 1 : leaves);
    });
    page.on('framenavigated', (frame) => {
      if (frame === page.mainFrame()) isLeaving = false;
    });
    page.on('requestfailed', (request) => {
      const why = request.failure()?.errorText ?? 'failed';
      const hasLeft = leaves > (leavesBefore.get(request) ?? leaves);
      if (why === givenUp && hasLeft) this.#failedUrls.add(request.url());
      else this.#addRequest(request, why);
    });
  }

  #addRequest(request: Request, what: string): void {
    this.#failedUrls.add(request.url());
    const asked = `${request.method()} ${shown(request.url())}`;
    const isIgnored = what === givenUp && this.#ignored.some((beginning) => asked.startsWith(beginning));
    if (!isIgnored) this.#found.push(`${asked}: ${what}`);
  }

  #addConsole(message: ConsoleMessage): void {
    if (message.type() !== 'error') return;
    const trouble = `console: ${message.text()}`;
    if (requestLine.test(message.text())) this.#requestLines.push([message.location().url, trouble]);
    else this.#found.push(trouble);
  }
}

/** How often in a row a page may navigate while it is asked. */
const leavesMax = 100;

/** Waits for a response of the page. Asks again if the page navigates. */
async function answerOf(page: Page): Promise<void> {
  for (let leaves = 0; !page.isClosed(); leaves++) {
    try {
      await page.evaluate('0');
      return;
    } catch (error) {
      const hasLeft = error instanceof Error && /because of a navigation|has been closed/.test(error.message);
      if (!hasLeft || leaves === leavesMax) throw error;
    }
  }
}

const LOOPBACK = ['127.0.0.1', 'localhost'];

/** Only the path and query of a URL on this machine, whose port differs each time. */
function shown(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return url !== undefined && LOOPBACK.includes(url.hostname) ? `${url.pathname}${url.search}` : address;
}
