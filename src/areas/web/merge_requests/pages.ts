/** One merge request (docs/reference/work_pages.md). */
import { mergeRequestKind } from '../../../access/index.ts';
import { reaches } from '../../../http/index.ts';
import { type Content, html, page, people, rows, type Seen, state } from '../../../pages/index.ts';
import { CommitStatus } from '../../code/commit_statuses/index.ts';
import { AwardEmoji } from '../../conversation/award_emoji/index.ts';
import { Issue } from '../../work/issues/index.ts';
import { Approvals, MergeRequest } from '../../work/merge_requests/index.ts';
import type { Timeline } from '../issuables/definition.ts';
import { conversationForms } from '../issuables/form_rules.ts';
import { type ColouredLabel, colouredLabels } from '../issuables/label_queries.ts';
import { pathOf } from '../issuables/present.ts';
import { assigningFields, type Property, propertiesView } from '../issuables/property_views.ts';
import { batchForm } from '../issuables/suggestion_views.ts';
import { tickForms } from '../issuables/ticking_rules.ts';
import { timeForms, timeProperty } from '../issuables/time_views.ts';
import { textsOf, timelineOf } from '../issuables/timeline_present.ts';
import { timelineView } from '../issuables/timeline_views.ts';
import { labelsView, reactionsView, stateForms, ticksView } from '../issuables/views.ts';
import { mergeBox } from './merge_views.ts';
import { changingFields } from './property_present.ts';
import { draftsOf, draftView, reviewBox, reviewForms, withTexts } from './review_views.ts';
import { projectOf, type ShownMergeRequest, sectionView, toMergeRequest } from './views.ts';

interface Shown {
  merge_request: ShownMergeRequest;
  labels: readonly ColouredLabel[];
}

/** The properties that are changed in the second column. */
const propertiesOf = ({ merge_request, labels }: Shown, seen: Seen): readonly Property[] => {
  const { caller } = seen;
  const { assignees, reviewers, milestone, time_stats } = merge_request;
  const more = reaches(caller?.plan ?? 'free', 'premium');
  /** Adds the reader to people; below Premium, in place of them. */
  const joined = (name: string, people: typeof assignees, button: string): Property['shortcut'] => {
    const ids = people.map(({ id }) => id);
    if (!caller || ids.includes(caller.id)) return undefined;
    return { button, fields: assigningFields(name, [...(more ? ids : []), caller.id]) };
  };
  return [
    {
      name: 'assignees',
      label: 'Assignees',
      shown: assignees.length > 0 && people(assignees),
      shortcut: joined('assignee_ids', assignees, 'Assign to me'),
    },
    {
      name: 'reviewers',
      label: 'Reviewers',
      shown: reviewers.length > 0 && people(reviewers),
      shortcut: joined('reviewer_ids', reviewers, 'Review it myself'),
    },
    {
      name: 'labels',
      label: 'Labels',
      shown: labels.length > 0 && labelsView(labels, pathOf(merge_request.web_url)),
    },
    {
      name: 'milestone',
      label: 'Milestone',
      shown: milestone && html`<a href="${pathOf(milestone.web_url)}">${milestone.title}</a>`,
    },
    timeProperty(seen, time_stats),
  ];
};

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

const suggestionsIn = ({ threads }: Timeline) =>
  threads.items.flatMap(({ notes }) => notes.flatMap(({ suggestions = [] }) => suggestions));

export const mergeRequestPage = page('/:id/-/merge_requests/:merge_request_iid', {
  load: async (call) => {
    const { one, list, perhaps } = call;
    const [merge_request, timeline, approvals, closes, awards, pending] = await Promise.all([
      one(MergeRequest, 'getMergeRequest', { include_rebase_in_progress: true }),
      timelineOf(call, 'MergeRequest'),
      perhaps(one(Approvals, 'getMergeRequestApprovals')),
      perhaps(list(Issue, 'listIssuesClosedByMergeRequest', { per_page: 100 })),
      list(AwardEmoji, 'listMergeRequestAwardEmoji', { per_page: 100 }),
      draftsOf(call),
    ]);
    const { sha, source_project_id, project_id, description } = merge_request;
    const place = { kind: 'project' as const, id: project_id, full_path: projectOf(merge_request) };
    const [said, changing, labels, drafts, statuses] = await Promise.all([
      textsOf(call, place, timeline.threads.items, { noun: 'MergeRequest', description }),
      changingFields(call, merge_request),
      merge_request.labels.length === 0 ? [] : colouredLabels(call.services.db, 'merge_request', merge_request.id),
      withTexts(call, place, pending),
      sha === null || source_project_id === null
        ? undefined
        : perhaps(list(CommitStatus, 'listCommitStatuses', { id: source_project_id, sha, per_page: 50 })),
    ]);
    return {
      merge_request,
      timeline,
      ...said,
      approvals,
      closes,
      awards: awards.items,
      statuses,
      changing,
      labels,
      drafts,
    };
  },
  forms: {
    ...conversationForms('MergeRequest'),
    ...tickForms('MergeRequest'),
    ...timeForms('MergeRequest'),
    ...reviewForms,
    approve: { runs: 'approveMergeRequest' },
    unapprove: { runs: 'unapproveMergeRequest' },
    merge: { runs: 'mergeMergeRequest' },
    auto_merge: { runs: 'mergeMergeRequest', parameters: { auto_merge: true } },
    cancel_auto_merge: { runs: 'cancelAutoMerge' },
    rebase: { runs: 'rebaseMergeRequest' },
    ready: { runs: 'updateMergeRequest' },
    resolve: { runs: 'resolveMergeRequestDiscussion' },
  },
  view: (
    { merge_request, timeline, description, texts, approvals, closes, awards, statuses, changing, labels, drafts },
    seen,
  ) =>
    sectionView(
      merge_request,
      '',
      html`<div class="columns">
<div>
<h2 class="visually-hidden">Description</h2>
<div class="text">${description ?? html`<p class="soft">No description.</p>`}</div>
${ticksView(seen, description, merge_request.description)}
${reactionsView(seen, awards)}
${mergeBox(seen, merge_request, approvals, statuses)}
${closedView(closes)}
${reviewBox(
  seen,
  drafts,
  drafts.map((each) => draftView(seen, each)),
)}
${batchForm(seen, suggestionsIn(timeline))}
${timelineView(seen, timeline, texts)}
</div>
<section id="about" data-part="about entries" aria-label="About the merge request">
<div class="actions">${seen.may('ready') && html`<a class="button" href="${`${mergeRequestKind.page(projectOf(merge_request), merge_request.iid)}/edit`}">Edit</a>`} ${stateForms(seen, merge_request.state, merge_request.subscribed)}</div>
${propertiesView(seen, propertiesOf({ merge_request, labels }, seen), changing)}
<p><a href="${`${toMergeRequest(merge_request)}.diff`}">All changes as text</a></p>
${
  seen.caller &&
  html`<p><a href="${`${toMergeRequest(merge_request)}/related`}">Related issues and merge requests</a></p>`
}
</section>
</div>`,
    ),
});
