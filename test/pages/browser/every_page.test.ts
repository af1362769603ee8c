/** Every kind of page in a real browser: its HTML, its accessibility in all themes, and on narrow screens. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { pages } from '../../../src/areas/pages.ts';
import { pageFinder } from '../../../src/pages/routes.ts';
import { ownAddress } from '../../support/address.ts';
import { type KindOfPage, worldOfPages } from '../../support/all_pages.ts';
import { browserOf, password } from '../../support/browser.ts';
import { browserTest, type Visitor } from '../../support/chromium.ts';
import { someOf } from '../../support/runs.ts';

const environment = await ownAddress();
let known: ReturnType<typeof worldOfPages> | undefined;
/** One world for all tests of the file. */
const visit = () => (known ??= worldOfPages({ environment }));

/** What only scanners and other servers bring is shown as other facts are; pages of providers are looked at where there are some. */
const likeOthers = /^\/(admin\/geo|import|users\/auth)\/|^\/:id\/-\/(security\/vulnerabilities|dependencies)\/:/;

test('every kind of page is on the list', async () => {
  const { kinds } = await visit();
  const find = pageFinder(pages);
  const opened = new Set(kinds.map(({ path }) => find(path.replace(/[?#].*/, ''))?.page));
  const missing = pages.filter((page) => 'view' in page && !opened.has(page) && !likeOthers.test(page.path));
  assert.deepEqual(
    missing.map(({ path }) => path),
    [],
  );
});

/** The height of line numbers is that of the code beside them, as WCAG allows. */
const settings = { rules: [{ id: 'target-size', enabled: true, selector: ':not(:is(.code, .diff) a)' }] };
const axe = `${readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')};
axe.configure(${JSON.stringify(settings)});`;

/** What may differ between themes and widths. */
const rulesOfLooks = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable', 'target-size'];

/** Has axe look at the page as it is. */
function violationsOn({ page }: Visitor, rules?: readonly string[]): Promise<string[]> {
  // It would describe each element that is fine, too.
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) };
  return page.evaluate(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => id + ' ' + target + ':' + failureSummary.split('\\n')[1])))`);
}

/** Pairs of buttons, or of a button and what is below the content, with less than 4 px between them. */
const touching = `(() => {
  const shown = [...document.querySelectorAll('main button, main .button, body > footer')].filter((one) => one.checkVisibility());
  const boxes = shown.map((one) => [one.innerText.trim().split('\\n')[0], one.getBoundingClientRect()]);
  return boxes.flatMap(([name, one], index) => boxes.slice(index + 1).filter(([, other]) =>
    one.left < other.right + 4 && other.left < one.right + 4 && one.top < other.bottom + 4 && other.top < one.bottom + 4,
  ).map(([next]) => name + ' touches ' + next));
})()`;

interface Screen {
  width: number;
  colorScheme: 'light' | 'dark';
  /** A theme that people choose instead of the one of their system. */
  theme?: 'dimmed' | 'contrast';
  /** All rules by default. */
  rules?: readonly string[];
}

/** No style depends on both the theme and the width, so that a screen for each of them shows what all pairs would. */
const screens: readonly Screen[] = [
  { width: 1280, colorScheme: 'light' },
  { width: 360, colorScheme: 'dark', rules: rulesOfLooks },
];

/** The other themes, in which axe looks at the sample. */
const otherThemes: readonly Screen[] = [
  { width: 1280, colorScheme: 'light', theme: 'dimmed', rules: rulesOfLooks },
  { width: 360, colorScheme: 'light', theme: 'contrast', rules: rulesOfLooks },
  { width: 1280, colorScheme: 'dark', theme: 'contrast', rules: rulesOfLooks },
];

/** Everything that is wrong with a page, in all themes and on a wide and a narrow screen. */
async function faultsOf(
  visitor: Visitor,
  { path, status = 200 }: KindOfPage,
  { isSample }: { isSample: boolean },
): Promise<string[]> {
  const { page } = visitor;
  await visitor.open(path);
  assert.deepEqual(visitor.refused(), status === 200 ? [] : [status], path);
  const faults = visitor.problems();
  for (const { width, colorScheme, theme = 'auto', rules } of isSample ? [...screens, ...otherThemes] : screens) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    await page.evaluate(`document.documentElement.className = 'theme-${theme}'`);
    if (isSample || !rules) {
      const violations = await violationsOn(visitor, rules);
      faults.push(...violations.map((text) => `${path}, ${width} px, ${theme} ${colorScheme}: ${text}`));
    }
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
    for (const pair of await page.evaluate<string[]>(touching)) faults.push(`${path}, ${width} px: ${pair}`);
    if (wide > width) faults.push(`${path} is ${wide} px wide on a screen of ${width} px`);
  }
  return faults;
}

browserTest('every page is valid, accessible in all themes, and fits on a narrow screen', async (invite) => {
  const { here, kinds } = await visit();
  // The policy of pages lets no one but us run scripts in them.
  const visitors = {
    anonymous: await invite(here.url, { bypassCSP: true }),
    owner: await invite(here.url, { bypassCSP: true }),
    admin: await invite(here.url, { bypassCSP: true }),
  };
  for (const { page } of Object.values(visitors)) await page.addInitScript(axe);
  for (const persona of ['owner', 'admin'] as const) {
    await browserOf(here, here.people[persona]);
    await visitors[persona].signIn(here.people[persona].username, password);
  }
  const faults: string[] = [];
  // Colours and sizes are the same on all pages, so that axe looks at some of them again.
  const sample = new Set(someOf(kinds, 0));
  for (const kind of kinds) faults.push(...(await faultsOf(visitors[kind.by], kind, { isSample: sample.has(kind) })));
  assert.deepEqual(faults, []);
});
