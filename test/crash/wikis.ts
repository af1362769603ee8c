/** Writing pages of wikis until the server is killed: the first ones of each wiki come together, and create its repository. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { wikiRepositories } from '../../src/areas/code/wikis/index.ts';
import { repositoryOf } from '../../src/git/index.ts';
import type { JobServices } from '../../src/services/index.ts';
import type { Client } from '../support/client.ts';
import { asked, type Memory, type Round } from './writers.ts';

const pagesTogether = 3;
/** So that many kills come between a repository and its row. */
const pagesOfWiki = 6;

/** Writes a few pages into the wikis of many groups below `attic`. */
export async function writePages(api: Client, attic: { id: number }, round: Round, { pages }: Memory): Promise<void> {
  for (let count = 0; !round.isOver; count++) {
    const name = `wiki-${round.number}-${count}`;
    const { id } = await asked(round, name, api.post('/groups', { name, path: name, parent_id: attic.id }));
    if (id === undefined) continue;
    const write = async (number: number) => {
      const [address, content] = [`/groups/${id}/wikis/page-${number}`, `${name} ${number}`];
      pages.set(address, { content, fate: 'unknown' });
      const { fate } = await asked(
        round,
        address,
        api.post(`/groups/${id}/wikis`, { title: `page ${number}`, content }),
      );
      pages.set(address, { content, fate });
    };
    for (let number = 0; number < pagesOfWiki && !round.isOver; number += pagesTogether)
      await Promise.all(Array.from({ length: pagesTogether }, (_, index) => write(number + index)));
  }
}

/** Every confirmed page is there. A wiki has its repository, and a repository without a wiki is to be deleted. */
export async function inspectPages(api: Client, services: JobServices, { pages }: Memory): Promise<void> {
  for (const [address, { content, fate }] of pages) {
    const { status, body } = await api.get(address);
    if (fate === 'done' || status === 200) assert.deepEqual([status, body.content], [200, content], address);
    else assert.equal(status, 404, address);
  }
  const { db } = services;
  const { folder } = wikiRepositories;
  for (const wiki of await db.selectFrom('wikis').select(['id', 'storage']).execute())
    assert.ok(existsSync(repositoryOf(services, { ...wiki, folder }).path), `the repository of the wiki ${wiki.id}`);
  const both = db.selectFrom('wikis').innerJoin('unused_repositories as unused', 'unused.id', 'wikis.id');
  const left = await both
    .where('kind', '=', 'wiki')
    .select(['wikis.id', 'wikis.storage as now', 'unused.storage', 'due_at'])
    .execute();
  assert.deepEqual(left, []);
}
