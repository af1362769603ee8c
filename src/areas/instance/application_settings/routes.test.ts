import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { type World, type WorldOptions, world } from '../../../../test/support/world.ts';
import { daysFromNow } from '../../../cron/index.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'coppice-settings-'));
after(() => rm(folder, { recursive: true, force: true }));
const storages: WorldOptions = { environment: { COPPICE_STORAGES: `default=${folder}/one,second=${folder}/two` } };

/** A world that restores the settings when the test ends, because all worlds of a file share them. */
async function changeableWorld(t: { after(end: () => Promise<unknown>): void }): Promise<World> {
  const here = await world(storages);
  t.after(async () => {
    await here.db.deleteFrom('application_settings').execute();
    await here.db.insertInto('application_settings').defaultValues().execute();
    await here.db.deleteFrom('request_counts').execute();
  });
  return here;
}

async function set({ as }: World, settings: object) {
  const answer = await as('admin').put('/application/settings', { ...settings });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
}

test('only administrators can read and change the settings', async (t) => {
  const here = await changeableWorld(t);
  const { as } = here;
  const shown = await as('admin').get('/application/settings');
  assert.equal(shown.status, 200);
  assert.deepEqual(shown.body.repository_storages_weighted, { default: 100 });
  assert.deepEqual(shown.body.repository_storages, ['default']);
  assert.equal(shown.body.personal_access_token_prefix, 'glpat-');
  assert.equal(shown.body.projects_api_limit, 0);
  assert.equal('counts_requests' in shown.body, false);

  const changed = await set(here, { default_branch_name: 'trunk', restricted_visibility_levels: 'public,internal' });
  assert.equal(changed.default_branch_name, 'trunk');
  assert.deepEqual(changed.restricted_visibility_levels, ['public', 'internal']);
  assert.equal((await set(here, { default_branch_name: null })).default_branch_name, null);

  for (const persona of ['owner', 'anonymous'] as const) {
    const status = persona === 'anonymous' ? 401 : 403;
    assert.equal((await as(persona).get('/application/settings')).status, status);
    assert.equal((await as(persona).put('/application/settings', { can_create_group: false })).status, status);
  }
  assert.equal((await as('admin').get('/application/settings')).body.can_create_group, true);
});

test('an invalid setting is refused, and nothing changes', async (t) => {
  const here = await changeableWorld(t);
  const { as } = here;
  const before = (await as('admin').get('/application/settings')).body;
  const refusals: [object, unknown][] = [
    [{ default_branch_protection: 9 }, 'default_branch_protection does not have a valid value'],
    [{ default_projects_limit: 'many' }, 'default_projects_limit is invalid'],
    [{ deletion_adjourned_period: 0 }, 'deletion_adjourned_period does not have a valid value'],
    [{ wiki_page_max_content_bytes: 1023 }, 'wiki_page_max_content_bytes does not have a valid value'],
    [{ bulk_import_enabled: 'perhaps' }, 'bulk_import_enabled is invalid'],
    [{ bulk_import_max_download_file_size: -1 }, 'bulk_import_max_download_file_size does not have a valid value'],
    [{ max_decompressed_archive_size: -1 }, 'max_decompressed_archive_size does not have a valid value'],
    [
      { bulk_import_concurrent_pipeline_batch_limit: 0 },
      'bulk_import_concurrent_pipeline_batch_limit does not have a valid value',
    ],
    [{ relation_export_batch_size: 10_001 }, 'relation_export_batch_size does not have a valid value'],
    [{ concurrent_relation_export_limit: 0 }, 'concurrent_relation_export_limit does not have a valid value'],
    [{ relation_export_requests_limit: -1 }, 'relation_export_requests_limit does not have a valid value'],
    [{ email_confirmation_setting: 'maybe' }, 'email_confirmation_setting does not have a valid value'],
    [
      { repository_storages_weighted: { default: 101 } },
      'repository_storages_weighted[default] does not have a valid value',
    ],
    [{ repository_storages_weighted: { moon: 1 } }, { repository_storages_weighted: ["can't include: moon"] }],
    [{ repository_storages: ['moon'] }, { repository_storages: ["can't include: moon"] }],
    [{ default_branch_name: 'a..b' }, { default_branch_name: ['is invalid'] }],
    [
      { personal_access_token_prefix: 'x'.repeat(21) },
      { personal_access_token_prefix: ['is too long (maximum is 20 characters)'] },
    ],
  ];
  for (const [settings, message] of refusals) {
    const answer = await as('admin').put('/application/settings', { ...settings });
    assert.equal(answer.status, 400);
    assert.deepEqual(answer.body.message, message);
  }
  assert.match(
    (await as('admin').put('/application/settings', { unknown: 1 })).body.message,
    /at least one parameter must be provided$/,
  );
  assert.deepEqual((await as('admin').get('/application/settings')).body, before);
});

test('new projects get the defaults from the settings', async (t) => {
  const here = await changeableWorld(t);
  const { as, group } = here;
  await set(here, {
    default_branch_name: 'trunk',
    default_project_visibility: 'internal',
    'repository_storages_weighted[second]': 0,
  });
  await as('admin').put('/application/settings?repository_storages_weighted[second]=10');
  const own = await as('outsider').post('/projects', { name: 'own' });
  assert.equal(own.body.visibility, 'internal');
  assert.equal(own.body.default_branch, 'trunk');
  assert.equal((await as('admin').get(`/projects/${own.body.id}/storage`)).body.repository_storage, 'second');
  // Nothing in a group is more visible than the group.
  const inside = await as('owner').post('/projects', { name: 'inside', namespace_id: group.id });
  assert.equal(inside.body.visibility, 'private');
});

test('a restricted visibility is for administrators only', async (t) => {
  const here = await changeableWorld(t);
  const { as, people } = here;
  await set(here, {
    restricted_visibility_levels: ['public'],
    default_project_visibility: 'public',
    default_group_visibility: 'public',
  });
  const message = { visibility_level: ['public has been restricted by your administrator'] };
  const refused = await as('outsider').post('/projects', { name: 'seen', visibility: 'public' });
  assert.equal(refused.status, 400);
  assert.deepEqual(refused.body, { message });
  const made = await as('outsider').post('/projects', { name: 'seen' });
  assert.equal(made.body.visibility, 'internal');
  const changed = await as('outsider').put(`/projects/${made.body.id}`, { visibility: 'public' });
  assert.deepEqual(changed.body, { message });
  assert.equal((await as('admin').put(`/projects/${made.body.id}`, { visibility: 'public' })).status, 200);
  // It may keep the visibility it has.
  assert.equal((await as('outsider').put(`/projects/${made.body.id}`, { visibility: 'public' })).status, 200);

  const name = `seen-${process.pid}`;
  const group = await as('outsider').post('/groups', { name, path: name, visibility: 'public' });
  assert.deepEqual(group.body, {
    message: 'Failed to save group {:visibility_level=>["public has been restricted by your administrator"]}',
  });
  assert.equal((await as('outsider').post('/groups', { name, path: name })).body.visibility, 'internal');
  // If public visibility is restricted, users are not public either.
  assert.equal((await as('anonymous').get('/users', { username: people.guest.username })).status, 403);
});

test('new groups and users get the defaults from the settings', async (t) => {
  const here = await changeableWorld(t);
  const { as } = here;
  await set(here, {
    default_project_creation: 1,
    default_branch_protection: 3,
    default_projects_limit: 7,
    can_create_group: false,
    user_default_external: true,
    user_defaults_to_private_profile: true,
  });
  const name = `usual-${process.pid}`;
  const group = await as('outsider').post('/groups', { name, path: name });
  assert.equal(group.body.project_creation_level, 'maintainer');
  assert.equal(group.body.default_branch_protection, 3);
  const user = { username: `${name}-usual`, name: 'x', email: `${name}@example.com`, force_random_password: true };
  const added = (await as('admin').post('/users', user)).body;
  assert.deepEqual(
    [added.projects_limit, added.can_create_group, added.external, added.private_profile],
    [7, false, true, true],
  );
  const chosen = {
    username: `${name}-chosen`,
    email: `${name}-chosen@example.com`,
    projects_limit: 3,
    external: false,
  };
  const other = (await as('admin').post('/users', { ...user, ...chosen })).body;
  assert.deepEqual([other.projects_limit, other.external], [3, false]);
});

test('the settings decide the prefix and the maximum lifetime of tokens', async (t) => {
  const here = await changeableWorld(t);
  const { as, people } = here;
  const url = `/users/${people.guest.id}/personal_access_tokens`;
  await set(here, { personal_access_token_prefix: 'ours-', max_personal_access_token_lifetime: 10 });
  const short = await as('admin').post(url, { name: 'short', scopes: ['api'] });
  assert.match(short.body.token, /^ours-/);
  assert.equal(short.body.expires_at, daysFromNow(10));
  const far = daysFromNow(11);
  assert.equal((await as('admin').post(url, { name: 'long', scopes: ['api'], expires_at: far })).status, 422);

  await set(here, { max_personal_access_token_lifetime: null, require_personal_access_token_expiry: false });
  assert.equal((await as('admin').post(url, { name: 'for ever', scopes: ['api'] })).body.expires_at, null);
  assert.equal(
    (await as('admin').post(url, { name: 'long', scopes: ['api'], expires_at: '2999-01-01' })).body.expires_at,
    '2999-01-01',
  );
});

test('a user with an unconfirmed address is refused if the settings require confirmation', async (t) => {
  const here = await changeableWorld(t);
  const { id, client } = await here.person();
  await here.db.updateTable('users').set({ confirmed_at: null }).where('id', '=', id).execute();
  assert.equal((await client.get('/user')).status, 200);
  await set(here, { email_confirmation_setting: 'soft' });
  assert.equal((await client.get('/user')).status, 200);
  await here.db
    .updateTable('users')
    .set({ created_at: new Date('2020-01-01') })
    .where('id', '=', id)
    .execute();
  const refused = await client.get('/user');
  assert.equal(refused.status, 403);
  assert.match(
    refused.body.message,
    /^403 Forbidden - Your primary email address is not confirmed\. Please check your inbox for the confirmation instructions\./,
  );
  await set(here, { email_confirmation_setting: 'hard' });
  assert.equal((await client.get('/user')).status, 403);
  assert.equal((await here.as('guest').get('/user')).status, 200);
});
