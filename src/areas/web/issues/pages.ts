/** One issue (docs/reference/work_pages.md). */
import { issueKind } from '../../../access/index.ts';
import { page, redirect } from '../../../pages/index.ts';
import { AwardEmoji } from '../../conversation/award_emoji/index.ts';
import { Issue, LinkedIssueReply, MetricImage } from '../../work/issues/index.ts';
import { MergeRequestInList } from '../../work/merge_requests/index.ts';
import { conversationForms } from '../issuables/form_rules.ts';
import { colouredLabels } from '../issuables/label_queries.ts';
import { linkForms } from '../issuables/link_views.ts';
import { pathIn } from '../issuables/present.ts';
import { tickForms } from '../issuables/ticking_rules.ts';
import { timeForms } from '../issuables/time_views.ts';
import { textsOf, timelineOf } from '../issuables/timeline_present.ts';
import { metricForms } from './metric_views.ts';
import { changingFields } from './property_present.ts';
import { issueView } from './views.ts';

export const issuePage = page('/:id/-/issues/:issue_iid', {
  load: async (call) => {
    const { all, one, list, perhaps } = call;
    const shown = one(Issue, 'getProjectIssue');
    const [issue, timeline, links, related, closing, awards] = await Promise.all([
      shown,
      timelineOf(call, 'Issue'),
      all(LinkedIssueReply, 'listIssueLinks'),
      perhaps(list(MergeRequestInList, 'listMergeRequestsRelatedToIssue', { per_page: 100 })),
      shown.then(({ merge_requests_count }) =>
        merge_requests_count === 0
          ? undefined
          : perhaps(list(MergeRequestInList, 'listMergeRequestsClosingIssue', { per_page: 100 })),
      ),
      list(AwardEmoji, 'listIssueAwardEmoji', { per_page: 100 }),
    ]);
    const place = { kind: 'project' as const, id: issue.project_id, full_path: pathIn(issue.references.full) };
    const [said, changing, labels, metrics, mayDelete] = await Promise.all([
      textsOf(call, place, timeline.threads.items, { noun: 'Issue', description: issue.description }),
      changingFields(call, issue),
      issue.labels.length === 0 ? [] : colouredLabels(call.services.db, 'issue', issue.id),
      issue.issue_type === 'incident' ? list(MetricImage, 'listIssueMetricImages', { per_page: 100 }) : undefined,
      call.may('deleteProjectIssue'),
    ]);
    const shownTexts = { ...said, timeline, awards: awards.items };
    return { issue, place, ...shownTexts, links, related, closing, changing, labels, metrics, mayDelete };
  },
  forms: {
    ...conversationForms('Issue'),
    ...tickForms('Issue'),
    ...timeForms('Issue'),
    ...linkForms.Issue,
    ...metricForms,
  },
  view: issueView,
});

export const workItemPage = redirect('/:id/-/work_items/:issue_iid', ({ params }) =>
  issueKind.page(params.id!, params.issue_iid!),
);
