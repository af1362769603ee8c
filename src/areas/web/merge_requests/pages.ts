/** One merge request (docs/reference/work_pages.md). */
import { mergeRequestKind } from '../../../access/index.ts';
import { type Content, facts, html, page, people, rows, state } from '../../../pages/index.ts';
import { CommitStatus } from '../../code/commit_statuses/index.ts';
import { AwardEmoji } from '../../conversation/award_emoji/index.ts';
import { Issue } from '../../work/issues/index.ts';
import { Approvals, MergeRequest } from '../../work/merge_requests/index.ts';
import { conversationForms } from '../issuables/form_rules.ts';
import { pathOf } from '../issuables/present.ts';
import { textsOf, timelineOf } from '../issuables/timeline_present.ts';
import { timelineView } from '../issuables/timeline_views.ts';
import { labelsView, reactionsView, stateForms } from '../issuables/views.ts';
import { mergeBox } from './merge_views.ts';
import { projectOf, type ShownMergeRequest, sectionView, toMergeRequest } from './views.ts';

const factsView = (merge_request: ShownMergeRequest) =>
  facts([
    ['Assignees', merge_request.assignees.length > 0 && people(merge_request.assignees)],
    ['Reviewers', merge_request.reviewers.length > 0 && people(merge_request.reviewers)],
    ['Labels', merge_request.labels.length > 0 && labelsView(merge_request.labels, pathOf(merge_request.web_url))],
    [
      'Milestone',
      merge_request.milestone &&
        html`<a href="${pathOf(merge_request.milestone.web_url)}">${merge_request.milestone.title}</a>`,
    ],
    ['Time spent', merge_request.time_stats.human_total_time_spent],
    ['Time estimated', merge_request.time_stats.human_time_estimate],
  ]);

interface ClosedIssues {
  items: readonly { title: string; web_url: string; state: string; references: { full: string } }[];
}

const closedView = (found: ClosedIssues | undefined): Content =>
  found &&
  found.items.length > 0 &&
  html`<h2>Issues that it closes</h2>${rows(
    found.items.map(
      (issue) =>
        html`${state(issue.state)} <a href="${pathOf(issue.web_url)}">${issue.title}</a> <span class="soft">${issue.references.full}</span>`,
    ),
    '',
  )}`;

export const mergeRequestPage = page('/:id/-/merge_requests/:merge_request_iid', {
  load: async (call) => {
    const { one, list, perhaps } = call;
    const [merge_request, timeline, approvals, closes, awards] = await Promise.all([
      one(MergeRequest, 'getMergeRequest', { include_rebase_in_progress: true }),
      timelineOf(call, 'MergeRequest'),
      perhaps(one(Approvals, 'getMergeRequestApprovals')),
      perhaps(list(Issue, 'listIssuesClosedByMergeRequest', { per_page: 100 })),
      list(AwardEmoji, 'listMergeRequestAwardEmoji', { per_page: 100 }),
    ]);
    const { sha, source_project_id, project_id, description } = merge_request;
    const place = { kind: 'project' as const, id: project_id, full_path: projectOf(merge_request) };
    const [said, statuses] = await Promise.all([
      textsOf(call, place, timeline.threads.items, description),
      sha === null || source_project_id === null
        ? undefined
        : perhaps(list(CommitStatus, 'listCommitStatuses', { id: source_project_id, sha, per_page: 50 })),
    ]);
    return { merge_request, timeline, ...said, approvals, closes, awards: awards.items, statuses };
  },
  forms: {
    ...conversationForms('MergeRequest'),
    approve: { runs: 'approveMergeRequest' },
    unapprove: { runs: 'unapproveMergeRequest' },
    merge: { runs: 'mergeMergeRequest' },
    auto_merge: { runs: 'mergeMergeRequest', parameters: { auto_merge: true } },
    cancel_auto_merge: { runs: 'cancelAutoMerge' },
    rebase: { runs: 'rebaseMergeRequest' },
    ready: { runs: 'updateMergeRequest' },
    resolve: { runs: 'resolveMergeRequestDiscussion' },
  },
  view: ({ merge_request, timeline, description, texts, approvals, closes, awards, statuses }, seen) =>
    sectionView(
      merge_request,
      '',
      html`<div class="columns">
<div>
<h2 class="visually-hidden">Description</h2>
<div class="text">${description ?? html`<p class="soft">No description.</p>`}</div>
${reactionsView(seen, awards)}
${mergeBox(seen, merge_request, approvals, statuses)}
${closedView(closes)}
${timelineView(seen, timeline, texts)}
</div>
<section aria-label="About the merge request">
<div class="actions">${seen.may('ready') && html`<a class="button" href="${`${mergeRequestKind.page(projectOf(merge_request), merge_request.iid)}/edit`}">Edit</a>`} ${stateForms(seen, merge_request.state, merge_request.subscribed)}</div>
${factsView(merge_request)}
<p><a href="${`${toMergeRequest(merge_request)}.diff`}">All changes as text</a></p>
</section>
</div>`,
    ),
});
