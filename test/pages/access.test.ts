/** Pages show what the API shows, to the same people. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { before, test } from 'node:test';
import { accessTable } from '../support/access_table.ts';
import type { Browser } from '../support/browser.ts';
import {
  type Browsers,
  browsersOf,
  type OpenedPage,
  type OpenedPages,
  openPages,
  pageTable,
  personas,
} from '../support/page_access.ts';
import { unofferedTable } from '../support/page_operations.ts';
import { type ShownWorld, shownWorld } from '../support/shown_world.ts';
import { world } from '../support/world.ts';

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

let opening: Promise<OpenedPages> | undefined;
const opened = () => (opening ??= openPages(here, browsers));

test('a page is shown to those to whom the API shows the same', async () => {
  const { hidden, shown } = await opened();
  assert.deepEqual(hidden.flatMap(differencesIn), []);
  assert.deepEqual(shown.flatMap(differencesIn), []);
});

test('docs/access.txt is up to date', async () => {
  const committed = await readFile(path.resolve(import.meta.dirname, '../../docs/access.txt'), 'utf8');
  const tables = [await accessTable(await world({})), pageTable(await opened()), await unofferedTable()];
  assert.equal(
    committed,
    tables.join('\n'),
    'the file does not say what the code does: run `npm run generate`, read the difference, and commit it if it is meant',
  );
});
