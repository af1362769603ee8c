/** A real browser in tests. It visits pages as people do, and every page that it opens is looked at: its HTML, the console, and what was requested. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
  type Response,
} from 'playwright-core';
import { atProcessEnd } from './file_end.ts';
import { problemsIn } from './valid_html.ts';

const run = promisify(execFile);

/** The path of the program, one of those of the distribution, which `.ci/run` installs; undefined where there is none. */
export async function chromiumProgram(): Promise<string | undefined> {
  for (const name of ['chromium', 'chromium-browser'])
    try {
      return (await run('which', [name])).stdout.trim();
    } catch {}
  return undefined;
}

/** Why a test that needs it is skipped. */
export const withoutChromium = 'there is no chromium';

/** As root, and without a graphics card. */
const options = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-dev-shm-usage'];

let started: Promise<Browser | undefined> | undefined;

/** The browser of this process, which its test files share. */
const browser = () =>
  (started ??= (async () => {
    const executablePath = await chromiumProgram();
    if (executablePath === undefined) return undefined;
    const running = await chromium.launch({ executablePath, args: options });
    atProcessEnd(() => running.close());
    return running;
  })());

type VisitorOptions = Pick<BrowserContextOptions, 'javaScriptEnabled' | 'bypassCSP'>;
type Part = Page | Locator;

/** Someone at a browser. */
export class Visitor {
  readonly page: Page;
  readonly #url: string;
  #refused: number[] = [];
  #problems: string[] = [];

  /** @param url of the server */
  constructor(page: Page, url: string) {
    this.page = page;
    this.#url = url;
    page.on('pageerror', ({ message }) => this.#note(message));
    page.on('console', (message) => {
      // That a page was refused is counted below.
      if (!/status of 4\d\d/.test(message.text()) || message.location().url !== page.url()) this.#note(message.text());
    });
    page.on('requestfailed', (request) => {
      const reason = request.failure()?.errorText;
      // Someone goes on before the icon has come.
      if (reason !== 'net::ERR_ABORTED') this.#note(`${request.url()} ${reason}`);
    });
    page.on('response', (response) => {
      if (response.status() < 400) return;
      if (response.request().isNavigationRequest()) this.#refused.push(response.status());
      else this.#note(`${response.url()} ${response.status()}`);
    });
  }

  #note(problem: string): void {
    this.#problems.push(`${this.path}: ${problem}`);
  }

  /** The path of the page with its query and fragment. */
  get path(): string {
    return this.page.url().slice(this.#url.length);
  }

  /** Signs in without the pages around it. */
  async signIn(login: string, password: string): Promise<void> {
    const { request } = this.page;
    const form = { _do: 'sign_in', login, password };
    const headers = { 'sec-fetch-site': 'same-origin' };
    const answer = await request.post(`${this.#url}/users/sign_in`, { form, headers, maxRedirects: 0 });
    assert.equal(answer.status(), 303);
  }

  /** Opens an address of the server. */
  open(path: string): Promise<void> {
    return this.arriving(() => this.page.goto(this.#url + path));
  }

  /** Presses a button. @param part of the page that has it */
  press(name: string | RegExp, part: Part = this.page): Promise<void> {
    return this.arriving(() => part.getByRole('button', { name, exact: true }).click());
  }

  /** Follows the first link of a name. */
  follow(name: string | RegExp, part: Part = this.page): Promise<void> {
    return this.arriving(() => part.getByRole('link', { name, exact: true }).first().click());
  }

  /** Fills in fields by their labels: texts, boxes, and choices from lists. */
  async fill(fields: Readonly<Record<string, string | boolean>>, part: Part = this.page): Promise<void> {
    for (const [label, value] of Object.entries(fields)) {
      const field = part.getByLabel(label, { exact: true });
      if (typeof value === 'boolean') await field.setChecked(value);
      else if ((await field.evaluate((element: { localName: string }) => element.localName)) === 'select')
        await field.selectOption(value);
      else await field.fill(value);
    }
  }

  /** Does what leads to another page, and looks at it. */
  async arriving(act: () => Promise<unknown>): Promise<void> {
    const [response] = await Promise.all([this.page.waitForNavigation(), act()]);
    await this.#inspect(response);
  }

  async #inspect(response: Response | null): Promise<void> {
    if (!response || !/^text\/html\b/.test(response.headers()['content-type'] ?? '')) return;
    for (const problem of await problemsIn(await response.text())) this.#note(problem);
  }

  /** What the page says. */
  text(): Promise<string> {
    return this.page.locator('body').innerText();
  }

  /** @param text that the page must show */
  async sees(text: string | RegExp): Promise<void> {
    const shown = await this.text();
    assert.ok(typeof text === 'string' ? shown.includes(text) : text.test(shown), `${this.path} shows ${shown}`);
  }

  /** @returns the statuses of pages that were refused, since this was last asked */
  refused(): number[] {
    return this.#refused.splice(0);
  }

  /** @returns what was wrong with pages, since this was last asked */
  problems(): string[] {
    return this.#problems.splice(0);
  }
}

/** @returns a visitor who is not signed in, with a browser of their own */
export type Invite = (url: string, options?: VisitorOptions) => Promise<Visitor>;

/** A test with real browsers. It fails for what is wrong with a page, and for refusals, that `tell` has not asked for. */
export function browserTest(name: string, tell: (invite: Invite, t: TestContext) => Promise<void>): void {
  test(name, async (t) => {
    const running = await browser();
    if (!running) return t.skip(withoutChromium);
    const visitors: Visitor[] = [];
    try {
      await tell(async (url, options = {}) => {
        const visitor = new Visitor(await (await running.newContext(options)).newPage(), url);
        visitors.push(visitor);
        return visitor;
      }, t);
    } finally {
      for (const { page } of visitors) await page.context().close();
    }
    for (const visitor of visitors) assert.deepEqual([...visitor.problems(), ...visitor.refused()], []);
  });
}
