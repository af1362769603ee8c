import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performQueued } from '../../../../../test/support/jobs.ts';
import { addFork, addMergeRequest } from '../../../../../test/support/merge_requests.ts';
import { filledWorld } from '../../../../../test/support/repository.ts';
import type { Persona, World } from '../../../../../test/support/world.ts';
import { followThreads } from '../versions/follow_jobs.ts';
import { followMergeRequests, prepareMergeRequest } from '../versions/jobs.ts';

const jobs = [prepareMergeRequest, followMergeRequests, followThreads];
const fence = (info: string, text: string) => `Better:\n\n\`\`\`${info}\n${text}\`\`\`\n`;
const lines = ['one', 'two', 'three', 'four', 'five', 'six'];
const fileOf = (all: readonly string[]) => all.map((line) => `${line}\n`).join('');

/** A world with a merge request of `topic`, which adds two files. */
async function proposed() {
  const here = await filledWorld();
  const actions = ['a.txt', 'b.txt'].map((file_path) => ({ action: 'create', file_path, content: fileOf(lines) }));
  await commit(here, actions, { start_branch: 'main' });
  const { diff_refs } = await addMergeRequest(here);
  await performQueued(here.services, jobs);
  return { here, diff_refs };
}

async function commit({ as, project }: World, actions: object[], rest = {}, by: Persona = 'developer') {
  const change = { branch: 'topic', commit_message: 'Change files', actions, ...rest };
  const made = await as(by).post(`/projects/${project.id}/repository/commits`, change);
  assert.equal(made.status, 201, JSON.stringify(made.body));
}

const nameOf = ({ people }: World, persona: Persona) => people[persona].username.replaceAll('-', ' ');
const url = ({ project }: World) => `/projects/${project.id}/merge_requests/1`;
const contentOf = async ({ as, project }: World, file: string, ref = 'topic') =>
  (await as('reporter').get(`/projects/${project.id}/repository/files/${file}/raw`, { ref })).body;

async function suggest(here: World, refs: object, body: string, place: object, by: Persona = 'reporter') {
  const position = { ...refs, position_type: 'text', new_path: 'a.txt', ...place };
  const begun = await here.as(by).post(`${url(here)}/discussions`, { body, position });
  assert.equal(begun.status, 201, JSON.stringify(begun.body));
  return begun.body.notes[0];
}

test('suggestions replace lines around their note, follow the code, and are applied once in a commit of their author', async () => {
  const { here, diff_refs } = await proposed();
  const { as, people, project, services } = here;
  const note = await suggest(here, diff_refs, fence('suggestion:-1+1', 'zwei\ndrei\n'), { new_line: 3 });
  const { id: suggestion_id } = note.suggestions[0];
  const shown = { applicable: true, appliable: true, applied: false };
  const contents = { from_content: 'two\nthree\nfour\n', to_content: 'zwei\ndrei\n' };
  assert.deepEqual(note.suggestions, [{ id: suggestion_id, from_line: 2, to_line: 4, ...shown, ...contents }]);

  // At the end of the file, of nothing, and where there can be none.
  const several =
    fence('suggestion:-900+900', '') + fence('suggestion', 'SIX\n') + fence('ts', 'x\n') + fence('suggestions', 'x\n');
  const more = await suggest(here, diff_refs, several, { new_line: 6, new_path: 'b.txt' });
  assert.deepEqual(
    more.suggestions.map(({ from_line, to_line, to_content }: Record<string, unknown>) => [
      from_line,
      to_line,
      to_content,
    ]),
    [
      [1, 6, ''],
      [6, 6, 'SIX\n'],
    ],
  );
  const file = await suggest(here, diff_refs, fence('suggestion', 'x\n'), { position_type: 'file' });
  assert.deepEqual(file.suggestions, []);
  const plain = (await as('reporter').post(`${url(here)}/notes`, { body: fence('suggestion', 'x\n') })).body;
  assert.equal(plain.suggestions, undefined);
  const edited = await as('reporter').put(`${url(here)}/notes/${more.id}`, { body: fence('suggestion', 'sechs\n') });
  assert.deepEqual(
    edited.body.suggestions.map(({ to_content }: { to_content: string }) => to_content),
    ['sechs\n'],
  );

  // A line above moves it, also before the job has run.
  await commit(here, [{ action: 'update', file_path: 'a.txt', content: fileOf(['zero', ...lines]) }]);
  assert.deepEqual(
    [
      (await as('reporter').put(`/suggestions/${suggestion_id}/apply`)).status,
      (await as('outsider').put(`/suggestions/${suggestion_id}/apply`)).body,
    ],
    [403, { message: 'Suggestion is not applicable as the suggestion was not found.' }],
  );
  const applied = await as('developer').put(`/suggestions/${suggestion_id}/apply`);
  assert.deepEqual(
    [applied.status, applied.body],
    [200, { ...note.suggestions[0], ...shown, applicable: false, appliable: false, applied: true }],
  );
  assert.equal(await contentOf(here, 'a.txt'), fileOf(['zero', 'one', 'zwei', 'drei', 'five', 'six']));
  const [made] = (await as('reporter').get(`/projects/${project.id}/repository/commits`, { ref_name: 'topic' })).body;
  assert.deepEqual(
    [made.message, made.author_name, made.committer_name],
    ['Apply 1 suggestion(s) to 1 file(s)', nameOf(here, 'reporter'), nameOf(here, 'developer')],
  );
  const thread = (await as('reporter').get(`${url(here)}/notes/${note.id}`)).body;
  assert.deepEqual([thread.resolved, thread.resolved_by.username], [true, people.developer.username]);
  const again = await as('developer').put(`/suggestions/${suggestion_id}/apply`);
  assert.deepEqual([again.status, again.body], [400, { message: "Can't apply this suggestion." }]);

  await performQueued(services, jobs);
  const [rest] = edited.body.suggestions;
  const change = (content: string) => commit(here, [{ action: 'update', file_path: 'b.txt', content }]);
  await change(fileOf(['top', ...lines]));
  await performQueued(services, jobs);
  const followed = (await as('reporter').get(`${url(here)}/notes/${more.id}`)).body.suggestions[0];
  assert.deepEqual([followed.from_line, followed.applicable], [7, true]);
  await change(fileOf(['top', ...lines.slice(0, -1), 'other']));
  await performQueued(services, jobs);
  assert.equal((await as('reporter').get(`${url(here)}/notes/${more.id}`)).body.suggestions[0].applicable, false);
  const late = await as('developer').put(`/suggestions/${rest.id}/apply`);
  assert.deepEqual(
    [late.status, late.body.message],
    [400, "Can't apply as this line was changed in a more recent version."],
  );
});

test('several suggestions are applied in one commit, with the message of the project, all or none', async () => {
  const { here, diff_refs } = await proposed();
  const { as, people, project } = here;
  const one = (await suggest(here, diff_refs, fence('suggestion', 'ONE\n'), { new_line: 1 })).suggestions[0];
  const both = (await suggest(here, diff_refs, fence('suggestion:-1+0', 'ZWEI\n'), { new_line: 2 }, 'maintainer'))
    .suggestions[0];
  const other = (
    await suggest(here, diff_refs, fence('suggestion', ''), { new_line: 2, new_path: 'b.txt' }, 'maintainer')
  ).suggestions[0];
  const same = (await suggest(here, diff_refs, fence('suggestion', 'five\n'), { new_line: 5 })).suggestions[0];
  const apply = async (ids: number[], rest = {}, by: Persona = 'developer') => {
    const { status, body } = await as(by).put('/suggestions/batch_apply', { ids, ...rest });
    return status === 200 ? 200 : `${status} ${body.message}`;
  };
  const lastOf = async () =>
    (await as('reporter').get(`/projects/${project.id}/repository/commits`, { ref_name: 'topic' })).body[0];
  const before = await lastOf();
  assert.equal(await apply([one.id, both.id]), '400 Suggestions are not applicable as their lines cannot overlap.');
  assert.equal(await apply([one.id, same.id]), '400 This suggestion already matches its content.');
  assert.equal(
    await apply([one.id, 0]),
    '404 Suggestions are not applicable as one or more suggestions were not found.',
  );
  assert.equal(await apply([one.id], {}, 'reporter'), '403 403 Forbidden');
  await as('maintainer').post(`/projects/${project.id}/protected_branches`, { name: 'topic', push_access_level: 40 });
  assert.equal(await apply([one.id]), '403 403 Forbidden');
  await as('maintainer').delete(`/projects/${project.id}/protected_branches/topic`);
  await as('owner').post(`/projects/${project.id}/push_rule`, { commit_message_regex: '^Apply' });
  assert.match(String(await apply([one.id], { commit_message: 'Change' })), /^400 Commit message/);
  assert.equal((await lastOf()).id, before.id);
  assert.equal(same.applicable, false);

  const template =
    '%{username} applies %{suggestions_count} to %{file_paths} of %{branch_name} in %{project_path}: %{unknown}\n\n%{co_authored_by}';
  await as('owner').put(`/projects/${project.id}`, { suggestion_commit_message: `Apply: ${template}` });
  assert.equal(await apply([other.id, one.id, one.id]), 200);
  const made = await lastOf();
  const { full_path } = (await here.services.db
    .selectFrom('projects')
    .select('full_path')
    .where('id', '=', project.id)
    .executeTakeFirst())!;
  assert.deepEqual(made.message.split('\n').slice(0, 2), [
    `Apply: ${people.developer.username} applies 2 to a.txt, b.txt of topic in ${full_path}: %{unknown}`,
    '',
  ]);
  assert.deepEqual(
    made.message
      .split('\n')
      .slice(2)
      .map((line: string) => line.replace(/ <.*/, ''))
      .sort(),
    [nameOf(here, 'reporter'), nameOf(here, 'maintainer')].map((name) => `Co-authored-by: ${name}`).sort(),
  );
  assert.equal(made.author_name, nameOf(here, 'developer'));
  assert.equal(await contentOf(here, 'a.txt'), fileOf(['ONE', ...lines.slice(1)]));
  assert.equal(await contentOf(here, 'b.txt'), fileOf(['one', ...lines.slice(2)]));
  assert.equal(await apply([both.id]), "400 Can't apply as these lines were changed in a more recent version.");

  const late = (await suggest(here, diff_refs, fence('suggestion', 'FOUR\n'), { new_line: 4 })).suggestions[0];
  await commit(here, [{ action: 'delete', file_path: 'a.txt' }], { commit_message: 'Apply nothing' });
  assert.equal(await apply([late.id]), '400 A file was not found.');
  await as('developer').put(url(here), { state_event: 'close' });
  assert.match(String(await apply([late.id])), /^400 This merge request is closed\./);
  await as('developer').put(url(here), { state_event: 'reopen' });
  await as('developer').delete(`/projects/${project.id}/repository/branches/topic`);
  assert.equal(await apply([late.id]), "400 Can't apply as the source branch was deleted.");
});

test('suggestions on a merge request from a fork are applied in the fork by users who may push there', async () => {
  const { here } = await proposed();
  const { as, project, services } = here;
  await as('owner').put(`/groups/${here.group.id}`, { visibility: 'public' });
  await as('owner').put(`/projects/${project.id}`, { visibility: 'public' });
  const fork = await addFork(here, 'outsider');
  const inFork = { ...here, project: fork } as World;
  await commit(
    inFork,
    [{ action: 'create', file_path: 'crlf.txt', content: 'one\r\ntwo' }],
    { branch: 'peas', start_branch: 'main' },
    'outsider',
  );
  const asked = { title: 'Peas', source_branch: 'peas', target_branch: 'main', target_project_id: project.id };
  const { iid, diff_refs } = (await as('outsider').post(`/projects/${fork.id}/merge_requests`, asked)).body;
  await performQueued(services, jobs);
  const position = { ...diff_refs, position_type: 'text', new_path: 'crlf.txt', new_line: 2 };
  const body = fence('suggestion:-1+0', 'eins\nzwei\n');
  const begun = await as('developer').post(`/projects/${project.id}/merge_requests/${iid}/discussions`, {
    body,
    position,
  });
  const [
    {
      id: note_id,
      suggestions: [suggestion],
    },
  ] = begun.body.notes;
  assert.equal(suggestion.to_content, 'eins\r\nzwei');
  assert.equal((await as('maintainer').put(`/suggestions/${suggestion.id}/apply`)).status, 403);
  const applied = await as('outsider').put(`/suggestions/${suggestion.id}/apply`, {
    commit_message: 'Take %{files_count}',
  });
  assert.deepEqual([applied.status, applied.body.applied], [200, true]);
  const raw = await as('outsider').get(`/projects/${fork.id}/repository/files/crlf.txt/raw`, { ref: 'peas' });
  assert.equal(raw.body, 'eins\r\nzwei');
  const note = (await as('outsider').get(`/projects/${project.id}/merge_requests/${iid}/notes/${note_id}`)).body;
  assert.equal(note.resolved, true, 'by the author of the merge request');
});
