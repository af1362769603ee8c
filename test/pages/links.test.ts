/** Every address that a reply of the API contains leads to a page. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pages } from '../../src/areas/pages.ts';
import { pageFinder } from '../../src/pages/routes.ts';
import { browserOf } from '../support/browser.ts';
import { fullWorld } from '../support/full_project.ts';
import { watchReplies } from '../support/populate.ts';

/** Files, which have doors of their own, and addresses for programs. */
const isNoPage = (path: string): boolean =>
  /^\/(api|uploads|-\/(project|group)\/\d+\/uploads)\/|\.git$|^\/assets\//.test(path);

/** Adds the addresses in a value to a set, from members that are named as such. */
function collect(value: unknown, into: Set<string>): void {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  for (const [name, member] of Object.entries(value))
    if (typeof member === 'string' && /(^|_)url$/.test(name) && member.startsWith('http://coppice.test/'))
      into.add(member.slice('http://coppice.test'.length).split('#', 1)[0]!);
    else collect(member, into);
}

test('every address in a reply is one of a page, and one of each form opens', async () => {
  const addresses = new Set<string>();
  watchReplies((body) => collect(body, addresses));
  const here = await fullWorld({});
  const { as, project, group, people } = here;
  for (const path of [
    '/todos',
    '/namespaces',
    '/users',
    '/groups',
    `/projects/${project.id}/repository/branches`,
    `/projects/${project.id}/repository/commits`,
    `/projects/${project.id}/members/all`,
    `/groups/${group.id}/epics`,
    `/groups/${group.id}/iterations`,
  ])
    assert.equal((await as('owner').get(path)).status, 200, path);
  const find = pageFinder(pages);
  const paths = [...addresses].filter((path) => !isNoPage(path));
  assert.ok(paths.length > 30);
  const forms = Map.groupBy(paths, (path) => find(path.split('?', 1)[0]!)?.page.path ?? '');
  assert.deepEqual(forms.get('') ?? [], []);
  const browser = await browserOf(here, people.admin);
  for (const [form, [path]] of forms) {
    const shown = await browser.get(path!);
    assert.ok([200, 302].includes(shown.status), `${form}: ${path} answers ${shown.status}`);
    const type = shown.headers.get('content-type') ?? '';
    assert.ok(shown.status === 302 || form.includes('/raw') || type.startsWith('text/html'), `${path} is ${type}`);
  }
});
