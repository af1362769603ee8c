import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { test } from 'node:test';
import { sql } from 'kysely';
import { performJob } from '../../../../test/support/jobs.ts';
import { untilLockWaits } from '../../../../test/support/waiting.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { lockTree } from '../../../access/index.ts';
import { entryAt, readBlob, readCommit, repositoryOf, resolveBranch, resolveCommit } from '../../../git/index.ts';
import { maintainRepository, measureRepositories } from '../../code/repository/index.ts';
import { forgetSize } from '../../code/repository/owners/size_actions.ts';
import { fixedProjectValues } from './fixed_present.ts';

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** The number of projects in the group of a world. */
const countIn = async (here: World) => (await here.as('owner').get(`/groups/${here.group.id}/projects`)).body.length;

const setGroup = (here: World, columns: object) =>
  here.db.updateTable('namespaces').set(columns).where('id', '=', here.group.id).execute();

test('a project needs only a name, is created in the namespace of the caller, and is shown by ID and by path', async () => {
  const here = await world();
  const { client, username, id: user_id } = await here.person();
  const added = await client.post('/projects', { name: 'Déjà Vu, 2nd edition!'.replaceAll(/[,!]/g, '') });
  assert.equal(added.status, 201);
  const { id, created_at, updated_at, last_activity_at, owner, runners_token, ...rest } = added.body;
  assert.match(runners_token, /^GR1348941/);
  for (const time of [created_at, updated_at, last_activity_at]) assert.match(time, timestamp);
  assert.equal(owner.id, user_id);
  const url = `http://coppice.test/${username}/deja-vu-2nd-edition`;
  const self = `http://coppice.test/api/v4/projects/${id}`;
  const namespace_id = rest.namespace.id;
  assert.deepEqual(rest, {
    ...fixedProjectValues,
    description: null,
    description_html: '',
    name: 'Déjà Vu 2nd edition',
    name_with_namespace: `${username.replaceAll('-', ' ')} / Déjà Vu 2nd edition`,
    open_issues_count: 0,
    path: 'deja-vu-2nd-edition',
    path_with_namespace: `${username}/deja-vu-2nd-edition`,
    default_branch: 'main',
    tag_list: [],
    topics: [],
    ssh_url_to_repo: `ssh://git@coppice.test:2222/${username}/deja-vu-2nd-edition.git`,
    http_url_to_repo: `${url}.git`,
    web_url: url,
    readme_url: null,
    forks_count: 0,
    freeze_blocks_pushes: false,
    deployment_freeze: 'mark',
    ci_allow_fork_pipelines_to_run_in_parent_project: true,
    ci_forward_deployment_enabled: true,
    ci_forward_deployment_rollback_allowed: true,
    allow_pipeline_trigger_approve_deployment: false,
    dependency_paths: [],
    ci_config_path: null,
    auto_cancel_pending_pipelines: 'enabled',
    ci_pipeline_variables_minimum_override_role: 'developer',
    ci_restrict_pipeline_cancellation_role: 'developer',
    shared_runners_enabled: true,
    group_runners_enabled: true,
    runner_token_expiration_interval: null,
    build_timeout: 3600,
    build_git_strategy: 'fetch',
    ci_default_git_depth: 20,
    ci_separated_caches: true,
    compliance_frameworks: [],
    keep_latest_artifact: true,
    ci_inbound_job_token_scope_enabled: true,
    ci_push_repository_for_job_token_allowed: false,
    max_artifacts_size: null,
    mirror: false,
    mirror_user_id: null,
    mirror_trigger_builds: false,
    only_mirror_protected_branches: null,
    mirror_overwrites_diverged_branches: false,
    mirror_branch_regex: null,
    import_url: null,
    avatar_url: null,
    star_count: 0,
    visibility: 'private',
    namespace: {
      id: namespace_id,
      name: username.replaceAll('-', ' '),
      path: username,
      kind: 'user',
      full_path: username,
      parent_id: null,
      avatar_url: null,
      web_url: `http://coppice.test/${username}`,
    },
    _links: {
      self,
      issues: `${self}/issues`,
      merge_requests: `${self}/merge_requests`,
      repo_branches: `${self}/repository/branches`,
      labels: `${self}/labels`,
      events: `${self}/events`,
      members: `${self}/members`,
    },
    empty_repo: true,
    archived: false,
    repository_object_format: 'sha1',
    issues_enabled: true,
    merge_requests_enabled: true,
    snippets_enabled: true,
    jobs_enabled: true,
    wiki_enabled: true,
    issues_access_level: 'enabled',
    repository_access_level: 'enabled',
    merge_requests_access_level: 'enabled',
    forking_access_level: 'enabled',
    snippets_access_level: 'enabled',
    environments_access_level: 'enabled',
    wiki_access_level: 'enabled',
    feature_flags_access_level: 'enabled',
    builds_access_level: 'enabled',
    releases_access_level: 'enabled',
    can_create_merge_request_in: true,
    emails_disabled: false,
    emails_enabled: true,
    lfs_enabled: true,
    enforce_auth_checks_on_uploads: true,
    creator_id: user_id,
    import_status: 'none',
    import_error: null,
    marked_for_deletion_on: null,
    marked_for_deletion_at: null,
    shared_with_groups: [],
    request_access_enabled: true,
    merge_method: 'merge',
    squash_option: 'default_off',
    only_allow_merge_if_pipeline_succeeds: false,
    allow_merge_on_skipped_pipeline: null,
    only_allow_merge_if_all_discussions_are_resolved: false,
    remove_source_branch_after_merge: true,
    resolve_outdated_diff_discussions: false,
    printing_merge_request_link_enabled: true,
    autoclose_referenced_issues: true,
    suggestion_commit_message: null,
    merge_commit_template: null,
    squash_commit_template: null,
    merge_requests_template: null,
    issues_template: null,
    public_jobs: true,
  });
  const permissions = { project_access: { access_level: 50, notification_level: 3 }, group_access: null };
  const shown = await client.get(`/projects/${id}`);
  assert.deepEqual(shown.body, { ...added.body, permissions });
  assert.deepEqual(
    (await client.get(`/projects/${encodeURIComponent(`${username}/DEJA-VU-2nd-edition`)}`)).body,
    shown.body,
  );
  assert.equal((await here.as('outsider').get(`/projects/${id}`)).status, 404);
  assert.equal((await here.as('anonymous').get(`/projects/${id}`)).status, 404);
});

test('all parameters of a new project are stored', async () => {
  const here = await world();
  await setGroup(here, { visibility: 'internal', default_branch: 'trunk' });
  const added = await here.as('maintainer').post('/projects', {
    path: 'my.tool',
    namespace_id: here.group.id,
    description: 'A tool',
    visibility: 'internal',
    topics: 'zeta, alpha,alpha',
    issues_access_level: 'private',
    issues_enabled: false,
    merge_requests_enabled: 'false',
    snippets_enabled: false,
    wiki_enabled: false,
    forking_access_level: 'disabled',
    environments_access_level: 'private',
    feature_flags_access_level: 'private',
    request_access_enabled: false,
    lfs_enabled: '0',
    emails_disabled: true,
    merge_method: 'ff',
    squash_option: 'always',
    allow_merge_on_skipped_pipeline: true,
    remove_source_branch_after_merge: false,
    merge_commit_template: '%{title}',
    squash_commit_template: '',
    repository_object_format: 'sha256',
    repository_storage: 'nowhere, but only administrators are heard',
  });
  assert.equal(added.status, 201);
  const { body } = added;
  assert.deepEqual(
    [body.name, body.path, body.description, body.visibility, body.default_branch, body.topics, body.tag_list],
    ['my.tool', 'my.tool', 'A tool', 'internal', 'trunk', ['alpha', 'zeta'], ['alpha', 'zeta']],
  );
  assert.equal(body.issues_access_level, 'private', 'the new name takes precedence');
  assert.deepEqual(
    [
      body.merge_requests_access_level,
      body.snippets_access_level,
      body.forking_access_level,
      body.environments_access_level,
      body.feature_flags_access_level,
    ],
    ['disabled', 'disabled', 'disabled', 'private', 'private'],
  );
  assert.deepEqual(
    [
      body.issues_enabled,
      body.merge_requests_enabled,
      body.snippets_enabled,
      body.wiki_enabled,
      body.wiki_access_level,
    ],
    [true, false, false, false, 'disabled'],
  );
  assert.deepEqual(
    [body.request_access_enabled, body.lfs_enabled, body.emails_enabled, body.emails_disabled],
    [false, false, false, true],
  );
  assert.equal(body.repository_object_format, 'sha256');
  assert.deepEqual(
    [
      body.merge_method,
      body.squash_option,
      body.allow_merge_on_skipped_pipeline,
      body.remove_source_branch_after_merge,
    ],
    ['ff', 'always', true, false],
  );
  assert.deepEqual(
    [body.merge_commit_template, body.squash_commit_template],
    ['%{title}', null],
    'an empty template is none',
  );
  assert.equal(body._links.merge_requests, undefined);
  assert.equal(body.owner, undefined);
  assert.equal(
    (await here.as('outsider').get(`/projects/${body.id}`)).body.issues_enabled,
    false,
    'issues are for members only',
  );
});

test('a project can be initialized with a README on its default branch', async () => {
  const here = await world();
  const { body } = await here.as('developer').post('/projects', {
    name: 'Begun',
    namespace_id: here.group.id,
    description: 'Well begun',
    default_branch: 'start/here#1',
    initialize_with_readme: true,
  });
  assert.equal(body.empty_repo, false);
  assert.equal(body.default_branch, 'start/here#1');
  assert.equal(body.readme_url, `http://coppice.test/${here.group.path}/begun/-/blob/start/here%231/README.md`);
  const repository = repositoryOf(here.services, { id: body.id, storage: 'default' });
  const head = await resolveBranch(repository, 'start/here#1');
  assert.equal(await resolveCommit(repository, 'HEAD'), head);
  const commit = await readCommit(repository, head!);
  assert.equal(commit.message, 'Initial commit');
  assert.deepEqual(commit.parent_ids, []);
  assert.equal(commit.author_email, `${here.people.developer.username}@example.com`);
  const tree = await here.as('developer').get(`/projects/${body.id}`, { statistics: true });
  assert.equal(tree.body.statistics.commit_count, 1);
  assert.ok(tree.body.statistics.repository_size > 0);
  assert.equal(tree.body.statistics.storage_size, tree.body.statistics.repository_size);
  assert.equal((await here.as('guest').get(`/projects/${body.id}`, { statistics: true })).body.statistics, undefined);
  const listed = await here
    .as('reporter')
    .get('/projects', { statistics: true, id_after: here.project.id - 1, sort: 'asc' });
  assert.deepEqual(
    listed.body.map(({ statistics }: { statistics: { commit_count: number } }) => statistics.commit_count),
    [0, 1],
  );
  // A page reads what was measured, and measures only repositories that have changed since.
  const measured = async () =>
    (await here.as('developer').get(`/projects/${body.id}`, { statistics: true })).body.statistics;
  const remember = () =>
    here.db.updateTable('repository_sizes').set({ size_bytes: 12_345_678 }).where('project_id', '=', body.id).execute();
  await remember();
  assert.deepEqual([(await measured()).repository_size, (await measured()).storage_size], [12_345_678, 12_345_678]);
  const file = { branch: 'start/here#1', commit_message: 'more', content: 'x' };
  assert.equal((await here.as('owner').post(`/projects/${body.id}/repository/files/more`, file)).status, 201);
  assert.equal((await measured()).commit_count, 2);
  assert.ok((await measured()).repository_size < 12_345_678);
  await remember();
  await performJob(here.services, maintainRepository, { kind: 'project', id: body.id });
  assert.ok((await measured()).repository_size < 12_345_678);
  assert.match(await readmeOf(here, body.id, head!), /^# Begun\n\nWell begun\n$/);
});

test('a repository that changes while it is measured is measured again', async () => {
  const here = await world();
  const made = await here
    .as('developer')
    .post('/projects', { name: 'Sized', namespace_id: here.group.id, initialize_with_readme: true });
  const project_id = made.body.id as number;
  const sizes = () =>
    here.db.selectFrom('repository_sizes').select('is_stale').where('project_id', '=', project_id).execute();
  const measure = () => performJob(here.services, maintainRepository, { kind: 'project', id: project_id });
  await measure();
  assert.deepEqual(await sizes(), [{ is_stale: false }]);
  for (const isFirst of [false, true]) {
    if (isFirst) await here.db.deleteFrom('repository_sizes').where('project_id', '=', project_id).execute();
    let measuring: Promise<void> | undefined;
    await here.db.transaction().execute(async (tx) => {
      // The job has read the repository when it waits for the row.
      await tx.selectFrom('projects').select('id').where('id', '=', project_id).forUpdate().execute();
      measuring = measure();
      await untilLockWaits(here.db);
      await forgetSize(tx, project_id);
    });
    await measuring;
    assert.deepEqual(await sizes(), [{ is_stale: true }], `first: ${isFirst}`);
  }
});

test('repositories that were never measured are measured in the background, except for broken ones, which are listed all the same', async () => {
  const here = await world();
  const made = async (name: string) =>
    (await here.as('developer').post('/projects', { name, namespace_id: here.group.id, initialize_with_readme: true }))
      .body.id as number;
  const [broken, whole] = [await made('Broken'), await made('Whole')];
  const { path } = repositoryOf(here.services, { id: broken, storage: 'default' });
  await rename(path, `${path}.away`);
  await here.db.deleteFrom('repository_sizes').where('project_id', 'in', [broken, whole]).execute();
  await assert.rejects(
    performJob(here.services, measureRepositories),
    /^AggregateError: 1 repositories could not be measured$/,
  );
  const measured = () =>
    here.db
      .selectFrom('repository_sizes')
      .select(['project_id', 'commit_count'])
      .where('project_id', 'in', [broken, whole])
      .orderBy('project_id')
      .execute();
  assert.deepEqual(await measured(), [{ project_id: whole, commit_count: 1 }]);
  const listed = await here.as('reporter').get('/projects', { statistics: true, id_after: broken - 1, sort: 'asc' });
  assert.deepEqual(
    listed.body.map(({ id, statistics }: { id: number; statistics: { commit_count: number } }) => [
      id,
      statistics.commit_count,
    ]),
    [
      [broken, 0],
      [whole, 1],
    ],
  );
  await rename(`${path}.away`, path);
  await performJob(here.services, measureRepositories);
  assert.equal((await measured()).length, 2);
});

test('the first commit has the same effects as a push, without pending work', async () => {
  const here = await world();
  const { id } = (
    await here
      .as('developer')
      .post('/projects', { name: 'Begun', namespace_id: here.group.id, initialize_with_readme: true })
  ).body;
  const [main] = (await here.as('maintainer').get(`/projects/${id}/protected_branches`)).body;
  assert.equal(main?.name, 'main');
  assert.deepEqual(
    await here.db.selectFrom('reference_updates').select('id').where('project_id', '=', id).execute(),
    [],
  );
  const { rows: waiting } = await sql`
    select from graphile_worker._private_jobs jobs join graphile_worker._private_tasks tasks on tasks.id = jobs.task_id
     where tasks.identifier = ${maintainRepository.name} and (payload->>'id')::bigint = ${id}`.execute(here.db);
  assert.equal(waiting.length, 1);
});

async function readmeOf(here: World, id: number, commit: string): Promise<string> {
  const repository = repositoryOf(here.services, { id, storage: 'default' });
  const entry = await entryAt(repository, commit, 'README.md');
  return (await readBlob(repository, entry!.id)).toString();
}

test('the setting of a group decides who may create projects in it', async () => {
  const here = await world();
  const roles = ['guest', 'reporter', 'developer', 'maintainer', 'owner', 'admin'] as const;
  const allowed: Record<string, readonly string[]> = {
    noone: [],
    administrator: ['admin'],
    owner: ['owner', 'admin'],
    maintainer: ['maintainer', 'owner', 'admin'],
    developer: ['developer', 'maintainer', 'owner', 'admin'],
  };
  let count = 1;
  for (const [project_creation_level, names] of Object.entries(allowed)) {
    await setGroup(here, { project_creation_level });
    for (const role of roles) {
      const answer = await here
        .as(role)
        .post('/projects', { name: `${project_creation_level} ${role}`, namespace_id: here.group.id });
      assert.equal(answer.status, names.includes(role) ? 201 : 400, `${project_creation_level}: ${role}`);
      if (answer.status === 201) count++;
      else assert.deepEqual(answer.body, { message: { namespace: ['is not valid'] } });
    }
  }
  assert.equal(await countIn(here), count);
});

test('projects cannot be created in namespaces of others', async () => {
  const here = await world();
  const { client, username } = await here.person();
  const own = (await client.post('/projects', { name: 'mine' })).body.namespace.id;
  assert.equal((await here.as('anonymous').post('/projects', { name: 'x' })).status, 401);
  for (const namespace_id of [here.group.id, own, 999_999_999])
    assert.deepEqual((await here.as('outsider').post('/projects', { name: 'x', namespace_id })).body, {
      message: { namespace: ['is not valid'] },
    });
  assert.equal(
    (await here.as('admin').post('/projects', { name: 'x', namespace_id: own })).body.path_with_namespace,
    `${username}/x`,
  );
  assert.equal(await countIn(here), 1);
});

test('an administrator creates a project for another user', async () => {
  const here = await world();
  const { id, username, client } = await here.person();
  const added = await here.as('admin').post(`/projects/user/${id}`, { name: 'A gift', initialize_with_readme: true });
  assert.equal(added.status, 201);
  assert.equal(added.body.path_with_namespace, `${username}/a-gift`);
  assert.equal(added.body.creator_id, id);
  assert.equal(added.body.repository_storage, 'default');
  assert.equal((await client.get(`/projects/${added.body.id}`)).body.permissions.project_access.access_level, 50);

  const foreign = await here.as('admin').post(`/projects/user/${id}`, { name: 'x', namespace_id: here.group.id });
  assert.deepEqual(foreign.body, { message: { namespace: ['is not valid'] } });
  assert.equal((await here.as('admin').post(`/projects/user/${id}`, {})).body.error, 'name is missing, name is empty');
  assert.deepEqual((await here.as('admin').post('/projects/user/99999999', { name: 'x' })).body, {
    message: '404 User Not Found',
  });
  assert.equal((await here.as('owner').post(`/projects/user/${id}`, { name: 'x' })).status, 403);
  const misplaced = await here.as('admin').post('/projects', { name: 'x', repository_storage: 'nowhere' });
  assert.deepEqual(misplaced.body, { message: { repository_storage: ['is not included in the list'] } });
});

test('the limit of personal projects applies regardless of who creates them', async () => {
  const here = await world();
  const { id, client } = await here.person();
  const limit = (columns: object) => here.db.updateTable('users').set(columns).where('id', '=', id).execute();
  await limit({ projects_limit: 1 });
  assert.equal((await client.post('/projects', { name: 'one' })).status, 201);
  const text = "You've reached your limit of 1 projects created. Contact your administrator.";
  const refused = await client.post('/projects', { name: 'two' });
  assert.equal(refused.status, 403);
  assert.deepEqual(refused.body, { message: text, error: [text] });
  assert.deepEqual((await here.as('admin').post(`/projects/user/${id}`, { name: 'two' })).body.error, [text]);

  const none = 'You cannot create projects in your personal namespace. Contact your administrator.';
  await limit({ projects_limit: 0 });
  assert.deepEqual((await client.post('/projects', { name: 'two' })).body.error, [none]);
  await limit({ projects_limit: 10, external: true });
  assert.deepEqual((await client.post('/projects', { name: 'two' })).body.error, [none]);
  await limit({ external: false });
  assert.equal((await client.post('/projects', { name: 'two' })).status, 201);
});

test('of two projects created with the same path at the same time, one is created and nothing is left of the other', async () => {
  const here = await world();
  const { rows } = await sql<{ id: number }>`select nextval(pg_get_serial_sequence('projects', 'id')) as id`.execute(
    here.db,
  );
  const first = rows[0]!.id + 1;
  const attempts = await Promise.all(
    Array.from({ length: 4 }, () =>
      here.as('owner').post('/projects', { path: 'race', namespace_id: here.group.id, initialize_with_readme: true }),
    ),
  );
  const winners = attempts.filter(({ status }) => status === 201);
  assert.equal(winners.length, 1);
  for (const { status, body } of attempts)
    if (status !== 201) assert.deepEqual([status, body.message.path], [400, ['has already been taken']]);
  const kept = Array.from({ length: 4 }, (_, index) => first + index).filter((id) =>
    existsSync(repositoryOf(here.services, { id, storage: 'default' }).path),
  );
  assert.deepEqual(kept, [winners[0]!.body.id]);
  assert.equal(await countIn(here), 2);
});

test('git has nothing left to do for a new project when the tree of its namespace is locked', async () => {
  const here = await world();
  const creating = await here.db.transaction().execute(async (tx) => {
    await lockTree(tx, here.group.id);
    const created = here
      .as('owner')
      .post('/projects', { name: 'slow', namespace_id: here.group.id, initialize_with_readme: true });
    await untilLockWaits(here.db);
    const { rows } = await sql<{ id: number }>`select last_value as id from projects_id_seq`.execute(here.db);
    const { path } = repositoryOf(here.services, { id: rows[0]!.id, storage: 'default' });
    // From here on git cannot work on it.
    await rename(path, `${path}.away`);
    return { created, path };
  });
  const { status, body } = await creating.created;
  assert.equal(status, 201, JSON.stringify(body));
  await rename(`${creating.path}.away`, creating.path);
  const { rows } = await sql<{ commit_title: string }>`
    select commit_title from push_event_payloads join events on events.id = event_id where project_id = ${body.id}`.execute(
    here.db,
  );
  assert.deepEqual(rows, [{ commit_title: 'Initial commit' }]);
});

test('thirty projects are created at the same time in one namespace, each with its repository, and of equal paths one', async () => {
  const here = await world();
  const before = await countIn(here);
  const create = (name: string) =>
    here.as('owner').post('/projects', { name, namespace_id: here.group.id, initialize_with_readme: true });
  const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => create(`at-once-${index % 25}`)));
  const created = answers.filter(({ status }) => status === 201).map(({ body }) => body);
  assert.equal(new Set(created.map(({ path }) => path)).size, 25);
  assert.equal(created.length, 25);
  for (const { status, body } of answers)
    if (status !== 201) assert.deepEqual([status, body.message.path], [400, ['has already been taken']]);
  for (const { id } of created) {
    const files = (await here.as('owner').get(`/projects/${id}/repository/tree`)).body;
    assert.deepEqual([files.length, files[0].name], [1, 'README.md']);
  }
  const { rows } = await sql<{ id: number }>`select id from projects where namespace_id = ${here.group.id}`.execute(
    here.db,
  );
  assert.equal(rows.length, before + 25);
});
