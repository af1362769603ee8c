/** The approval rules that a merge request has instead of those of its project (docs/reference/approvals.md#rules). */
import { formOf } from '../declared/definition.ts';
import { listPart } from '../declared/list_present.ts';
import { approverFields, approversLine } from '../places/approval_pages.ts';
import { partPage } from './part_pages.ts';

export const mergeRequestRulesPage = partPage('/approval_rules', {
  intro: 'With rules of its own, the merge request does not heed those of the project.',
  parts: [
    listPart('rule', {
      list: 'listMergeRequestApprovalRules',
      // Those of policies are shown where it is merged.
      only: ({ id }) => id !== null,
      names: ({ id }) => ({ approval_rule_id: Number(id) }),
      title: 'name',
      line: approversLine,
      empty: 'It has no rules of its own: those of the project count.',
      create: formOf('createMergeRequestApprovalRule', approverFields, { button: 'Add the rule', heading: 'New rule' }),
      edit: formOf('updateMergeRequestApprovalRule', approverFields, { button: 'Save' }),
      buttons: { remove: { runs: 'deleteMergeRequestApprovalRule', label: 'Delete', look: 'danger' } },
    }),
  ],
});
