/** All fields of a merge request in one form. */
import { type Field, form, html, page } from '../../../pages/index.ts';
import { MergeRequest } from '../../work/merge_requests/index.ts';
import { type Choices, choicesOf, namesOf, peopleField, planningFields } from '../issuables/field_present.ts';
import { editedTexts, presentText } from '../issuables/form_rules.ts';
import { projectOf, type ShownMergeRequest, toMergeRequest } from './views.ts';

const fieldsOf = (merge_request: ShownMergeRequest, choices: Choices): readonly Field[] => [
  {
    name: 'title',
    label: 'Title',
    is_required: true,
    value: merge_request.title,
    is_clearable: true,
    help: 'Draft: before it marks a draft.',
  },
  {
    name: 'description',
    label: 'Description',
    kind: 'area',
    value: merge_request.description,
    is_clearable: true,
    help: 'Markdown.',
  },
  {
    name: 'target_branch',
    label: 'Target branch',
    is_required: true,
    value: merge_request.target_branch,
    is_clearable: true,
  },
  peopleField('assignee_ids', 'Assignees', choices, merge_request.assignees),
  peopleField('reviewer_ids', 'Reviewers', choices, merge_request.reviewers),
  ...planningFields(choices, { labels: namesOf(merge_request.labels), milestone: merge_request.milestone }),
  { name: 'squash', label: 'Make one commit of all when merging', kind: 'checkbox', value: merge_request.squash },
  {
    name: 'remove_source_branch',
    label: 'Remove the source branch after merging',
    kind: 'checkbox',
    value: merge_request.force_remove_source_branch ?? false,
  },
  {
    name: 'discussion_locked',
    label: 'Locked: only members can comment',
    kind: 'checkbox',
    value: merge_request.discussion_locked ?? false,
  },
];

export const editMergeRequestPage = page('/:id/-/merge_requests/:merge_request_iid/edit', {
  signed_in: true,
  load: async (call) => {
    const merge_request = await call.one(MergeRequest, 'getMergeRequest');
    const { assignees, reviewers, labels, milestone } = merge_request;
    const choices = await choicesOf(call, { people: [...assignees, ...reviewers], labels: namesOf(labels), milestone });
    return { merge_request, choices };
  },
  forms: {
    change: {
      runs: 'updateMergeRequest',
      edits: async ({ one }) => editedTexts(await one(MergeRequest, 'getMergeRequest')),
      next: toMergeRequest,
    },
  },
  view: ({ merge_request, choices }, seen) => {
    const id = projectOf(merge_request);
    return {
      title: [`Edit ${merge_request.title}`, `!${merge_request.iid}`, id],
      place: { id, kind: 'project', tab: 'merge_requests' },
      main: html`${
        form(seen, 'change', {
          fields: fieldsOf(merge_request, choices),
          edited: editedTexts(merge_request),
          button: 'Save',
        }) ?? html`<p>You may not edit this merge request.</p>`
      }${presentText(seen, merge_request.description)}
<p><a href="${toMergeRequest(merge_request)}">Back to the merge request</a></p>`,
    };
  },
});
