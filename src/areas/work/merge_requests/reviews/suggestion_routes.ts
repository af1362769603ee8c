/** Applying suggestions (docs/reference/merge_requests.md#suggestions). */
import { Type } from 'typebox';
import { signedIn } from '../../../../access/index.ts';
import { Id, leftOutIfBlank, listOf, one, optional, put } from '../../../../http/index.ts';
import { branchRefusal } from '../../../code/repository/index.ts';
import { Suggestion } from '../../../conversation/notes/index.ts';
import { applySuggestions } from './suggestion_actions.ts';
import { suggestionReplies } from './suggestion_queries.ts';
import { missingText, suggestionTexts } from './suggestion_rules.ts';

/** The most suggestions applied in one commit. */
const maximumApplied = 100;

const commit_message = leftOutIfBlank(
  optional(
    Type.String({ description: 'By default what the template of the target project says; with the same placeholders' }),
  ),
);

const refusals = (missing: string) => ({
  400: [
    ...Object.values(suggestionTexts),
    branchRefusal,
    'Could not update <ref>. Please refresh and try again.',
    '<what the push rules or the like refuse>',
  ],
  403: ['403 Forbidden', '403 Forbidden - <reason>'],
  404: missing,
});

export const suggestionRoutes = [
  put('/suggestions/:id/apply', {
    operation: 'applySuggestion',
    summary: 'Apply a suggestion in a commit on the source branch',
    access: signedIn,
    input: { id: Id, commit_message },
    returns: one(Suggestion),
    refusals: refusals(missingText.one),
    handle: async ({ caller, input: { id, ...input }, ...services }) => {
      await applySuggestions(services, { ...input, caller, ids: [id], missing: missingText.one });
      const [reply] = await suggestionReplies(services.db, [id]);
      return reply!;
    },
  }),
  put('/suggestions/batch_apply', {
    operation: 'applySuggestions',
    summary: 'Apply suggestions of a merge request in one commit on the source branch',
    access: signedIn,
    input: { ids: Type.Array(Id, { minItems: 1, maxItems: maximumApplied }), commit_message },
    returns: listOf(Suggestion),
    refusals: refusals(missingText.some),
    handle: async ({ caller, input, ...services }) => {
      await applySuggestions(services, { ...input, caller, missing: missingText.some });
      return suggestionReplies(services.db, input.ids);
    },
  }),
];
