/** One issue (docs/reference/work_pages.md). */
import { issueKind } from '../../../access/index.ts';
import { page, redirect } from '../../../pages/index.ts';
import { AwardEmoji } from '../../conversation/award_emoji/index.ts';
import { Issue, LinkedIssueReply } from '../../work/issues/index.ts';
import { MergeRequestInList } from '../../work/merge_requests/index.ts';
import { conversationForms } from '../issuables/form_rules.ts';
import { colouredLabels } from '../issuables/label_queries.ts';
import { pathIn } from '../issuables/present.ts';
import { tickForms } from '../issuables/ticking_rules.ts';
import { textsOf, timelineOf } from '../issuables/timeline_present.ts';
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
    const [said, changing, labels] = await Promise.all([
      textsOf(call, place, timeline.threads.items, { noun: 'Issue', description: issue.description }),
      changingFields(call, issue),
      issue.labels.length === 0 ? [] : colouredLabels(call.services.db, 'issue', issue.id),
    ]);
    return { issue, place, ...said, timeline, links, related, closing, awards: awards.items, changing, labels };
  },
  forms: { ...conversationForms('Issue'), ...tickForms('Issue') },
  view: issueView,
});

export const workItemPage = redirect('/:id/-/work_items/:issue_iid', ({ params }) =>
  issueKind.page(params.id!, params.issue_iid!),
);
