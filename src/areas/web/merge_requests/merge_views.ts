/** Whether a merge request can be merged, the reasons against it, and the forms to resolve them. */
import type { Static } from 'typebox';
import { commitKind } from '../../../access/index.ts';
import type { Page, Plan } from '../../../http/index.ts';
import { reaches } from '../../../http/index.ts';
import {
  type Content,
  form,
  type Html,
  hidden,
  html,
  people,
  rows,
  type Seen,
  state,
  time,
} from '../../../pages/index.ts';
import type { CommitStatus } from '../../code/commit_statuses/index.ts';
import type { Approvals } from '../../work/merge_requests/index.ts';
import { projectOf, type ShownMergeRequest, toMergeRequest } from './views.ts';

export type ShownApprovals = Static<typeof Approvals>;
export type Statuses = Page<Static<typeof CommitStatus>> | undefined;

/** A sentence for each status (docs/reference/merge_requests.md#merge-status). */
const sentences: Record<string, string> = {
  mergeable: 'It can be merged.',
  not_open: 'It is not open.',
  draft_status: 'It is a draft. Mark it as ready first.',
  merge_time: 'It is to be merged later.',
  commits_status: 'A branch is missing, or the source branch has nothing that the target branch lacks.',
  discussions_not_resolved: 'A thread is open, and the project wants all of them to be resolved.',
  requested_changes: 'A reviewer asks for changes.',
  merge_request_blocked: 'Another merge request has to be merged first.',
  not_approved: 'Approvals are missing.',
  security_policy_violations: 'Approvals that security policies ask for are missing.',
  approvals_syncing: 'The approvals are being brought up to date after a push.',
  ci_still_running: 'The project wants the statuses of the last commit to succeed. They are still under way.',
  ci_must_pass: 'The project wants the statuses of the last commit to succeed. One has failed, or there are none.',
  conflict: 'The branches conflict.',
  need_rebase:
    'The target branch has new commits, and the project merges only what is based on all of them. Rebase it first.',
  unchecked: 'It has not been checked yet.',
  checking: 'It is being checked. Reload the page in a moment.',
};

/** These statuses resolve by themselves, or by actions of other users. */
const waitsFor = [
  'ci_still_running',
  'ci_must_pass',
  'not_approved',
  'security_policy_violations',
  'discussions_not_resolved',
  'requested_changes',
  'merge_request_blocked',
];

/** What security policies ask for: which, how much, and why. */
const policiesView = ({ security_policies }: ShownApprovals): readonly Html[] =>
  security_policies.map(
    ({
      name,
      approvals_left,
      reasons,
    }) => html`<p>The policy <strong>${name}</strong> asks for ${approvals_left} more.</p>
<ul>${reasons.map((reason) => html`<li>${reason}</li>`)}</ul>`,
  );

/** The most people who are named. */
const mostNamed = 10;

/** Whose approvals are missing. */
const missingView = ({ approvals_left, suggested_approvers: approvers }: ShownApprovals): Content =>
  approvals_left > 0 &&
  approvers.length > 0 &&
  html`<p>May approve: ${people(approvers.slice(0, mostNamed))}${approvers.length > mostNamed && ` and ${approvers.length - mostNamed} more`}.</p>`;

function approvalsView(seen: Seen, merge_request: ShownMergeRequest, approvals: ShownApprovals, plan: Plan): Html {
  const { approved_by, approvals_left, user_can_approve, user_has_approved, require_password_to_approve } = approvals;
  const given = approved_by.map(({ user }) => user);
  const password = {
    name: 'approval_password',
    label: 'Your password',
    kind: 'password' as const,
    autocomplete: 'current-password',
  };
  return html`<h3>Approvals</h3>
<p>${given.length > 0 ? html`Approved by ${people(given)}.` : 'Nobody has approved it yet.'}${
    reaches(plan, 'premium') && approvals_left > 0 && ` ${approvals_left} more needed.`
  }</p>
${policiesView(approvals)}
${missingView(approvals)}
${
  user_can_approve &&
  form(seen, 'approve', {
    fields: [hidden('sha', merge_request.sha), ...(require_password_to_approve ? [password] : [])],
    button: 'Approve',
  })
}${user_has_approved && form(seen, 'unapprove', { button: 'Take back the approval', look: 'plain' })}${
  seen.caller &&
  reaches(plan, 'premium') &&
  html`<p><a href="${`${toMergeRequest(merge_request)}/approval_rules`}">Approval rules of this merge request</a></p>`
}`;
}

const pipelineView = ({ head_pipeline }: ShownMergeRequest): Content =>
  head_pipeline &&
  html`<p>${state(head_pipeline.status)} <a href="${new URL(head_pipeline.web_url).pathname}">Pipeline #${head_pipeline.iid}</a> of ${head_pipeline.ref}</p>`;

const statusesView = (statuses: Statuses): Content =>
  statuses &&
  statuses.items.length > 0 &&
  html`<h3>Statuses of the last commit</h3>${rows(
    statuses.items.map(
      ({ name, status, description, target_url, finished_at }) =>
        html`${state(status)} ${target_url ? html`<a href="${target_url}" rel="nofollow noopener">${name}</a>` : name} <span class="soft">${description} ${time(finished_at)}</span>`,
    ),
    '',
  )}${statuses.has_more && html`<p class="soft">Only the first ${statuses.items.length} are shown.</p>`}`;

function mergeForms(seen: Seen, merge_request: ShownMergeRequest): Content {
  const { detailed_merge_status, squash_on_merge, should_remove_source_branch, force_remove_source_branch } =
    merge_request;
  if (merge_request.merge_when_pipeline_succeeds)
    return html`<p>It is merged as soon as nothing prevents it.</p>${form(seen, 'cancel_auto_merge', { button: 'Cancel', look: 'plain' })}`;
  if (merge_request.user?.can_merge !== true) return html`<p class="soft">You may not merge into this branch.</p>`;
  const isReady = detailed_merge_status === 'mergeable';
  if (!isReady && !waitsFor.includes(detailed_merge_status)) return undefined;
  return form(seen, isReady ? 'merge' : 'auto_merge', {
    fields: [
      { name: 'squash', label: 'Make one commit of all', kind: 'checkbox', value: squash_on_merge },
      {
        name: 'should_remove_source_branch',
        label: 'Remove the source branch',
        kind: 'checkbox',
        value: should_remove_source_branch ?? force_remove_source_branch ?? false,
      },
      hidden('sha', merge_request.sha),
    ],
    button: isReady ? 'Merge' : 'Merge as soon as nothing prevents it',
  });
}

/** Draft prefixes of a title. */
const draftMarks = /^(\s*(draft:|\[draft\]|\(draft\))\s*)+/i;

function openView(seen: Seen, merge_request: ShownMergeRequest): Html {
  const { detailed_merge_status, merge_error, draft, title, rebase_in_progress } = merge_request;
  return html`<p><strong>${sentences[detailed_merge_status] ?? detailed_merge_status}</strong>${detailed_merge_status === 'merge_request_blocked' && html` <a href="${`${toMergeRequest(merge_request)}/related`}">See what it waits for</a>`}${detailed_merge_status === 'conflict' && html` <a href="${`${toMergeRequest(merge_request)}/conflicts`}" rel="nofollow">See the conflicts</a>`}</p>
${merge_error && html`<p class="refusal">${merge_error}</p>`}
${draft && form(seen, 'ready', { fields: [hidden('title', title.replace(draftMarks, ''))], button: 'Mark as ready', look: 'plain' })}
${rebase_in_progress ? html`<p>It is being rebased.</p>` : detailed_merge_status === 'need_rebase' && form(seen, 'rebase', { button: 'Rebase', look: 'plain' })}
${mergeForms(seen, merge_request)}`;
}

/** What can be done with the commit of a merge. */
const againView = (id: string, sha: string): Html =>
  html`<p class="actions"><a class="button" href="${`${commitKind.page(id, sha)}/revert`}">Revert</a> <a class="button" href="${`${commitKind.page(id, sha)}/cherry_pick`}">Cherry-pick</a></p>`;

/** The merge box, which comes before the discussion of a merge request. */
export const mergeBox = (
  seen: Seen,
  merge_request: ShownMergeRequest,
  approvals: ShownApprovals | undefined,
  statuses: Statuses,
): Html => {
  const merged = merge_request.merge_commit_sha ?? merge_request.squash_commit_sha;
  return html`<section class="notice" aria-labelledby="merging">
<h2 id="merging">Merging</h2>
${
  merge_request.state === 'merged'
    ? html`<p>Merged by ${people(merge_request.merge_user ? [merge_request.merge_user] : [])} ${time(merge_request.merged_at)}${
        merged &&
        html` as <a href="${commitKind.page(projectOf(merge_request), merged)}"><code>${merged.slice(0, 8)}</code></a>`
      }.</p>${merged && seen.caller && againView(projectOf(merge_request), merged)}`
    : merge_request.state === 'opened'
      ? openView(seen, merge_request)
      : html`<p>${sentences.not_open}</p>`
}
${approvals && approvalsView(seen, merge_request, approvals, seen.caller?.plan ?? 'free')}
${pipelineView(merge_request)}${statusesView(statuses)}
</section>`;
};
