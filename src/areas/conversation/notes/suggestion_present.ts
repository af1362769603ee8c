/** How suggestions appear in replies. */

import { sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { hasOpenBranch } from '../../../access/index.ts';
import { deprecated, Id, resource } from '../../../http/index.ts';

export const Suggestion = resource('Suggestion', {
  id: Id,
  from_line: Type.Integer({ description: 'The first line that it replaces, in the last version that shows it' }),
  to_line: Type.Integer(),
  applicable: Type.Boolean({ description: 'Whether it can be applied' }),
  appliable: deprecated('use `applicable`', Type.Boolean()),
  applied: Type.Boolean(),
  from_content: Type.String({ description: 'The lines that it replaces' }),
  to_content: Type.String({ description: 'The lines that it proposes; empty to remove them' }),
});
export type SuggestionReply = Static<typeof Suggestion>;

/** The line of the note of a suggestion, for rows of `notes`. */
const line = sql`(notes.position ->> 'new_line')::integer`;

/**
 * A predicate on rows of `suggestions` and their `notes`: the suggestion can be applied, as far as the database shows
 * without reading the code.
 */
const isApplicable = sql<boolean>`
  (suggestions.commit_id is null and not suggestions.outdated and not notes.outdated
   and suggestions.from_content <> suggestions.to_content
   and ${hasOpenBranch(sql`notes.merge_request_id`)})`;

/** The reply for a row of `suggestions` and its `notes`. */
export const suggestionJson = sql<SuggestionReply>`
  json_build_object('id', suggestions.id, 'from_line', ${line} - suggestions.lines_above, 'to_line', ${line} + suggestions.lines_below,
                    'applicable', ${isApplicable}, 'appliable', ${isApplicable}, 'applied', suggestions.commit_id is not null,
                    'from_content', suggestions.from_content, 'to_content', suggestions.to_content)`;

/** The suggestions of a row of `notes`; null for notes that are not about a diff of a merge request. */
export const suggestionsOfNote = sql<SuggestionReply[] | null>`
  case when notes.merge_request_id is not null and notes.original_position is not null
       then coalesce((select json_agg(${suggestionJson} order by suggestions.id) from suggestions where suggestions.note_id = notes.id), '[]'::json) end`;
