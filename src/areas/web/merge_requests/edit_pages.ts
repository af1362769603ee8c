/** All fields of a merge request in one form. */
import type { Plan } from '../../../http/index.ts';
import { type Field, form, html, page } from '../../../pages/index.ts';
import { MergeRequest, mergeRequestFields } from '../../work/merge_requests/index.ts';
import {
  type Choices,
  choicesOf,
  groupedControls,
  namesOf,
  peopleField,
  planningFields,
} from '../issuables/field_present.ts';
import { editedTexts, presentText } from '../issuables/form_rules.ts';
import { projectOf, type ShownMergeRequest, toMergeRequest } from './views.ts';

function fieldsOf(merge_request: ShownMergeRequest, choices: Choices, plan: Plan | undefined): readonly Field[] {
  const values = { ...merge_request, remove_source_branch: merge_request.force_remove_source_branch };
  const { texts, others, flags } = groupedControls(mergeRequestFields, { is_new: false, plan, values });
  return [
    ...texts,
    peopleField('assignee_ids', 'Assignees', choices, merge_request.assignees),
    peopleField('reviewer_ids', 'Reviewers', choices, merge_request.reviewers),
    ...planningFields(choices, { labels: namesOf(merge_request.labels), milestone: merge_request.milestone }),
    ...others,
    ...flags,
  ];
}

export const editMergeRequestPage = page('/:id/-/merge_requests/:merge_request_iid/edit', {
  signed_in: true,
  load: async (call) => {
    const merge_request = await call.one(MergeRequest, 'getMergeRequest');
    const { assignees, reviewers, labels, milestone } = merge_request;
    const [choices, mayDelete] = await Promise.all([
      choicesOf(call, { people: [...assignees, ...reviewers], labels: namesOf(labels), milestone }),
      call.may('deleteMergeRequest'),
    ]);
    return { merge_request, choices, mayDelete };
  },
  forms: {
    change: {
      runs: 'updateMergeRequest',
      edits: async ({ one }) => editedTexts(await one(MergeRequest, 'getMergeRequest')),
      next: toMergeRequest,
    },
  },
  view: ({ merge_request, choices, mayDelete }, seen) => {
    const id = projectOf(merge_request);
    return {
      title: [`Edit ${merge_request.title}`, `!${merge_request.iid}`, id],
      place: { id, kind: 'project', tab: 'merge_requests' },
      main: html`${
        form(seen, 'change', {
          fields: fieldsOf(merge_request, choices, seen.caller?.plan),
          edited: editedTexts(merge_request),
          button: 'Save',
        }) ?? html`<p>You may not edit this merge request.</p>`
      }${presentText(seen, merge_request.description)}
<p>${mayDelete && html`<a href="${`${toMergeRequest(merge_request)}/delete`}">Delete the merge request</a> `}<a href="${toMergeRequest(merge_request)}">Back to the merge request</a></p>`,
    };
  },
});
