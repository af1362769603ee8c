import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type World, world } from '../../../../test/support/world.ts';

const lintPath = ({ project }: Pick<World, 'project'>) => `/projects/${project.id}/ci/lint`;

/** Commits files to a branch, which starts from the default branch. */
async function write(
  { as }: World,
  { id }: { id: number },
  files: Record<string, string>,
  branch = 'main',
): Promise<void> {
  const actions = Object.entries(files).map(([file_path, content]) => ({ action: 'create', file_path, content }));
  const start = branch === 'main' ? {} : { start_branch: 'main' };
  const body = { branch, ...start, commit_message: 'Write', actions };
  assert.equal((await as('owner').post(`/projects/${id}/repository/commits`, body)).status, 201);
}

const usual = `
stages: [build, test]
default: {tags: [docker]}
compile:
  stage: build
  script: [make]
  environment: review/$CI_COMMIT_REF_SLUG
check:
  before_script: [prepare]
  script:
    - one
    - two
  needs: [compile]
  when: manual
`;

test('a configuration is checked for a developer, with its jobs if they ask for them', async () => {
  const here = await world();
  const developer = here.as('developer');
  await write(here, here.project, { readme: 'x' });
  const plain = await developer.post(lintPath(here), { content: usual });
  assert.deepEqual([plain.status, plain.body.valid, plain.body.errors, plain.body.jobs], [200, true, [], null]);
  assert.deepEqual([plain.body.warnings, plain.body.includes], [[], []]);
  assert.match(plain.body.merged_yaml, /^---\n.*compile:/s);

  const { body } = await developer.post(lintPath(here), { content: usual, include_jobs: true });
  const always = { only: { refs: ['branches', 'tags'] }, except: null, tag_list: ['docker'], after_script: [] };
  assert.deepEqual(body.jobs, [
    {
      ...{ name: 'compile', stage: 'build', before_script: [], script: ['make'], ...always },
      ...{ environment: 'review/main', when: 'on_success', allow_failure: false, needs: null },
    },
    {
      ...{ name: 'check', stage: 'test', before_script: ['prepare'], script: ['one', 'two'], ...always },
      ...{ environment: null, when: 'manual', allow_failure: true },
      needs: [{ name: 'compile', artifacts: true, optional: false }],
    },
  ]);
  assert.equal((await here.as('reporter').post(lintPath(here), { content: usual })).status, 403);
  assert.deepEqual((await developer.post(lintPath(here), {})).body, {
    message: 'content is missing',
    error: 'content is missing',
  });
});

test('what is wrong is said, and nothing is a failure of the server', async () => {
  const here = await world();
  const errorsOf = async (content: string, more = {}) => {
    const { status, body } = await here.as('developer').post(lintPath(here), { content, include_jobs: true, ...more });
    assert.deepEqual([status, body.valid, body.jobs], [200, false, []], content.slice(0, 100));
    return body.errors;
  };
  assert.deepEqual(await errorsOf(''), ['Please provide content of .gitlab-ci.yml']);
  assert.deepEqual(await errorsOf('[]'), ['Invalid configuration format']);
  assert.match((await errorsOf('\0'))[0], /at line 1 column 1$/);
  assert.deepEqual(await errorsOf('a: {script: x}', { ref: 'gone', dry_run: true }), ['Reference not found']);
  const bomb = Array.from({ length: 12 }, (_, at) => `a${at}: &a${at} [${`*a${at - 1},`.repeat(at ? 10 : 0)}1]`).join(
    '\n',
  );
  assert.deepEqual(await errorsOf(bomb), ['The parsed YAML is too big']);
  assert.deepEqual(await errorsOf(`a: ${'['.repeat(5_000)}`), ['The parsed YAML is too big']);
  const regex = `$CI =~ /${'(a*)*'.repeat(300)}/`;
  assert.deepEqual(await errorsOf(`a: {script: x, rules: [{if: '${regex}'}]}`), [
    'jobs:a:rules:rule if invalid expression syntax',
  ]);
});

test('a simulation decides with the variables of the ref, and protected ones stay with those who may run it there', async () => {
  const here = await world();
  const { as, project, group } = here;
  await write(here, project, { '.gitlab-ci.yml': 'never: {script: x, rules: [{when: never}]}' });
  await write(here, project, { other: 'x' }, 'topic');
  const variables = `/projects/${project.id}/variables`;
  const set = async (url: string, body: Record<string, unknown>) =>
    assert.equal((await as('owner').post(url, body)).status, 201);
  await set(variables, { key: 'PLAIN', value: 'project' });
  await set(variables, { key: 'SCOPED', value: 'x', environment_scope: 'production' });
  await set(variables, { key: 'SECRET', value: 'protected', protected: true });
  await set(`/groups/${group.id}/variables`, { key: 'PLAIN', value: 'group' });
  await set(`/groups/${group.id}/variables`, { key: 'OF_GROUP', value: '$PLAIN' });

  const content = `
variables: {KIND: root, OF_GROUP: weaker}
workflow: {name: x, rules: [{if: $CI_COMMIT_BRANCH, variables: {KIND: workflow}}]}
protected: {script: x, rules: [{if: '$SECRET == "protected"'}]}
open: {script: x, rules: [{if: '$PLAIN == "project" && $OF_GROUP == "project" && $SCOPED == null'}]}
kind: {script: x, rules: [{if: '$KIND == "workflow"', when: manual, allow_failure: true}]}
branch: {script: x, environment: $CI_COMMIT_BRANCH, rules: [{exists: [other], changes: [none]}]}
`;
  const jobsFor = async (persona: 'developer' | 'maintainer', ref: string) => {
    const { body } = await as(persona).post(lintPath(here), { content, ref, dry_run: true, include_jobs: true });
    assert.deepEqual(body.errors, []);
    return body.jobs as { name: string; when: string; allow_failure: boolean; environment: string | null }[];
  };
  const namesFor = async (...of: Parameters<typeof jobsFor>) => (await jobsFor(...of)).map(({ name }) => name);
  assert.deepEqual(await namesFor('maintainer', 'main'), ['protected', 'open', 'kind']);
  assert.deepEqual(await namesFor('maintainer', 'topic'), ['open', 'kind', 'branch']);
  assert.deepEqual(await namesFor('developer', 'main'), ['open', 'kind']);
  const [, kind, branch] = await jobsFor('developer', 'topic');
  assert.deepEqual([kind!.when, kind!.allow_failure, branch!.environment], ['manual', true, 'topic']);

  // The file of the project leaves no job.
  const { body } = await as('developer').get(lintPath(here), { dry_run: true });
  assert.match(body.errors[0], /^Pipeline will not run for the selected trigger\./);
});

test('the file of the project is checked at the commit that is asked for', async () => {
  const here = await world();
  const { as, project } = here;
  assert.deepEqual((await as('reporter').get(lintPath(here))).body, { message: '404 Commit Not Found' });
  await write(here, project, { readme: 'x' });
  const none = await as('reporter').get(lintPath(here));
  assert.deepEqual([none.status, none.body.errors], [200, ['Please provide content of .gitlab-ci.yml']]);
  await write(here, project, { '.gitlab-ci.yml': 'include: /ci/jobs.yml', 'ci/jobs.yml': 'a: {script: x}' }, 'topic');

  const { body } = await as('reporter').get(lintPath(here), { content_ref: 'topic', include_jobs: true });
  assert.deepEqual([body.valid, body.jobs.map(({ name }: { name: string }) => name)], [true, ['a']]);
  const [{ context_sha, ...include }] = body.includes;
  const named = `${here.services.url}/${project.full_path}/-`;
  assert.deepEqual(include, {
    type: 'local',
    location: 'ci/jobs.yml',
    blob: `${named}/blob/${context_sha}/ci/jobs.yml`,
    raw: `${named}/raw/${context_sha}/ci/jobs.yml`,
    extra: {},
    context_project: project.full_path,
  });
  assert.deepEqual((await as('reporter').get(lintPath(here), { sha: context_sha })).body.valid, true);
  const gone = await as('reporter').get(lintPath(here), { content_ref: 'gone' });
  assert.deepEqual([gone.status, gone.body], [404, { message: '404 Commit Not Found' }]);
  assert.equal((await as('reporter').get(lintPath(here), { dry_run: true })).status, 403);
  assert.equal((await as('guest').get(lintPath(here))).status, 403);
});

test('the attribute ci_config_path says where the file is, and files of other projects are for those who may read them', async () => {
  const here = await world();
  const { as, project } = here;
  const path = `/projects/${project.id}`;
  const secret = (await as('owner').post('/projects', { name: 'hidden', path: `hidden-${project.id}` })).body;
  await write(here, secret, {
    'jobs.yml': 'private job: {script: x}\ninclude: /more.yml',
    'more.yml': 'more: {script: y}',
  });
  await write(here, project, { 'ci/own.yml': 'own: {script: x}' });
  const namesFor = async (persona: 'owner' | 'developer', ci_config_path: string | null) => {
    assert.deepEqual((await as('owner').put(path, { ci_config_path })).body.ci_config_path, ci_config_path);
    const { body } = await as(persona).get(lintPath(here), { include_jobs: true });
    return body.valid ? body.jobs.map(({ name }: { name: string }) => name) : body.errors;
  };
  assert.deepEqual(await namesFor('developer', 'ci/own.yml'), ['own']);
  assert.deepEqual(await namesFor('developer', 'ci/none.yml'), ['Please provide content of .gitlab-ci.yml']);
  const elsewhere = `jobs.yml@${secret.path_with_namespace}`;
  assert.deepEqual(await namesFor('owner', elsewhere), ['more', 'private job']);
  assert.deepEqual(await namesFor('owner', `${elsewhere}:main`), ['more', 'private job']);
  const denied = `Project \`${secret.path_with_namespace}\` not found or access denied! Make sure any includes in the pipeline configuration are correctly defined.`;
  assert.deepEqual(await namesFor('developer', elsewhere), [denied]);
  assert.deepEqual(await namesFor('developer', 'https://127.0.0.1/x.yml'), [
    'Remote file could not be fetched because the address is blocked: Requests to localhost are not allowed!',
  ]);
  for (const ci_config_path of ['/a.yml', 'a/../b.yml', '../b.yml', '..'])
    assert.deepEqual((await as('owner').put(path, { ci_config_path })).body, {
      message: { ci_config_path: ['cannot include leading slash or directory traversal.'] },
    });
  assert.equal((await as('owner').put(path, { ci_config_path: 'x'.repeat(256) })).status, 400);
  assert.deepEqual(await namesFor('developer', null), ['Please provide content of .gitlab-ci.yml']);

  // A text of a developer gets no more than the file.
  const content = `include: {project: ${secret.path_with_namespace}, file: jobs.yml}`;
  const { body } = await as('developer').post(lintPath(here), { content });
  assert.deepEqual([body.errors, body.merged_yaml], [[denied], null]);
});

test('values of masked variables are in no text', async () => {
  const here = await world();
  const value = 'correct-horse-battery';
  const variable = { key: 'SECRET', value, masked: true };
  assert.equal((await here.as('owner').post(`/projects/${here.project.id}/variables`, variable)).status, 201);
  const content = 'include: "$SECRET.yml"\nrules: {script: x}';
  await write(here, here.project, { readme: 'x' });
  const { body } = await here.as('developer').post(lintPath(here), { content, ref: 'main', dry_run: true });
  assert.deepEqual(body.errors, ['Local file `[MASKED].yml` does not exist!']);
  assert.ok(!JSON.stringify(body).includes(value));
});
