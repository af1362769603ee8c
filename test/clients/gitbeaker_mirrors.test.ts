/** The TypeScript client @gitbeaker/rest: push mirrors, and what a project is pulled from. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { filledWorld } from '../support/repository.ts';
import { refusal } from './gitbeaker_refusal.ts';

test('push mirrors are added, listed, shown, run and removed, and a pull mirror is shown', async () => {
  const { url, people, project } = await filledWorld();
  const { id } = project;
  const { ProjectRemoteMirrors, Projects } = new Gitlab({ host: url, token: people.maintainer.token });
  const refused = await refusal(ProjectRemoteMirrors.createPushMirror(id, 'ftp://host.example/a.git'));
  assert.equal(refused.status, 400);
  const made = await ProjectRemoteMirrors.createPushMirror(id, 'https://ada:secret@host.example/a.git', {
    enabled: true,
    keepDivergentRefs: true,
  });
  assert.deepEqual(
    [made.url, made.enabled, made.keep_divergent_refs],
    ['https://*****:*****@host.example/a.git', true, true],
  );
  assert.deepEqual(
    (await ProjectRemoteMirrors.all(id)).map((mirror) => mirror.id),
    [made.id],
  );
  assert.equal((await ProjectRemoteMirrors.show(id, made.id)).update_status, 'scheduled');
  await ProjectRemoteMirrors.sync(id, made.id);
  await ProjectRemoteMirrors.remove(id, made.id);
  assert.equal((await refusal(ProjectRemoteMirrors.show(id, made.id))).status, 404);
  assert.equal((await refusal(Projects.showPullMirror(id))).status, 400);
  await Projects.edit(id, { importUrl: 'https://host.example/b.git', mirror: true });
  assert.equal((await Projects.showPullMirror(id)).url, 'https://host.example/b.git');
});
