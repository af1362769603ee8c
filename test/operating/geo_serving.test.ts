/** Two sites: the secondary copies what the primary has, serves beside it, and takes its place. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addNode, eventually, isReady, startPrimary, startSecondary } from '../support/two_sites.ts';
import { copying } from './geo/copying.ts';
import { promotion } from './geo/promotion.ts';
import { selection } from './geo/selection.ts';
import { serving } from './geo/serving.ts';

test('a secondary copies what its primary has, serves beside it, and takes its place', async (t) => {
  const primary = await startPrimary();
  const secondary = await startSecondary(primary);
  const sites = { primary, secondary, node: await addNode(primary, secondary) };
  await eventually('the first copy', () => isReady(secondary));
  const { status, body: project } = await secondary.server.root.post('/projects', {
    name: 'Orchard',
    initialize_with_readme: true,
  });
  assert.equal(status, 201, JSON.stringify(project));
  await t.test('it serves reads, and passes writes on', (step) => serving(step, sites, project));
  await t.test('it copies repositories and files', (step) => copying(step, sites));
  await t.test('it copies what is chosen', (step) => selection(step, sites, project));
  await t.test('it takes the place of a primary that is lost', (step) => promotion(step, sites, project));
});
