/** A group that is hidden from an address appears on no page and in no reply (docs/reference/addresses.md#groups). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '../../src/areas/index.ts';
import { pages } from '../../src/areas/pages.ts';
import { browserOf } from '../support/browser.ts';
import { sent } from '../support/sent.ts';
import { type ShownWorld, shownWorld, valuesFor } from '../support/shown_world.ts';

const inside = { 'x-forwarded-for': '192.0.2.7' };
const outside = { 'x-forwarded-for': '198.51.100.7' };

/** A world whose group, with all that is in it, is hidden from that address. */
async function hiddenWorld(): Promise<ShownWorld> {
  const here = await shownWorld({ environment: { COPPICE_TRUSTED_PROXIES: '127.0.0.1' } });
  const { as, group, project, people } = here;
  // Work of the person who looks, so that their own lists would show the group.
  const { maintainer } = people;
  const mine = { title: `Inside of ${group.path}`, assignee_ids: [maintainer.id] };
  const issue = await sent(as('maintainer').post(`/projects/${project.id}/issues`, mine));
  await sent(
    as('owner').post(`/projects/${project.id}/issues/${issue.iid}/notes`, { body: `@${maintainer.username} when?` }),
  );
  await sent(as('maintainer').post(`/projects/${project.id}/star`, {}));
  await sent(as('admin').put(`/groups/${group.id}`, { ip_restriction_ranges: '192.0.2.0/24' }));
  return here;
}

/** The parts of a text that name the group, and so also its project. */
const namedIn = (text: string, { group }: ShownWorld): string[] =>
  [...text.matchAll(new RegExp(`.{0,60}\\b${group.path}\\b.{0,30}`, 'gs'))].map(([part]) =>
    part.replaceAll(/\s+/g, ' '),
  );

/** The address of an endpoint, with values for its parameters. */
function addressFor(here: ShownWorld, path: string): string {
  const page = path.replace(/^\/projects(?=\/:id)/, '');
  const values: Record<string, string> = /^(\/groups)?\/:id/.test(page) ? valuesFor(here, page) : { ...here.values };
  values.id ??= String(here.people.maintainer.id);
  values.user_id = String(here.people.maintainer.id);
  return `/api/v4${path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? '1'))}`;
}

for (const order of ['outside first', 'inside first'] as const)
  test(`a group that is hidden from an address appears on no page and in no reply, ${order}`, async () => {
    const here = await hiddenWorld();
    const browser = await browserOf(here, here.people.maintainer);
    const token = { 'private-token': here.as('maintainer').token! };
    const shown: string[] = [];
    const faults: string[] = [];
    /** @param isInside whether the address is in the group, and not found */
    const look = async (
      path: string,
      isInside: boolean,
      ask: (from: Record<string, string>) => Promise<[number, string]>,
    ) => {
      // Whatever is kept of a request may not be used for one from elsewhere.
      const before = await ask(order === 'inside first' ? inside : outside);
      const after = await ask(order === 'inside first' ? outside : inside);
      const [[, seen], [status, text]] = order === 'inside first' ? [before, after] : [after, before];
      if (isInside && status < 300) faults.push(`${path}: ${status}`);
      for (const part of namedIn(text, here).slice(0, 1)) faults.push(`${path}: ${status} ${part}`);
      if (!isInside && namedIn(seen, here).length > 0) shown.push(path);
    };
    for (const { path } of pages) {
      const address = here.addresses.get(path)!;
      await look(path, /^(\/groups)?\/:id\b/.test(path), async (from) => {
        const { status, html } = await browser.get(address, from);
        return [status, html.replaceAll(address, '')];
      });
    }
    const pagesThatShow = shown.length;
    for (const { method, path } of endpoints) {
      if (method !== 'GET') continue;
      await look(path, /^\/(groups|projects)\/:id\b/.test(path), async (from) => {
        const response = await fetch(here.url + addressFor(here, path), {
          headers: { ...token, ...from },
          redirect: 'manual',
        });
        return [response.status, await response.text()];
      });
    }
    assert.deepEqual(faults, []);
    for (const path of ['/events', '/users/:id/events', '/todos', '/issues', '/dashboard/todos'])
      assert.ok(shown.includes(path), path);
    assert.ok(pagesThatShow > 5 && shown.length - pagesThatShow > 10, `${shown}`);
  });
