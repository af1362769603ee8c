/** Pages show what the API shows, to the same people. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Browser } from '../support/browser.ts';
import { type Browsers, browsersOf, type OpenedPage, openAll, personas, publish } from '../support/page_access.ts';
import { type ShownWorld, shownWorld } from '../support/shown_world.ts';

let here: ShownWorld;
let browsers: Browsers;
before(async () => {
  here = await shownWorld({});
  browsers = await browsersOf(here);
});

/** Where a page and its endpoint disagree. */
function differencesIn({ path, signed_in, outcomes, shown_by }: OpenedPage): string[] {
  if (!shown_by) return [];
  return personas.flatMap((persona, index) => {
    const isShown = ['ok', 'to'].includes(outcomes[index]!);
    const status = shown_by.statuses[index]!;
    const isMeant = status < 300 && !(signed_in && persona === 'anonymous');
    return isShown === isMeant ? [] : [`${path} ${persona}: ${outcomes[index]}, but the API ${status}`];
  });
}

/** What an answer tells, without when it was sent and the project or group that was asked for. */
async function toldBy(browser: Browser, address: string, place: string) {
  const { status, headers, to, html } = await browser.get(address);
  const shown = [...headers].filter(([name]) => !['date', 'location', 'x-request-id', 'x-runtime'].includes(name));
  return { status, headers: shown, to: to && decodeURIComponent(to).replace(place, 'PLACE'), html };
}

test('what is hidden looks like what does not exist, to the byte', async () => {
  const { full_path } = here.project;
  const others = [here.group.full_path, 'nobody'].map((start) => `${start}/nothing`);
  for (const persona of ['anonymous', 'outsider'] as const) {
    const browser = browsers.get(persona)!;
    for (const [path, address] of here.addresses) {
      const [hidden, unknown] = path.startsWith('/:id')
        ? [full_path, others]
        : path.startsWith('/groups/:id')
          ? [here.group.full_path, ['nobody', 'nobody/nothing']]
          : ['', []];
      if (unknown.length === 0) continue;
      const told = await toldBy(browser, address, hidden);
      for (const each of unknown)
        assert.deepEqual(await toldBy(browser, address.replace(hidden, each), each), told, `${persona} ${address}`);
    }
  }
});

test('a page is shown to those to whom the API shows the same', async () => {
  assert.deepEqual((await openAll(here, browsers)).flatMap(differencesIn), []);
  await publish(here);
  assert.deepEqual((await openAll(here, browsers)).flatMap(differencesIn), []);
});
