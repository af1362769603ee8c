/** The TypeScript client @gitbeaker/rest: audit events. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { type Persona, type World, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientFor = ({ url, people }: World, persona: Persona) => new Gitlab({ host: url, token: people[persona].token });

test('audit events of a project, a group and the server are listed over pages and shown', async () => {
  const here = await world();
  const { project, group } = here;
  const { AuditEvents, ProtectedBranches } = clientFor(here, 'maintainer');
  for (const name of ['one', 'two', 'three']) await ProtectedBranches.protect(project.id, name);
  const listed = await AuditEvents.all({
    projectId: project.id,
    perPage: 1,
    eventName: 'protected_branch_created',
  } as object);
  assert.deepEqual(
    listed.map(({ details }) => details.target_details),
    ['three', 'two', 'one'],
  );
  const shown = await AuditEvents.show(listed[0]!.id, { projectId: project.id });
  assert.deepEqual(shown, listed[0]);

  const admin = clientFor(here, 'admin').AuditEvents;
  const walked = await admin.all({ entityType: 'Project', entityId: project.id, pagination: 'keyset', perPage: 2 });
  assert.ok(walked.some(({ id }) => id === shown.id));
  const ofGroup = await clientFor(here, 'owner').AuditEvents.all({ groupId: group.id });
  assert.ok(ofGroup.every(({ entity_type }) => entity_type === 'Group'));
  assert.equal((await refusal(AuditEvents.all())).status, 403);
});
