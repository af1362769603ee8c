/** The TypeScript client @gitbeaker/rest: exports of the relations of projects and groups. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Gitlab } from '@gitbeaker/rest';
import { exportLabels } from '../support/relation_exports.ts';
import { type Persona, type World, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientFor = ({ url, people }: World, persona: Persona) => new Gitlab({ host: url, token: people[persona].token });

const titleIn = async (file: Blob) => JSON.parse(gunzipSync(Buffer.from(await file.arrayBuffer())).toString()).title;

test('relations of a project and a group are exported, shown and downloaded', async () => {
  const here = await world();
  const { project, group } = here;
  await exportLabels(here);
  const { ProjectRelationsExport: ofProjects, GroupRelationExports: ofGroups } = clientFor(here, 'owner');
  assert.equal((await ofProjects.scheduleExport(project.id)).message, '202 Accepted');
  assert.equal((await ofGroups.scheduleExport(group.id)).message, '202 Accepted');
  const ofProject: unknown = await ofProjects.showExportStatus(project.id);
  const statuses = [...(ofProject as { status: number }[]), ...(await ofGroups.exportStatus(group.id))];
  assert.deepEqual(
    statuses.map(({ status }) => status),
    statuses.map(() => 1),
  );
  assert.equal(await titleIn(await ofProjects.download(project.id, 'labels')), 'ripe');
  const refused = await refusal(clientFor(here, 'developer').ProjectRelationsExport.scheduleExport(project.id));
  assert.deepEqual([refused.status, refused.text], [403, '403 Forbidden']);
});
