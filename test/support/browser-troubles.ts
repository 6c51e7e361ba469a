/**
 * What goes wrong in a browser while its user may see nothing of it: errors, requests that failed, violations of the
 * Content-Security-Policy. Each is one sentence, without the server's address, so that a test can name what it expects.
 */
import type { BrowserContext, ConsoleMessage, Page, Request } from 'playwright-core';

/** The browser's own line on a request that we have heard of already, unless it is for something it asked by itself. */
const requestLine = /^Failed to load resource: /;

/** What the browser says of a request that the page itself gave up. */
const givenUp = 'net::ERR_ABORTED';

/** Called from the page; Playwright puts it there. */
const binding = 'callerStatsReportViolation';

/** Runs in each page before anything of its own. Also hears of what a policy only reports. */
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
  /** Lines of the console on requests, by address: only at the end is it known which of them are news. */
  readonly #requestLines: (readonly [url: string, trouble: string])[] = [];

  private constructor(context: BrowserContext) {
    this.#context = context;
  }

  /** Watches every page of the context, those that are opened later too. */
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
   * Names trouble that belongs to the test, word for word as a failing test prints it: `POST /api/sign-in: 401`,
   * `GET /export.csv: net::ERR_ABORTED`. May happen any number of times from now on, but once at least.
   */
  expect(...troubles: string[]): void {
    for (const one of troubles) this.#expected.add(one);
  }

  /**
   * Requests that begin like this, `GET /api/`, may be given up without an answer at any time: pages that are left, or
   * show something else now, do so with what they still wait for.
   */
  ignoreGivenUp(beginning: string): void {
    this.#ignored.push(beginning);
  }

  /** All that nobody expected, and what was expected in vain. */
  async unexpected(): Promise<string[]> {
    // What a page reports comes in order: an answer from it comes behind all it had to say.
    for (const page of this.#context.pages()) await answerOf(page);
    const unheard = this.#requestLines.filter(([url]) => !this.#failedUrls.has(url)).map(([, line]) => line);
    const found = [...this.#found, ...unheard];
    return [
      ...new Set(found.filter((one) => !this.#expected.has(one))),
      ...[...this.#expected].filter((one) => !found.includes(one)).map((one) => `did not happen: ${one}`),
    ];
  }

  /** What a page still waits for when it goes elsewhere is no trouble: its links' targets, which it fetches ahead, for one. */
  #watchLeaving(page: Page): void {
    let leaves = 0;
    const leavesBefore = new WeakMap<Request, number>();
    page.on('request', (request) => {
      if (request.isNavigationRequest()) leaves++;
      leavesBefore.set(request, leaves);
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

/** How often in a row a page may go elsewhere while it is asked. */
const leavesMax = 100;

/** Waits for the page to say anything, again where it went elsewhere before it had. */
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

/** Path and query of an address on this machine, whose port is another each time; others whole. */
function shown(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return url?.hostname === '127.0.0.1' ? `${url.pathname}${url.search}` : address;
}
