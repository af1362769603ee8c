/** The TypeScript client @gitbeaker/rest: wikis of projects and groups. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { type Persona, type World, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientFor = ({ url, people }: World, persona: Persona) => new Gitlab({ host: url, token: people[persona].token });

test('pages are created, listed, read, changed and removed, and a file is attached', async () => {
  const here = await world();
  const places = [
    { id: here.project.id, wikisFor: (persona: Persona) => clientFor(here, persona).ProjectWikis },
    { id: here.group.id, wikisFor: (persona: Persona) => clientFor(here, persona).GroupWikis },
  ];
  for (const { id, wikisFor } of places) {
    const wikis = wikisFor('maintainer');
    const made = await wikis.create(id, '**Apples**', 'fruit/All apples');
    assert.deepEqual([made.slug, made.title, made.format], ['fruit/All-apples', 'All apples', 'markdown']);
    await wikis.create(id, 'Plums', 'Plums', { format: 'asciidoc' });
    const listed = await wikis.all(id, { withContent: true });
    assert.deepEqual(
      listed.map(({ slug, content }) => [slug, content]),
      [
        ['Plums', 'Plums'],
        ['fruit/All-apples', '**Apples**'],
      ],
    );
    const html = await wikis.show(id, made.slug, { renderHtml: true });
    assert.equal(html.content.trim(), '<p><strong>Apples</strong></p>');
    const renamed = await wikis.edit(id, made.slug, { title: 'Apples' });
    assert.deepEqual([renamed.slug, renamed.content], ['fruit/Apples', '**Apples**']);
    const attached = await wikis.uploadAttachment(id, { content: new Blob(['pixels']), filename: 'tree.png' });
    assert.equal(attached.link.markdown, `![tree](${attached.file_path})`);
    const refused = await refusal(wikisFor('developer').remove(id, 'Plums'));
    assert.deepEqual([refused.status, refused.text], [403, '403 Forbidden']);
    await wikis.remove(id, 'Plums');
    assert.deepEqual(
      (await wikis.all(id)).map(({ slug }) => slug),
      ['fruit/Apples'],
    );
    const missing = await refusal(wikis.show(id, 'Plums'));
    assert.deepEqual([missing.status, missing.text], [404, '404 Wiki Page Not Found']);
  }
});
