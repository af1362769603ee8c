import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bridged } from '../../../../test/support/bridges.ts';
import { browserOf, fieldsIn, fillIn } from '../../../../test/support/browser.ts';

test('the pages of pipelines lead to those that they have started, and back', async () => {
  const here = await bridged(
    'unit: {trigger: {include: child.yml, strategy: depend}}\nlater: {trigger: {include: child.yml}, when: manual}',
    { 'child.yml': 'unit: {script: make}' },
  );
  const { project, people, start, bridgesOf, work } = here;
  const id = await start();
  const { unit, later } = await bridgesOf(id);
  const browser = await browserOf(here, people.maintainer);
  const page = (pipeline_id: number) => `/${project.full_path}/-/pipelines/${pipeline_id}`;
  const below = unit!.downstream_pipeline!.id;
  const shown = (await browser.get(page(id))).html;
  assert.match(shown, new RegExp(`unit</span> started [\\s\\S]*href="[^"]*${page(below)}"`));
  assert.match((await browser.get(page(below))).html, new RegExp(`href="[^"]*${page(id)}"`));
  assert.deepEqual(fieldsIn(shown, `play_bridge-${later!.id}`).job_id, [String(later!.id)]);
  await fillIn(browser, page(id), `play_bridge-${later!.id}`, {});
  await work();
  const started = (await bridgesOf(id)).later!;
  assert.equal(started.status, 'success');
  assert.match((await browser.get(page(id))).html, new RegExp(page(started.downstream_pipeline!.id)));
});

test('a pipeline that a person starts on the page knows that', async () => {
  const here = await bridged('build: {script: make, rules: [{if: $CI_PIPELINE_SOURCE == "web"}]}');
  const { as, at, project, people } = here;
  const browser = await browserOf(here, people.maintainer);
  const page = `/${project.full_path}/-/pipelines/new`;
  const [form] = /<form[^>]*\sid="([^"]*pipeline[^"]*)"/.exec((await browser.get(page)).html)!.slice(1);
  await fillIn(browser, page, form!, { ref: 'main' });
  const [started] = (await as('maintainer').get(`${at}/pipelines`)).body;
  assert.deepEqual([started.source, started.ref], ['web', 'main']);
});
