/** The pages of dependencies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeDependencyExport } from '../../src/areas/code/dependencies/index.ts';
import { browserOf, fillIn } from '../support/browser.ts';
import { performQueued } from '../support/jobs.ts';
import { world } from '../support/world.ts';

const bill = JSON.stringify({
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  components: [{ type: 'library', name: 'ladder', version: '1.0.0', purl: 'pkg:npm/ladder@1.0.0' }],
});

test('a bill of materials is uploaded and deleted, and what it lists is exported', async () => {
  const here = await world();
  const { as, project, people, services } = here;
  const browser = await browserOf(here, people.developer);
  const files = `/${project.full_path}/-/dependency_files`;
  const given = new FormData();
  given.set('file', new File([bill], 'shed.cdx.json'));
  const sent = await browser.sendFiles(files, 'create_document', given);
  assert.equal(sent.to, `${files}?done=create_document`);
  assert.match((await browser.get(files)).html, /shed\.cdx\.json[\s\S]*1 packages, uploaded/);
  const wrong = new FormData();
  wrong.set('file', new File(['{'], 'broken.cdx.json'));
  assert.equal((await browser.sendFiles(files, 'create_document', wrong)).status, 400);

  const address = `/${project.full_path}/-/dependencies`;
  assert.match((await browser.get(address)).html, /<strong>ladder<\/strong> 1\.0\.0/);
  assert.match((await browser.get(`/groups/${here.group.full_path}/-/dependencies`)).html, /<strong>ladder<\/strong>/);
  const asked = await fillIn(browser, address, 'export', { export_type: 'csv' });
  const [, id] = /\?export=(\d+)$/.exec(asked.to!)!;
  assert.match((await browser.get(asked.to!)).html, /being written/);
  await performQueued(services, [writeDependencyExport]);
  assert.match((await browser.get(asked.to!)).html, new RegExp(`href="${address}/exports/${id}"`));
  assert.match((await browser.get(`${address}/exports/${id}`)).html, /ladder,1\.0\.0/);
  const remove = (await browser.get(files)).html.match(/id="remove_document-\d+"/)![0].slice(4, -1);
  await fillIn(browser, files, remove, {});
  assert.deepEqual((await as('developer').get(`/projects/${project.id}/dependencies`)).body, []);
});
