/** What every representation has: the fields that clients expect, compared with real replies. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { Answer } from '../support/client.ts';
import { addEpic } from '../support/epics.ts';
import { gitClient, remoteOf } from '../support/git.ts';
import { addIssue } from '../support/issues.ts';
import { upload } from '../support/lfs.ts';
import { licenseText } from '../support/licenses.ts';
import { addRole } from '../support/member_roles.ts';
import { type Persona, type World, world } from '../support/world.ts';

const fields = (text: string) => text.split(/\s+/);

const basicUser = fields('id username name state locked avatar_url web_url public_email');
const profile = [
  ...basicUser,
  ...fields('created_at bio location linkedin twitter discord github website_url organization job_title pronouns bot'),
  ...fields('work_information followers following is_followed local_time'),
];
const ownUser = [
  ...profile,
  ...fields(
    'last_sign_in_at confirmed_at theme_id last_activity_on color_scheme_id projects_limit current_sign_in_at email',
  ),
  ...fields('identities can_create_group can_create_project two_factor_enabled external private_profile commit_email'),
  ...fields('preferred_language shared_runners_minutes_limit extra_shared_runners_minutes_limit'),
];
const userForAdmin = [
  ...ownUser,
  ...fields(
    'is_admin note namespace_id created_by email_reset_offered_at current_sign_in_ip last_sign_in_ip using_license_seat',
  ),
  ...fields('is_auditor provisioned_by_group_id enterprise_group_id enterprise_group_associated_at scim_identities'),
];
const namespace = fields('id name path kind full_path parent_id avatar_url web_url');
const basicProject = [
  ...fields(
    'id description name name_with_namespace path path_with_namespace created_at default_branch tag_list topics',
  ),
  ...fields(
    'ssh_url_to_repo http_url_to_repo web_url readme_url forks_count avatar_url star_count last_activity_at visibility',
  ),
  'namespace',
];
const project = [
  ...basicProject,
  ...fields(
    '_links empty_repo archived repository_object_format issues_enabled merge_requests_enabled snippets_enabled',
  ),
  ...fields('can_create_merge_request_in issues_access_level repository_access_level merge_requests_access_level'),
  ...fields(
    'forking_access_level snippets_access_level environments_access_level emails_disabled emails_enabled lfs_enabled',
  ),
  ...fields(
    'enforce_auth_checks_on_uploads creator_id import_status import_error open_issues_count description_html updated_at shared_with_groups',
  ),
  ...fields('request_access_enabled marked_for_deletion_on marked_for_deletion_at'),
  ...fields(
    'wiki_enabled jobs_enabled packages_enabled container_registry_enabled service_desk_enabled shared_runners_enabled',
  ),
  ...fields(
    'public_jobs ci_config_path wiki_access_level builds_access_level package_registry_access_level pages_access_level',
  ),
  ...fields(
    'container_registry_access_level releases_access_level feature_flags_access_level infrastructure_access_level',
  ),
  ...fields(
    'monitor_access_level analytics_access_level security_and_compliance_access_level model_experiments_access_level',
  ),
  ...fields(
    'model_registry_access_level mirror requirements_enabled requirements_access_level security_and_compliance_enabled',
  ),
  ...fields('compliance_frameworks external_authorization_classification_label'),
];
const group = [
  ...fields(
    'id web_url name path description visibility share_with_group_lock project_creation_level subgroup_creation_level',
  ),
  ...fields(
    'emails_disabled emails_enabled lfs_enabled archived default_branch avatar_url request_access_enabled full_name',
  ),
  ...fields('full_path created_at parent_id marked_for_deletion_on mentions_disabled default_branch_protection'),
  ...fields(
    'default_branch_protection_defaults require_two_factor_authentication two_factor_grace_period auto_devops_enabled',
  ),
  ...fields(
    'show_diff_preview_in_email math_rendering_limits_enabled lock_math_rendering_limits_enabled organization_id',
  ),
  ...fields('shared_runners_setting max_artifacts_size ldap_cn ldap_access wiki_access_level'),
  ...fields('duo_features_enabled lock_duo_features_enabled'),
];
const groupDetail = [
  ...group,
  ...fields('shared_with_groups projects shared_projects prevent_sharing_groups_outside_hierarchy membership_lock'),
  ...fields(
    'shared_runners_minutes_limit extra_shared_runners_minutes_limit prevent_forking_outside_group ip_restriction_ranges',
  ),
  ...fields('enabled_git_access_protocol service_access_tokens_expiration_enforced'),
];
const groupStatistics = fields(
  'storage_size repository_size wiki_size lfs_objects_size job_artifacts_size pipeline_artifacts_size packages_size ' +
    'snippets_size uploads_size',
);
const statistics = [...groupStatistics, ...fields('commit_count container_registry_size')];
const license = fields(
  'id plan created_at starts_at expires_at historical_max maximum_user_count licensee add_ons expired overage user_limit',
);
const label = fields('id name description description_html text_color color archived subscribed');
const milestone = fields('id iid title description state created_at updated_at due_date start_date expired web_url');
const note = fields(
  'id type body attachment author created_at updated_at system noteable_id noteable_type project_id noteable_iid resolvable ' +
    'confidential internal imported imported_from commands_changes',
);
const toDoItem = fields('id author action_name target_type target target_url body state created_at updated_at');
const award = fields('id name user created_at updated_at awardable_id awardable_type url');
const resourceEvent = fields('id user created_at resource_type resource_id');
const level = fields('id access_level access_level_description user_id group_id deploy_key_id');
const branch = fields('name commit merged protected developers_can_push developers_can_merge can_push default web_url');
const variable = fields('variable_type key value protected masked raw description');
const status = fields(
  'id sha ref status name target_url description created_at started_at finished_at allow_failure coverage pipeline_id author',
);
const cluster = fields(
  'id name created_at domain enabled managed provider_type platform_type environment_scope cluster_type ' +
    'namespace_per_environment user platform_kubernetes provider_gcp management_project',
);
const member = [...basicUser, ...fields('created_at created_by expires_at access_level membership_state member_role')];
const token = fields('id name revoked created_at description scopes user_id last_used_at active expires_at');
const commit = [
  ...fields('id short_id created_at parent_ids title message author_name author_email authored_date committer_name'),
  ...fields('committer_email committed_date trailers extended_trailers web_url'),
];
const issue = [
  ...fields(
    'id iid project_id title description state created_at updated_at closed_at closed_by author assignees assignee',
  ),
  ...fields(
    'milestone type issue_type moved_to_id labels upvotes downvotes merge_requests_count user_notes_count due_date imported',
  ),
  ...fields('imported_from web_url references time_stats has_tasks task_status task_completion_status confidential'),
  ...fields('discussion_locked severity _links weight epic epic_iid iteration health_status'),
];
const epic = [
  ...fields(
    'id work_item_id iid color text_color group_id parent_id parent_iid imported imported_from title description',
  ),
  ...fields(
    'confidential author start_date start_date_is_fixed start_date_fixed due_date due_date_is_fixed due_date_fixed state',
  ),
  ...fields(
    'start_date_from_inherited_source start_date_from_milestones end_date due_date_from_inherited_source web_edit_url',
  ),
  'due_date_from_milestones',
  ...fields('web_url references created_at updated_at closed_at labels upvotes downvotes _links'),
];
const invitation = fields('id invite_email created_at access_level expires_at user_name created_by_name');

/** Replies by what they show, with the fields that each has; of a list its first element. */
async function replies(here: World): Promise<[name: string, expected: readonly string[], answer: Answer][]> {
  const { as, people } = here;
  const [owner, admin] = [as('owner'), as('admin')];
  const [ofProject, ofGroup] = [`/projects/${here.project.id}`, `/groups/${here.group.id}`];
  const guest = `/users/${people.guest.id}`;
  const expires_at = new Date(Date.now() + 864e5 * 30).toISOString().slice(0, 10);
  const { iid, id } = await addIssue(here, { labels: 'ripe', description: '- [ ] one' });
  await addEpic(here);
  const mine = (await owner.post('/projects', { name: `own-${here.group.id}`, description: '**bold**' })).body;
  const change = { branch: 'main', content: 'a', commit_message: 'Add a' };
  assert.equal((await owner.post(`${ofProject}/repository/files/a`, change)).status, 201);
  await owner.post(`${ofGroup}/invitations`, { email: 'list@example.org', access_level: 20 });
  await owner.post(`${ofGroup}/milestones`, { title: 'Spring' });
  await owner.post(`${ofProject}/repository/tags`, { tag_name: 'v1', ref: 'main' });
  const newMember = (await here.person()).id;
  const role = await addRole(here, ['read_code'], { base_access_level: 20 });
  const ofIssue = `${ofProject}/issues/${iid}`;
  await owner.put(ofIssue, { weight: 3, state_event: 'close' });
  await owner.post(`${ofIssue}/notes`, { body: 'a' });
  await owner.post(`${ofIssue}/award_emoji`, { name: 'rocket' });
  const { id: milestone_id } = (await owner.post(`${ofProject}/milestones`, { title: 'Winter' })).body;
  await owner.put(ofIssue, { milestone_id });
  await owner.post(`${ofProject}/variables`, { key: 'A', value: 'a' });
  await owner.post(`${ofProject}/protected_tags`, { name: 'v*' });
  const sha = (await owner.get(`${ofProject}/repository/commits`)).body[0].id;
  const ofCommit = `${ofProject}/repository/commits/${sha}`;
  const key = `ssh-ed25519 ${Buffer.concat([Buffer.from('0000000b7373682d6564323535313900000020', 'hex'), randomBytes(32)]).toString('base64')}`;
  const platform_kubernetes_attributes = { api_url: 'https://cluster.example.com', token: 'a' };
  const inside = async (answer: Promise<Answer>, member: string) => {
    const { status, body } = await answer;
    return { status, body: (Array.isArray(body) ? body[0] : body)[member] } as Answer;
  };
  return [
    ['GET /user', ownUser, await as('guest').get('/user')],
    ['GET /user by an administrator', userForAdmin, await admin.get('/user')],
    ['GET /users', basicUser, await owner.get('/users')],
    ['GET /users by an administrator', userForAdmin, await admin.get('/users')],
    ['GET /users/:id', profile, await owner.get(guest)],
    [
      'GET /users/:id by an administrator',
      [...userForAdmin, ...fields('plan trial sign_in_count highest_role')],
      await admin.get(guest),
    ],
    ['PUT /users/:id', userForAdmin, await admin.put(guest, { bio: 'a' })],
    ['GET /projects/:id', [...project, 'permissions'], await owner.get(ofProject)],
    ['GET /projects', [...project, 'permissions'], await owner.get('/projects')],
    [
      'GET /projects of their own',
      [...project, 'permissions', 'owner'],
      await owner.get('/projects', { owned: true, search: mine.name }),
    ],
    ['GET /projects, simple', basicProject, await owner.get('/projects', { simple: true })],
    ['GET /groups', group, await owner.get('/groups')],
    ['GET /groups/:id', groupDetail, await owner.get(ofGroup)],
    [
      'GET /namespaces',
      [...namespace, ...fields('projects_count root_repository_size plan trial trial_ends_on end_date')],
      await owner.get('/namespaces', { owned_only: true }),
    ],
    [
      'GET /namespaces/:id',
      [
        ...namespace,
        ...fields(
          'members_count_with_descendants projects_count root_repository_size billable_members_count seats_in_use',
        ),
        ...fields('max_seats_used plan trial trial_ends_on end_date'),
      ],
      await owner.get(`/namespaces/${here.group.id}`),
    ],
    ['statistics', statistics, await inside(owner.get(ofProject, { statistics: true }), 'statistics')],
    ['GET /licenses', license, await admin.get('/licenses')],
    ['GET /license', [...license, 'active_users'], await admin.get('/license')],
    ['GET labels', [...label, 'priority', 'is_project_label'], await owner.get(`${ofProject}/labels`)],
    ['GET milestones', [...milestone, 'group_id'], await owner.get(`${ofGroup}/milestones`)],
    ['POST milestone', [...milestone, 'project_id'], await owner.post(`${ofProject}/milestones`, { title: 'Autumn' })],
    ['POST note', note, await owner.post(`${ofProject}/issues/${iid}/notes`, { body: 'a' })],
    ['GET issue', issue, await owner.get(`${ofProject}/issues/${iid}`)],
    ['GET issues', issue, await owner.get(`${ofProject}/issues`, { iids: [iid] })],
    ['GET /issues/:id', issue, await admin.get(`/issues/${id}`)],
    ['GET epic', [...epic, 'subscribed'], await owner.get(`${ofGroup}/epics/1`)],
    ['GET epics', epic, await owner.get(`${ofGroup}/epics`)],
    [
      'POST member',
      member,
      await owner.post(`${ofGroup}/members`, { user_id: newMember, access_level: 20, member_role_id: role }),
    ],
    ['GET invitations', invitation, await owner.get(`${ofGroup}/invitations`)],
    ['GET tokens', token, await owner.get('/personal_access_tokens')],
    [
      'POST access token',
      [...token, 'access_level', 'resource_type', 'resource_id', 'token'],
      await owner.post(`${ofProject}/access_tokens`, { name: 'a', scopes: ['api'], expires_at }),
    ],
    [
      'POST deploy token',
      fields('id name username expires_at revoked expired scopes token'),
      await owner.post(`${ofProject}/deploy_tokens`, { name: 'a', scopes: ['read_repository'] }),
    ],
    ['GET commits', commit, await owner.get(`${ofProject}/repository/commits`)],
    ['GET branches', branch, await owner.get(`${ofProject}/repository/branches`)],
    ['GET commit', [...commit, ...fields('stats status project_id last_pipeline')], await owner.get(ofCommit)],
    ['POST status', status, await owner.post(`${ofProject}/statuses/${sha}`, { state: 'success' })],
    ['GET statuses', status, await owner.get(`${ofCommit}/statuses`)],
    [
      'GET protected branches',
      fields(
        'id name push_access_levels merge_access_levels unprotect_access_levels allow_force_push code_owner_approval_required',
      ),
      await owner.get(`${ofProject}/protected_branches`),
    ],
    ['push level', level, await inside(owner.get(`${ofProject}/protected_branches`), 'push_access_levels')],
    ['GET protected tags', fields('name create_access_levels'), await owner.get(`${ofProject}/protected_tags`)],
    [
      'POST key',
      fields('id title created_at expires_at last_used_at key usage_type'),
      await owner.post('/user/keys', { title: 'a', key }),
    ],
    ['GET emails', fields('id email confirmed_at'), await owner.get('/user/emails')],
    [
      'POST topic',
      fields('id name title description total_projects_count avatar_url'),
      await admin.post('/topics', { name: `topic-${here.group.id}`, title: 'a' }),
    ],
    ['GET variables', [...variable, 'hidden', 'environment_scope'], await owner.get(`${ofProject}/variables`)],
    [
      'POST instance variable',
      variable,
      await admin.post('/admin/ci/variables', { key: `A${here.group.id}`, value: 'a' }),
    ],
    ['POST to-do item', [...toDoItem, 'project'], await owner.post(`${ofIssue}/todo`)],
    ['GET award emoji', award, await owner.get(`${ofIssue}/award_emoji`)],
    ['GET discussions', fields('id individual_note notes'), await owner.get(`${ofIssue}/discussions`)],
    ['note of a discussion', note, await inside(owner.get(`${ofIssue}/discussions`), 'notes')],
    ['GET label events', [...resourceEvent, 'label', 'action'], await owner.get(`${ofIssue}/resource_label_events`)],
    [
      'label of an event',
      fields('id name color description'),
      await inside(owner.get(`${ofIssue}/resource_label_events`), 'label'),
    ],
    [
      'GET milestone events',
      [...resourceEvent, 'milestone', 'action', 'state'],
      await owner.get(`${ofIssue}/resource_milestone_events`),
    ],
    [
      'GET state events',
      [...resourceEvent, 'source_commit', 'source_merge_request_id', 'state'],
      await owner.get(`${ofIssue}/resource_state_events`),
    ],
    [
      'GET weight events',
      fields('id user created_at issue_id weight'),
      await owner.get(`${ofIssue}/resource_weight_events`),
    ],
    [
      'POST cluster',
      cluster,
      await admin.post('/admin/clusters/add', {
        name: 'a',
        environment_scope: `e${here.group.id}`,
        platform_kubernetes_attributes,
      }),
    ],
    [
      'GET tags',
      fields('name message target commit release protected created_at'),
      await owner.get(`${ofProject}/repository/tags`),
    ],
    ['GET tree', fields('id name type path mode'), await owner.get(`${ofProject}/repository/tree`)],
    [
      'GET file',
      fields(
        'file_name file_path size encoding content content_sha256 ref blob_id commit_id last_commit_id execute_filemode',
      ),
      await owner.get(`${ofProject}/repository/files/a`, { ref: 'main' }),
    ],
  ];
}

test('every representation has the fields that clients expect', async () => {
  const missing: Record<string, string[]> = {};
  for (const [name, expected, { status, body }] of await replies(await world({}))) {
    const shown = Array.isArray(body) ? body[0] : body;
    assert.ok(status < 300 && shown, `${name} ${JSON.stringify(body)}`);
    const left = expected.filter((field) => !(field in shown));
    if (left.length > 0) missing[name] = left;
  }
  assert.deepEqual(missing, {});
});

test('a licensee has all members, also where the license does not name them', async () => {
  const here = await world({});
  const license = await licenseText(here, { plan: 'ultimate' }, { licensee: { Company: 'Orchard' } });
  const added = await here.as('admin').post('/license', { license });
  assert.deepEqual(added.body.licensee, { Name: '', Email: '', Company: 'Orchard' });
});

test('fields about the caller and the content have the right values', async () => {
  const here = await world({});
  const { as, people } = here;
  const ofProject = `/projects/${here.project.id}`;
  await as('owner').put(ofProject, { description: '**bold** <script>x</script>' });
  await addIssue(here);
  await addIssue(here, { confidential: true });
  const closed = await addIssue(here);
  await as('owner').put(`${ofProject}/issues/${closed.iid}`, { state_event: 'close' });
  for (const [persona, count] of [
    ['guest', 1],
    ['planner', 2],
    ['admin', 2],
  ] as const) {
    const [listed] = (
      await as(persona).get('/projects', { search: here.project.path, membership: persona !== 'admin' })
    ).body;
    const { body } = await as(persona).get(ofProject);
    const [ofGroup] = (await as(persona).get(`/groups/${here.group.id}`)).body.projects;
    const [inGroup] = (await as(persona).get(`/groups/${here.group.id}/projects`)).body;
    for (const { open_issues_count, description_html } of [listed, body, ofGroup, inGroup]) {
      assert.equal(open_issues_count, count, persona);
      assert.equal(description_html, '<p><strong>bold</strong> &lt;script&gt;x&lt;/script&gt;</p>\n');
    }
  }
  await as('owner').put(ofProject, { issues_access_level: 'disabled' });
  assert.equal('open_issues_count' in (await as('owner').get(ofProject)).body, false);

  await as('owner').post(`/users/${people.guest.id}/follow`);
  assert.equal((await as('owner').get(`/users/${people.guest.id}`)).body.is_followed, true);
  assert.equal((await as('planner').get(`/users/${people.guest.id}`)).body.is_followed, false);
  assert.equal((await as('admin').get(`/users/${people.guest.id}`)).body.highest_role, 10);
});

test('activity, sign-ins and the highest role are those that happened', async () => {
  const here = await world({});
  const { as, db, people, project, url } = here;
  const shown = async (id: number) => (await as('admin').get(`/users/${id}`)).body;
  const today = new Date().toISOString().slice(0, 10);
  const forget = (id: number) => db.updateTable('users').set({ last_activity_on: null }).where('id', '=', id).execute();

  const { maintainer } = people;
  await forget(maintainer.id);
  const git = await gitClient();
  assert.equal((await git.run(['clone', '-q', remoteOf(url, project.full_path, maintainer.token), 'work'])).code, 0);
  assert.equal((await shown(maintainer.id)).last_activity_on, today);
  await forget(maintainer.id);
  assert.equal((await git.run(['commit', '-q', '--allow-empty', '-m', 'Nothing'], { at: 'work' })).code, 0);
  const pushed = await git.run(['push', '-q', 'origin', 'HEAD:refs/heads/topic'], { at: 'work' });
  assert.equal(pushed.code, 0, pushed.stderr);
  assert.equal((await shown(maintainer.id)).last_activity_on, today);
  await forget(maintainer.id);
  assert.equal((await as('maintainer').get('/user')).status, 200);
  const { last_activity_on, sign_in_count, current_sign_in_at, highest_role } = await shown(maintainer.id);
  assert.deepEqual([last_activity_on, sign_in_count, current_sign_in_at, highest_role], [today, 0, null, 40]);

  const password = 'correct horse battery';
  await as('admin').put(`/users/${people.outsider.id}`, { password });
  const { username } = people.outsider;
  const signIn = (given: string) =>
    fetch(`${url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'password', username, password: given }),
    });
  assert.equal((await signIn('wrong horse battery')).status, 400);
  assert.equal((await shown(people.outsider.id)).sign_in_count, 0);
  await forget(people.outsider.id);
  assert.equal((await signIn(password)).status, 200);
  const first = await shown(people.outsider.id);
  assert.deepEqual([first.sign_in_count, first.last_activity_on, first.highest_role], [1, today, 0]);
  assert.equal(first.last_sign_in_at, first.current_sign_in_at);
  assert.equal((await signIn(password)).status, 200);
  const second = await shown(people.outsider.id);
  assert.deepEqual([second.sign_in_count, second.last_sign_in_at], [2, first.current_sign_in_at]);
  assert.ok(second.current_sign_in_at > first.current_sign_in_at);
});

test('statistics are the sizes of what is stored', async () => {
  const here = await world({});
  const { as, project } = here;
  const of = async (persona: Persona) =>
    (await as(persona).get(`/projects/${project.id}`, { statistics: true })).body.statistics;
  assert.deepEqual([(await of('reporter')).storage_size, (await of('reporter')).commit_count], [0, 0]);
  const change = { branch: 'main', content: 'a', commit_message: 'Add a' };
  assert.equal((await as('owner').post(`/projects/${project.id}/repository/files/a`, change)).status, 201);
  assert.equal((await upload(here, 'owner', Buffer.alloc(1234))).status, 200);
  const wiki = { storage: 'default', default_branch: 'main' };
  await here.db
    .insertInto('wikis')
    .values({ project_id: project.id, ...wiki, size_bytes: 100 })
    .execute();
  const { commit_count, storage_size, repository_size, lfs_objects_size, uploads_size, wiki_size } =
    await of('reporter');
  assert.deepEqual([commit_count, lfs_objects_size, uploads_size, wiki_size], [1, 1234, 0, 100]);
  assert.ok(repository_size > 0);
  assert.equal(storage_size, repository_size + lfs_objects_size + wiki_size);
  const [listed] = (await as('reporter').get('/projects', { statistics: true, search: project.path, membership: true }))
    .body;
  assert.equal(listed.statistics.storage_size, storage_size);
  assert.equal(await of('guest'), undefined);

  const inner = (await as('owner').post('/groups', { name: 'Inner', path: 'inner', parent_id: here.group.id })).body;
  const below = await as('owner').post('/projects', {
    name: 'Below',
    namespace_id: inner.id,
    initialize_with_readme: true,
  });
  const { statistics: ofInner } = (await as('owner').get(`/projects/${below.body.id}`, { statistics: true })).body;
  const ofGroup = `/groups/${here.group.id}`;
  await here.db
    .insertInto('wikis')
    .values({ group_id: here.group.id, ...wiki, size_bytes: 23 })
    .execute();
  const sizes = { job_artifacts_size: 0, pipeline_artifacts_size: 0, packages_size: 0, snippets_size: 0 };
  const expected = {
    storage_size: storage_size + 23,
    repository_size,
    lfs_objects_size,
    uploads_size,
    wiki_size: 123,
    ...sizes,
  };
  const { statistics: shown } = (await as('admin').get(ofGroup, { statistics: true })).body;
  assert.deepEqual(shown, expected, 'without subgroups');
  const all = { statistics: true, search: here.group.path, order_by: 'id' };
  const groups = (await as('admin').get('/groups', all)).body;
  assert.deepEqual(
    groups.map((group: { statistics: unknown }) => group.statistics),
    [
      expected,
      {
        ...expected,
        storage_size: ofInner.storage_size,
        repository_size: ofInner.repository_size,
        lfs_objects_size: 0,
        wiki_size: 0,
      },
    ],
  );
  for (const list of ['subgroups', 'descendant_groups']) {
    const [group] = (await as('admin').get(`${ofGroup}/${list}`, { statistics: true })).body;
    assert.equal(group.statistics.storage_size, ofInner.storage_size);
  }
  for (const path of [ofGroup, `${ofGroup}/subgroups`, '/groups']) {
    const { status, body } = await as('owner').get(path, { statistics: true });
    assert.equal(status, 200);
    assert.equal('statistics' in (Array.isArray(body) ? body[0] : body), false);
  }
  assert.equal('statistics' in (await as('admin').get(ofGroup)).body, false);
});

test('a restriction of groups that does not exist is refused, and nothing changes', async () => {
  const { as, group } = await world({});
  const path = `/groups/${group.id}`;
  for (const given of [
    { prevent_sharing_groups_outside_hierarchy: true },
    { prevent_forking_outside_group: true },
    { allowed_email_domains_list: 'example.com' },
    { only_allow_merge_if_pipeline_succeeds: true },
    { only_allow_merge_if_all_discussions_are_resolved: true },
    { lock_duo_features_enabled: true },
    { enabled_git_access_protocol: 'ssh' },
    { service_access_tokens_expiration_enforced: false },
  ]) {
    const refusal = [400, { message: { [Object.keys(given)[0]!]: ['is not available'] } }];
    const { status, body } = await as('owner').put(path, { ...given, description: 'changed' });
    assert.deepEqual([status, body], refusal);
    const created = await as('owner').post('/groups', { name: 'restricted', path: 'restricted', ...given });
    assert.deepEqual([created.status, created.body], refusal);
  }
  assert.equal((await as('owner').get('/groups/restricted')).status, 404);
  assert.equal((await as('owner').get(path)).body.description, '');
  // A program that describes groups compares what it has set with what it reads.
  const read = {
    require_two_factor_authentication: false,
    lock_duo_features_enabled: false,
    enabled_git_access_protocol: 'all',
    service_access_tokens_expiration_enforced: true,
    description: 'changed',
  };
  const set = await as('owner').put(path, { ...read, ip_restriction_ranges: '', allowed_email_domains_list: null });
  assert.equal(set.status, 200);
  assert.partialDeepStrictEqual((await as('owner').get(path)).body, read);
  await as('admin').put('/application/settings', { service_access_tokens_expiration_enforced: false });
  assert.equal((await as('owner').get(path)).body.service_access_tokens_expiration_enforced, false);
  assert.equal((await as('owner').put(path, { ...read })).status, 400);
});
