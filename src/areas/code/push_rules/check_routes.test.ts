import assert from 'node:assert/strict';
import { test } from 'node:test';
import { personWith } from '../../../../test/support/member_roles.ts';
import { fileUrl, filledWorld, headOf } from '../../../../test/support/repository.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { checkLimits } from './checks.ts';

const checkUrl = ({ project }: World) => `/projects/${project.id}/push_rule/check`;

/** Adds a file on a branch; returns the id of the commit. */
async function add(here: World, file_path: string, commit_message: string, branch = 'main'): Promise<string> {
  const added = await here.as('maintainer').post(fileUrl(here.project, file_path), {
    branch,
    start_branch: 'main',
    commit_message,
    content: file_path,
  });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  return (await headOf(here, branch))!;
}

test('a rule is tried on the newest commits, and nothing is stored', async () => {
  const here = await filledWorld();
  const maintainer = here.as('maintainer');
  const first = (await headOf(here))!;
  const second = await add(here, 'a.exe', 'Good');
  const third = await add(here, 'b/id_rsa', 'Bad');

  const tried = await maintainer.post(checkUrl(here), {
    commit_message_regex: '^Good',
    file_name_regex: '\\.exe$',
    prevent_secrets: true,
  });
  assert.equal(tried.status, 200);
  const message = "Commit message does not follow the pattern '^Good'";
  assert.deepEqual(tried.body, {
    checked: { commits: 3, files: 3 },
    violations: [
      { rule: 'commit_message_regex', commit_id: third, file_path: null, message },
      { rule: 'commit_message_regex', commit_id: first, file_path: null, message },
      {
        rule: 'prevent_secrets',
        commit_id: third,
        file_path: 'b/id_rsa',
        message: 'File name b/id_rsa was prohibited by the pattern "id_rsa$".',
      },
      {
        rule: 'file_name_regex',
        commit_id: second,
        file_path: 'a.exe',
        message: 'File name a.exe was prohibited by the pattern "\\.exe$".',
      },
    ],
    violations_count: 4,
  });
  assert.equal((await maintainer.get(`/projects/${here.project.id}/push_rule`)).body, null);

  const newest = await maintainer.post(checkUrl(here), {
    commits: 1,
    commit_message_regex: '^Good',
    file_name_regex: '\\.exe$',
  });
  assert.deepEqual(newest.body.checked, { commits: 1, files: 1 });
  assert.equal(newest.body.violations_count, 1);
  const older = await maintainer.post(checkUrl(here), { ref: second, commits: 1, file_name_regex: '\\.exe$' });
  assert.deepEqual(older.body.violations[0].commit_id, second);
});

test('omitted fields are taken from the stored rule', async () => {
  const here = await filledWorld();
  const maintainer = here.as('maintainer');
  await add(here, 'a.txt', 'Good', 'topic');
  const rule = { branch_name_regex: '^feature/', reject_unsigned_commits: true, max_file_size: 1 };
  assert.equal((await maintainer.post(`/projects/${here.project.id}/push_rule`, rule)).status, 201);

  const onTopic = await maintainer.post(checkUrl(here), { ref: 'topic', commits: 1 });
  assert.deepEqual(
    onTopic.body.violations.map(({ rule, message }: { rule: string; message: string }) => [rule, message]),
    [
      ['branch_name_regex', "Branch name 'topic' does not follow the pattern '^feature/'"],
      ['reject_unsigned_commits', 'Commit must be signed'],
    ],
  );
  const without = await maintainer.post(checkUrl(here), {
    ref: 'topic',
    reject_unsigned_commits: false,
    branch_name_regex: null,
  });
  assert.deepEqual([without.body.violations, without.body.checked.commits], [[], 2]);
});

test('at most a hundred violations are listed, and all are counted', async () => {
  const here = await filledWorld();
  const actions = Array.from({ length: 120 }, (_, index) => ({
    action: 'create',
    file_path: `f${index}.exe`,
    content: 'x',
  }));
  const commit = { branch: 'main', commit_message: 'Add', actions };
  assert.equal(
    (await here.as('maintainer').post(`/projects/${here.project.id}/repository/commits`, commit)).status,
    201,
  );
  const tried = await here.as('maintainer').post(checkUrl(here), { file_name_regex: 'exe' });
  assert.deepEqual([tried.body.violations.length, tried.body.violations_count], [100, 120]);
  assert.deepEqual(tried.body.checked, { commits: 2, files: 121 });
});

test('an empty project has nothing to check, and an unknown ref is not found', async () => {
  const here = await world();
  const maintainer = here.as('maintainer');
  const empty = await maintainer.post(checkUrl(here), { member_check: true });
  assert.deepEqual(
    [empty.status, empty.body],
    [200, { checked: { commits: 0, files: 0 }, violations: [], violations_count: 0 }],
  );
  const unknown = await maintainer.post(checkUrl(here), { ref: 'nowhere' });
  assert.deepEqual([unknown.status, unknown.body], [404, { message: '404 Ref Not Found' }]);
});

test('invalid parameters are refused like those of a rule', async () => {
  const here = await filledWorld();
  const maintainer = here.as('maintainer');
  for (const [given, message] of [
    [{ commits: 0 }, 'commits does not have a valid value'],
    [{ commits: 10_001 }, 'commits does not have a valid value'],
    [{ branch_name_regex: '(' }, { branch_name_regex: ['not valid RE2 syntax: missing closing ): `(`'] }],
    [{ max_file_size: -1 }, { max_file_size: ['must be greater than or equal to 0'] }],
  ] as const) {
    const refused = await maintainer.post(checkUrl(here), given);
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
});

test('a check that takes too long is refused', async (t) => {
  const here = await filledWorld();
  const { budget_ms } = checkLimits;
  t.after(() => Object.assign(checkLimits, { budget_ms }));
  Object.assign(checkLimits, { budget_ms: 0 });
  const late = await here.as('maintainer').post(checkUrl(here), { commit_message_regex: 'x' });
  assert.deepEqual([late.status, late.body], [400, { message: 'Push operation timed out' }]);
});

test('only callers who may set the rule and read the code try one', async () => {
  const here = await filledWorld();
  for (const [persona, status] of [
    ['anonymous', 401],
    ['outsider', 404],
    ['developer', 403],
    ['maintainer', 200],
  ] as const)
    assert.equal((await here.as(persona).post(checkUrl(here), { member_check: true })).status, status, persona);
  const place = `/projects/${here.project.id}`;
  const reporter = await personWith(here, place, ['admin_push_rules'], 20);
  assert.equal((await reporter.client.post(checkUrl(here), {})).status, 200);
  // Messages and paths would tell a guest what they cannot read.
  const guest = await personWith(here, place, ['admin_push_rules']);
  assert.equal((await guest.client.post(checkUrl(here), {})).status, 403);
  assert.equal((await guest.client.get(`${place}/push_rule`)).status, 200);
});
