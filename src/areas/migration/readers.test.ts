/** What the user of an export does not get to see. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addEpic } from '../../../test/support/epics.ts';
import { fullWorld } from '../../../test/support/full_project.ts';
import { addIssue } from '../../../test/support/issues.ts';
import { contentOf, download, exported, filesIn } from '../../../test/support/relation_exports.ts';
import { recordsOf } from '../../../test/support/relations.ts';
import { sent } from '../../../test/support/sent.ts';
import { upload } from '../../../test/support/uploads.ts';
import type { Persona, World } from '../../../test/support/world.ts';
import type { RelationOwner } from '../../relations/index.ts';
import { groupTrees, projectTrees } from './relations.ts';

/** All records of a project or group by relation, as text. */
async function textsOf(here: World, kind: RelationOwner['kind'], reader: { id: number }): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const relation of kind === 'project' ? projectTrees : groupTrees)
    texts.set(relation.name, JSON.stringify(await recordsOf(here, relation, { kind, id: here[kind].id }, reader)));
  return texts;
}

const containing = (texts: ReadonlyMap<string, string>, word: string): string[] =>
  [...texts].flatMap(([name, text]) => (text.includes(word) ? name : []));

/** A member of the group of the world, who has named a private group of theirs in it wherever one can be named. */
async function withHiddenPlaces(here: World) {
  const { as, project, group, db } = here;
  const { client, id } = await here.person();
  const guest = { id, name: `hidden-${id}` };
  await sent(as('owner').post(`/groups/${group.id}/members`, { user_id: id, access_level: 40 }));
  const hidden = await sent(client.post('/groups', { name: guest.name, path: guest.name, visibility: 'private' }));
  const place = await sent(client.post('/projects', { name: 'p', path: 'p', namespace_id: hidden.id }));
  const theirs = await sent(
    client.post(`/projects/${place.id}/issues`, { title: guest.name, description: `See ${project.full_path}#1` }),
  );
  const epic = await sent(
    client.post(`/groups/${hidden.id}/epics`, { title: guest.name, description: `See ${group.full_path}&1` }),
  );
  await sent(
    client.post(`/projects/${project.id}/issues/1/links`, {
      target_project_id: place.id,
      target_issue_iid: theirs.iid,
    }),
  );
  const moved = await addIssue(here, { title: 'To be moved' });
  await sent(client.post(`/projects/${project.id}/issues/${moved.iid}/move`, { to_project_id: place.id }));
  await sent(
    client.post(`/groups/${group.id}/epics/1/related_epics`, { target_group_id: hidden.id, target_epic_iid: epic.iid }),
  );
  // Left from a time when the places were others.
  const child = await addEpic(here, { title: 'Of another parent' });
  await db.updateTable('epics').set({ parent_id: epic.id }).where('id', '=', child.id).execute();
  const ours = await addIssue(here, { title: 'Of another epic' });
  await db.insertInto('epic_issues').values({ epic_id: epic.id, issue_id: ours.id, relative_position: 0 }).execute();
  await db
    .insertInto('group_links')
    .values({ group_id: group.id, invited_group_id: hidden.id, access_level: 10 })
    .execute();
  return guest;
}

test('references to a project or group are exported only for callers who may see it', async () => {
  const here = await fullWorld();
  const { people } = here;
  const guest = await withHiddenPlaces(here);
  const named = async (kind: RelationOwner['kind'], reader: { id: number }) =>
    containing(await textsOf(here, kind, reader), guest.name);
  assert.deepEqual(await named('project', people.maintainer), []);
  assert.deepEqual(await named('group', people.owner), []);
  assert.deepEqual(await named('project', guest), ['issues', 'issue_links']);
  assert.deepEqual(await named('group', guest), ['epics', 'group_links', 'epic_links']);
});

test('disabled features are not exported, nor are references to their records', async () => {
  const here = await fullWorld();
  const { as, people, project } = here;
  const empty = async () =>
    [...(await textsOf(here, 'project', people.maintainer))].flatMap(([name, text]) => (text === '[]' ? name : []));
  // The group that it is shared with is its owner's alone.
  assert.deepEqual(await empty(), ['group_links']);
  const setLevels = (levels: Record<string, string>) => sent(as('maintainer').put(`/projects/${project.id}`, levels));
  const level = (name: string, value: string) => ({ [`${name}_access_level`]: value });
  await setLevels(level('issues', 'disabled'));
  assert.deepEqual(await empty(), ['issues', 'boards', 'group_links', 'issue_links']);
  await setLevels({ ...level('merge_requests', 'disabled'), ...level('snippets', 'disabled') });
  assert.deepEqual(await empty(), [
    'issues',
    'merge_requests',
    'snippets',
    'boards',
    'group_links',
    'issue_links',
    'merge_request_blocks',
  ]);
  await setLevels({
    ...level('issues', 'enabled'),
    ...level('snippets', 'enabled'),
    ...level('repository', 'disabled'),
  });
  assert.deepEqual(await empty(), [
    'merge_requests',
    'commit_notes',
    'ci_pipelines',
    'group_links',
    'environments',
    'deployments',
    'merge_request_blocks',
  ]);
});

/** Adds secrets of every kind. @returns them */
async function plantSecrets({ as, project, group, people, services }: World): Promise<string[]> {
  const word = (name: string) => `planted-${name}-0123456789`;
  const secrets: string[] = [];
  for (const [place, persona] of [
    [`/projects/${project.id}`, 'maintainer'],
    [`/groups/${group.id}`, 'owner'],
  ] as const) {
    const kind = place.slice(1, 6);
    await sent(
      as('owner').post(`${place}/hooks`, { url: `https://${word(kind)}.example`, token: word(`${kind}-hook`) }),
    );
    await sent(as(persona).post(`${place}/variables`, { key: 'KEY', value: word(`${kind}-variable`) }));
    const scopes = { scopes: ['read_repository'], expires_at: '2030-01-01' };
    const deploy = await sent(as('owner').post(`${place}/deploy_tokens`, { name: word(`${kind}-deploy`), ...scopes }));
    const expires_at = new Date(Date.now() + 86_400_000 * 30).toISOString().slice(0, 10);
    const access = { name: word(`${kind}-access`), scopes: ['read_api'], access_level: 20, expires_at };
    const { token } = await sent(as('owner').post(`${place}/access_tokens`, access));
    secrets.push(word(kind), word(`${kind}-hook`), word(`${kind}-variable`), deploy.token, deploy.name, token);
  }
  await sent(
    as('admin').post(`/users/${people.developer.id}/emails`, {
      email: 'planted-address@example.com',
      skip_confirmation: true,
    }),
  );
  const { public_key } = await sent(as('maintainer').post(`/projects/${project.id}/error_tracking/client_keys`, {}));
  const draft = { note: word('draft') };
  await sent(as('developer').post(`/projects/${project.id}/merge_requests/1/draft_notes`, draft));
  // Those who have written commits show their address in them.
  const readers = (['guest', 'planner', 'outsider', 'admin'] as const).map((persona) => people[persona]);
  secrets.push(
    'planted-address@example.com',
    public_key,
    draft.note,
    ...readers.map(({ username }) => `${username}@example.com`),
  );
  return [...secrets, ...Object.values(people).map(({ token }) => token), services.storages.default!, '127.0.0.1'];
}

/** Every file of an export, by what it was asked for; archives as their files. */
async function filesOfExport(
  here: World,
  persona: Persona,
  place: string,
  batched: boolean,
): Promise<Map<string, string>> {
  await exported(here, persona, place, { batched });
  const files = new Map<string, string>();
  for (const { relation, status, batches } of await sent(here.as(persona).get(`${place}/export_relations/status`))) {
    assert.equal(status, 1, relation);
    const queries = batches
      ? batches.map(({ batch_number }: { batch_number: number }) => ({
          relation,
          batched: 'true',
          batch_number: `${batch_number}`,
        }))
      : [{ relation }];
    for (const query of queries) {
      const answer = await download(here, persona, place, query);
      const name = Object.values(query).join(' ');
      if (['uploads', 'lfs_objects', 'repository'].includes(relation))
        for (const [file, bytes] of await filesIn(answer)) files.set(`${name} ${file}`, bytes.toString('latin1'));
      else files.set(name, (await contentOf(answer)).toString());
    }
  }
  return files;
}

test('no file of an export holds a secret', async () => {
  const here = await fullWorld({});
  const secrets = await plantSecrets(here);
  for (const [place, persona] of [
    [`/projects/${here.project.id}`, 'maintainer'],
    [`/groups/${here.group.id}`, 'owner'],
  ] as const) {
    await upload(here, persona, place, 'note.txt', 'An upload');
    for (const batched of [false, true]) {
      const files = await filesOfExport(here, persona, place, batched);
      assert.ok(files.size >= 10, [...files.keys()].join(', '));
      for (const secret of secrets) assert.deepEqual(containing(files, secret), [], secret);
    }
  }
});
