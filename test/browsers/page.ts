/**
 * A page of a browser that takes the commands of W3C WebDriver. Firefox takes them by its own socket, and WebKitGTK by HTTP, with the
 * same parameters; a command has the name that Firefox gives it.
 */
import { vi } from 'vitest';

/** The method and path of each command over HTTP. */
export const COMMANDS = {
  'WebDriver:Navigate': 'POST url',
  'WebDriver:ExecuteScript': 'POST execute/sync',
  'WebDriver:FindElement': 'POST element',
  'WebDriver:ElementClick': 'POST element/{id}/click',
  'WebDriver:ElementSendKeys': 'POST element/{id}/value',
  'WebDriver:SwitchToFrame': 'POST frame',
  'WebDriver:TakeScreenshot': 'GET screenshot',
} as const;

type Command = keyof typeof COMMANDS;

/** Sends a command and returns its value; rejects if the browser refuses it. */
export type Send = (command: Command, parameters?: Readonly<Record<string, unknown>>) => Promise<unknown>;

export interface BrowserOptions {
  /** Whether it refuses cookies and everything else that sites store. */
  readonly blocksSiteData: boolean;
}

/** Starts a browser, which is stopped after the test. */
export type BrowserStarter = (options: BrowserOptions) => Promise<Page>;

/** Long enough for a busy machine. */
export const patience = { timeout: 30_000, interval: 100 };

/** The name of an element's id in the values of commands. */
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';

/** Selectors of elements are XPath if they begin with a slash, and otherwise CSS. */
export class Page {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  async open(url: string): Promise<void> {
    await this.#send('WebDriver:Navigate', { url });
  }

  /** Clicks the first element that matches, as soon as there is one that can be clicked. */
  async click(selector: string): Promise<void> {
    await this.#withElement(selector, (id) => this.#send('WebDriver:ElementClick', { id }));
  }

  /** Types into the first element that matches. */
  async type(selector: string, text: string): Promise<void> {
    await this.#withElement(selector, (id) => this.#send('WebDriver:ElementSendKeys', { id, text }));
  }

  /** Waits until an element matches. */
  async see(selector: string): Promise<void> {
    await this.#withElement(selector, async () => undefined);
  }

  /** The value of an expression in the page. */
  async value<T>(expression: string): Promise<T> {
    return (await this.#send('WebDriver:ExecuteScript', { script: `return ${expression}`, args: [] })) as T;
  }

  /** Until a page is opened, everything else is about the first frame of this one. */
  async enterFrame(): Promise<void> {
    await vi.waitFor(() => this.#send('WebDriver:SwitchToFrame', { id: 0 }), patience);
  }

  /** A picture of the window, as PNG. Leaves the frame. */
  async picture(): Promise<Buffer> {
    await this.#send('WebDriver:SwitchToFrame', { id: null });
    return Buffer.from(String(await this.#send('WebDriver:TakeScreenshot')), 'base64');
  }

  /** Finds the element anew each time, because a page may replace it in between. */
  async #withElement(selector: string, act: (id: string) => Promise<unknown>): Promise<void> {
    const using = selector.startsWith('/') ? 'xpath' : 'css selector';
    await vi.waitFor(async () => {
      const found = await this.#send('WebDriver:FindElement', { using, value: selector });
      await act((found as Record<typeof ELEMENT, string>)[ELEMENT]);
    }, patience);
  }
}
