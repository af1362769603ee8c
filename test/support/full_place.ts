/** A world as `fillWorld` fills it, with what does not leave, and with a fork in a subgroup. */
import { reports, thrown } from './error_tracking.ts';
import { follow } from './full_merge_requests.ts';
import { fillWorld } from './full_project.ts';
import { addFork, addMergeRequest } from './merge_requests.ts';
import { newPublicKey } from './public_key.ts';
import { fileUrl, onMain } from './repository.ts';
import { sent } from './sent.ts';
import { fileForm, upload } from './uploads.ts';
import type { World } from './world.ts';

/** Secrets, and what people have asked for or begun. */
async function addWhatStays(here: World): Promise<void> {
  const { as, project, group, people, db } = here;
  for (const place of [`/projects/${project.id}`, `/groups/${group.id}`]) {
    await sent(as('owner').post(`${place}/hooks`, { url: 'https://hooks.example', token: 'secret' }));
    await sent(as('owner').post(`${place}/variables`, { key: 'KEY', value: 'a secret value' }));
    await sent(as('owner').post(`${place}/deploy_tokens`, { name: 'Deploy', scopes: ['read_repository'] }));
    const expires_at = new Date(Date.now() + 86_400_000 * 30).toISOString().slice(0, 10);
    const token = { name: 'Robot', scopes: ['read_api'], access_level: 20, expires_at };
    await sent(as('owner').post(`${place}/access_tokens`, token));
    await sent(as('owner').post(`${place}/invitations`, { email: 'pip@example.org', access_level: 20 }));
  }
  const asked = { user_id: people.outsider.id };
  await db
    .insertInto('access_requests')
    .values([
      { ...asked, group_id: group.id },
      { user_id: people.admin.id, project_id: project.id },
    ])
    .execute();
  await sent(as('admin').post(`/groups/${group.id}/service_accounts`, { name: 'Machine' }));
  const role = { name: 'Reader', base_access_level: 10, read_code: true };
  await sent(as('owner').post(`/groups/${group.id}/member_roles`, role));
  const url = `/projects/${project.id}`;
  await sent(as('maintainer').post(`${url}/deploy_keys`, { title: 'Robot', key: newPublicKey() }));
  await sent(as('maintainer').post(`${url}/remote_mirrors`, { url: 'https://user:secret@mirror.example/apples.git' }));
  await sent(as('reporter').post(`${url}/star`));
  await sent(as('developer').post(`${url}/merge_requests/1/draft_notes`, { note: 'Not yet' }));
  const { report } = await reports(here);
  await report(thrown('RottenError', 'The apple is rotten', { release: '1.0' }));
  const incident = await sent(as('developer').post(`${url}/issues`, { title: 'Frost', issue_type: 'incident' }));
  const pixels = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(500)]);
  const raw = fileForm('frost.png', new Uint8Array(pixels));
  await sent(as('developer').post(`${url}/issues/${incident.iid}/metric_images`, undefined, { raw }));
}

/** A subgroup with a fork of the project, from which there is a merge request. */
async function addFamily(here: World): Promise<void> {
  const { as, project, group } = here;
  const nursery = await sent(as('owner').post('/groups', { name: 'Nursery', path: 'nursery', parent_id: group.id }));
  const fork = await addFork(here, 'owner', project, { namespace_id: nursery.id, path: 'seedlings' });
  const file = { ...onMain, branch: 'graft', start_branch: 'main', content: 'grafted\n' };
  await sent(as('owner').post(fileUrl(fork, 'graft.txt'), file));
  const from = { source_branch: 'graft', target_project_id: project.id, title: 'Graft' };
  await sent(as('owner').post(`/projects/${fork.id}/merge_requests`, { ...from, target_branch: 'main' }));
  await follow(here);
  const child = await addMergeRequest(here, { title: 'Within', source_branch: 'topic', target_branch: 'merged' });
  await sent(
    as('owner').post(`/projects/${project.id}/issues/1/notes`, { body: `As in nursery/seedlings!${child.iid}` }),
  );
}

/** Fills a world with everything that projects and groups list. */
export async function fillPlace(here: World): Promise<void> {
  const { as, project, group } = here;
  await fillWorld(here);
  for (const place of [`/projects/${project.id}`, `/groups/${group.id}`]) {
    await sent(upload(here, 'owner', place, 'notes.txt'));
    for (const title of ['home', 'trees/apple'])
      await sent(as('owner').post(`${place}/wikis`, { title, content: `# ${title}\n` }));
  }
  const ofGroup = {
    default_branch: 'trunk',
    default_branch_protection_defaults: { allowed_to_merge: [{ access_level: 30 }] },
    description: 'All *trees*',
  };
  await sent(as('owner').put(`/groups/${group.id}`, ofGroup));
  const member = { user_id: here.people.outsider.id, access_level: 20, expires_at: '2040-01-01' };
  await sent(as('owner').post(`/projects/${project.id}/members`, member));
  await sent(as('owner').put(`/projects/${project.id}`, { topics: ['fruit'], squash_option: 'always' }));
  await addFamily(here);
  await addWhatStays(here);
}
