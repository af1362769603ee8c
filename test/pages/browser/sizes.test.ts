/** How much a browser loads that sees a page for the first time. */
import assert from 'node:assert/strict';
import type { Request } from 'playwright-core';
import { browserOf, password } from '../../support/browser.ts';
import { browserTest } from '../../support/chromium.ts';
import { addIssue } from '../../support/issues.ts';
import { fileUrl, onMain } from '../../support/repository.ts';
import { sent } from '../../support/sent.ts';
import { world } from '../../support/world.ts';

const kB = 1000;
/** Of each kind of request, compressed as it is sent; a page has one of each. */
const most: Readonly<Record<string, number>> = { document: 12 * kB, stylesheet: 9 * kB, script: 8 * kB };

browserTest('a page comes in three requests, and is small', async (invite) => {
  const here = await world();
  const { as, project, people, url } = here;
  await sent(as('maintainer').post(fileUrl(project, 'README.md'), { ...onMain, content: '# Orchard\n\nApples.\n' }));
  const { iid } = await addIssue(here, { title: 'Pick apples', description: 'With the **long** ladder.' });
  for (let count = 1; count <= 20; count++) {
    const body = `Comment ${count}: the long ladder stands behind the shed, *if* Rowan has brought it back. See #${iid}.`;
    await sent(as('developer').post(`/projects/${project.id}/issues/${iid}/notes`, { body }));
  }
  await browserOf(here, people.developer);
  const at = `/${project.full_path}`;
  for (const path of [
    '/',
    at,
    `${at}/-/issues`,
    `${at}/-/issues/${iid}`,
    `${at}/-/blob/main/README.md`,
    `${at}/-/commits`,
  ]) {
    const visitor = await invite(url);
    await visitor.signIn(people.developer.username, password);
    const requests: Request[] = [];
    visitor.page.on('requestfinished', (request) => requests.push(request));
    await visitor.open(path);
    assert.ok(await visitor.page.getByRole('heading', { level: 1 }).isVisible());
    const loaded = await Promise.all(
      requests
        .filter((request) => request.resourceType() in most)
        .map(async (request) => [request.resourceType(), (await request.sizes()).responseBodySize] as const),
    );
    assert.deepEqual(loaded.map(([kind]) => kind).sort(), Object.keys(most).sort(), path);
    for (const [kind, bytes] of loaded) assert.ok(bytes > 0 && bytes <= most[kind]!, `${path}: ${kind} of ${bytes} B`);
  }
});
