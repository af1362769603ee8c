/** The TypeScript client @gitbeaker/rest: merge requests from a branch to its removal, what is said of them, and their lists. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { concludeMerges, prepareMergeRequest, rebaseSource } from '../../src/areas/work/merge_requests/index.ts';
import { performQueued } from '../support/jobs.ts';
import { addBranch, addFork, addMergeRequest, worldWithTopic } from '../support/merge_requests.ts';
import { headOf } from '../support/repository.ts';
import type { Persona, World } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientFor = ({ url, people }: World, persona: Persona) => new Gitlab({ host: url, token: people[persona].token });

const idsOf = (all: readonly { id: number }[]) => all.map(({ id }) => id);

test('a merge request is created, shown, updated, compared, merged and deleted', async () => {
  const here = await worldWithTopic();
  const { id } = here.project;
  const { developer, reporter, maintainer } = here.people;
  const { MergeRequests, MergeRequestContextCommits, Branches, Commits } = clientFor(here, 'developer');
  const made = await MergeRequests.create(id, 'topic', 'main', 'Draft: Sow the beans', {
    description: '- [ ] dig\n- [x] water',
    assigneeIds: [developer.id],
    reviewerIds: [reporter.id, maintainer.id],
    labels: 'garden,spring',
    removeSourceBranch: true,
    squash: true,
  });
  assert.deepEqual(
    [made.iid, made.state, made.draft, made.labels, made.force_remove_source_branch, made.squash, made.changes_count],
    [1, 'opened', true, ['garden', 'spring'], true, true, null],
  );
  assert.deepEqual(
    [idsOf(made.assignees ?? []), idsOf(made.reviewers ?? [])],
    [[developer.id], [reporter.id, maintainer.id]],
  );
  const twin = await refusal(MergeRequests.create(id, 'topic', 'main', 'Again'));
  assert.deepEqual(
    [twin.status, twin.text],
    [409, '["Another open merge request already exists for this source branch: !1"]'],
  );

  const edited = await MergeRequests.edit(id, 1, {
    title: 'Sow the beans',
    removeLabels: 'spring',
    addLabels: 'soil',
    assigneeId: 0,
    reviewerIds: [reporter.id],
    stateEvent: 'close',
  });
  assert.deepEqual(
    [edited.state, edited.draft, edited.labels, edited.assignees],
    ['closed', false, ['garden', 'soil'], []],
  );
  assert.equal((await MergeRequests.edit(id, 1, { stateEvent: 'reopen' })).state, 'opened');
  await performQueued(here.services, [prepareMergeRequest]);
  const shown = await MergeRequests.show(id, 1);
  assert.deepEqual([shown.detailed_merge_status, shown.changes_count, shown.has_conflicts], ['mergeable', '1', false]);

  assert.deepEqual(
    (await MergeRequests.allCommits(id, 1)).map(({ id: commit }) => commit),
    [shown.sha],
  );
  assert.deepEqual(
    (await MergeRequests.allDiffs(id, 1)).map(({ new_path, new_file }) => [new_path, new_file]),
    [['topic.txt', true]],
  );
  assert.deepEqual(
    (await MergeRequests.showChanges(id, 1)).changes.map(({ diff }) => diff),
    ['@@ -0,0 +1 @@\n+topic\n'],
  );
  assert.deepEqual(
    (await Commits.allMergeRequests(id, shown.sha)).map(({ iid }) => iid),
    [1],
  );
  const base = String(await headOf(here));
  await MergeRequestContextCommits.create(id, [base], { mergerequestIId: 1 });
  assert.deepEqual(
    (await MergeRequestContextCommits.all(id, 1)).map(({ id: commit }) => commit),
    [base],
  );
  const asked = await MergeRequests.show(id, 1, { renderHtml: true, includeDivergedCommitsCount: true });
  assert.deepEqual([asked.title_html, asked.diverged_commits_count], ['Sow the beans', 0]);
  const [version] = await MergeRequests.allDiffVersions(id, 1);
  assert.equal((await MergeRequests.showDiffVersion(id, 1, version!.id)).head_commit_sha, shown.sha);
  assert.deepEqual(idsOf(await MergeRequests.allParticipants(id, 1)), [reporter.id, developer.id]);
  assert.deepEqual(
    (await MergeRequests.showReviewers(id, 1)).map(({ user, state }) => [user.id, state]),
    [[reporter.id, 'unreviewed']],
  );
  assert.deepEqual([await MergeRequests.allPipelines(id, 1), await MergeRequests.allIssuesClosed(id, 1)], [[], []]);

  assert.equal((await refusal(MergeRequests.merge(id, 1))).status, 401, 'the branch is protected');
  const merging = clientFor(here, 'maintainer').MergeRequests;
  const elsewhere = await refusal(merging.merge(id, 1, { sha: 'f'.repeat(40) }));
  assert.deepEqual([elsewhere.status, elsewhere.text], [409, `SHA does not match HEAD of source branch: ${shown.sha}`]);
  const merged = await merging.merge(id, 1, { sha: shown.sha, squashCommitMessage: 'Beans, all of them' });
  assert.deepEqual([merged.state, (merged.merge_user as { id: number }).id], ['merged', maintainer.id]);
  assert.equal((await refusal(merging.accept(id, 1))).status, 405);
  await performQueued(here.services, [concludeMerges]);
  assert.deepEqual(
    (await Branches.all(id)).map(({ name }) => name),
    ['main'],
  );
  assert.equal((await refusal(MergeRequests.remove(id, 1))).status, 403);
  await clientFor(here, 'owner').MergeRequests.remove(id, 1);
  assert.equal((await refusal(MergeRequests.show(id, 1))).status, 404);
});

test('a merge request is rebased, waits for commit statuses, and comes from a fork', async () => {
  const here = await worldWithTopic();
  const { id } = here.project;
  const { iid } = await addMergeRequest(here);
  await addBranch(here, 'main');
  const { MergeRequests, Commits } = clientFor(here, 'maintainer');
  assert.equal((await MergeRequests.rebase(id, iid, { skipCI: true })).rebase_in_progress, true);
  await performQueued(here.services, [rebaseSource]);
  const head = await headOf(here, 'topic');
  await Commits.editStatus(id, head!, 'running', { name: 'tests' });
  const waiting = await MergeRequests.merge(id, iid, { autoMerge: true });
  assert.deepEqual([waiting.state, waiting.merge_when_pipeline_succeeds], ['opened', true]);
  await MergeRequests.cancelOnPipelineSuccess(id, iid);
  assert.equal((await MergeRequests.show(id, iid)).merge_when_pipeline_succeeds, false);
  assert.equal((await refusal(MergeRequests.cancelOnPipelineSuccess(id, iid))).status, 406);

  const fork = await addFork(here, 'developer');
  await addBranch(here, 'beans', fork, 'developer');
  const made = await clientFor(here, 'developer').MergeRequests.create(fork.id, 'beans', 'main', 'More beans', {
    targetProjectId: id,
    allowCollaboration: true,
  });
  assert.deepEqual([made.project_id, made.source_project_id, made.allow_collaboration], [id, fork.id, true]);
});

test('merge requests are listed everywhere, discussed, tracked and reacted to', async () => {
  const here = await worldWithTopic({});
  const { id } = here.project;
  const { developer, reporter } = here.people;
  await addBranch(here, 'other');
  const [one, two] = [
    await addMergeRequest(here, { labels: 'garden', reviewer_ids: [reporter.id] }),
    await addMergeRequest(here, { title: 'Draft: Other', source_branch: 'other' }, 'maintainer'),
  ];
  const client = clientFor(here, 'reporter');
  const { MergeRequests } = client;
  const listed = async (
    options: Omit<NonNullable<Parameters<typeof MergeRequests.all<false, 'offset'>>[0]>, 'showExpanded'>,
  ) => (await MergeRequests.all<false, 'offset'>(options)).map(({ iid }) => iid);
  assert.deepEqual(await listed({ projectId: id, perPage: 1 }), [two.iid, one.iid]);
  assert.deepEqual(await listed({ groupId: here.group.id, authorId: developer.id }), [one.iid]);
  assert.deepEqual(await listed({ projectId: id, not: { labels: 'garden' } }), [two.iid]);
  assert.deepEqual(await listed({ projectId: id, iids: [one.iid], state: 'opened', wip: 'no' }), [one.iid]);
  assert.deepEqual(await listed({ scope: 'all', reviewerId: reporter.id, orderBy: 'updated_at', sort: 'asc' }), [
    one.iid,
  ]);
  assert.deepEqual(await listed({ sourceBranch: 'other', targetBranch: 'main', scope: 'all' }), [two.iid]);
  assert.deepEqual(await listed({}), [], 'of the reporter');
  const [detailed] = await MergeRequests.all({ projectId: id, labels: 'garden', withLabelsDetails: true });
  assert.deepEqual(
    detailed?.labels.map(({ name }) => name),
    ['garden'],
  );

  const note = await client.MergeRequestNotes.create(id, one.iid, 'Deep enough?');
  assert.equal(note.noteable_type, 'MergeRequest');
  const thread = await client.MergeRequestDiscussions.create(id, one.iid, 'And wide?');
  assert.equal((await client.MergeRequestDiscussions.addNote(id, one.iid, thread.id, 'Yes.')).body, 'Yes.');
  assert.equal((await client.MergeRequestNotes.edit(id, one.iid, note.id, { body: 'Deep?' })).body, 'Deep?');
  assert.deepEqual(
    (await client.MergeRequestNotes.all(id, one.iid, { sort: 'desc' })).map(({ body }) => body),
    ['Deep?', `requested review from @${reporter.username}`],
  );
  await client.MergeRequestNotes.remove(id, one.iid, note.id);
  const threads = await client.MergeRequestDiscussions.all(id, one.iid);
  assert.deepEqual(
    threads.filter(({ individual_note }) => !individual_note).map(({ notes }) => notes?.map(({ body }) => body)),
    [['And wide?', 'Yes.']],
  );
  assert.equal((await client.MergeRequestAwardEmojis.award(id, one.iid, 'thumbsup')).name, 'thumbsup');
  assert.equal((await MergeRequests.show(id, one.iid)).upvotes, 1);
  assert.equal((await MergeRequests.unsubscribe(id, one.iid)).subscribed, false, 'their comments had subscribed them');
  assert.equal((await MergeRequests.subscribe(id, one.iid)).subscribed, true);
  assert.equal((await MergeRequests.createTodo(id, one.iid)).target.iid, one.iid);
  const tracking = clientFor(here, 'developer').MergeRequests;
  assert.equal((await tracking.setTimeEstimate(id, one.iid, '2h')).time_estimate, 7200);
  assert.equal((await tracking.addSpentTime(id, one.iid, '1h')).total_time_spent, 3600);
  assert.equal((await MergeRequests.showTimeStats(id, one.iid)).human_total_time_spent, '1h');
  assert.equal((await tracking.resetSpentTime(id, one.iid)).total_time_spent, 0);
  assert.deepEqual(
    (await client.MergeRequestLabelEvents.all(id, one.iid)).map(({ label, action }) => [label.name, action]),
    [['garden', 'add']],
  );
});
