/** How comments on commits are exported and imported (docs/reference/relations_export.md#commit_notes). */
import { sql } from 'kysely';
import { commitKind } from '../../../access/index.ts';
import type { Relation } from '../../../relations/index.ts';
import { notesWithAwards } from '../award_emoji/relation.ts';
import { suggestions } from '../notes/relation.ts';

const note = notesWithAwards(commitKind, { suggestions });

/** The comments on the commits of a project. */
export const commitNotes: Relation = {
  name: 'commit_notes',
  kind: {
    ...note,
    owner: { project: 'project_id' },
    isVisible: (departure) => sql`
      ${note.isVisible!(departure)} and exists (select from projects where projects.id = notes.project_id and ${commitKind.isVisible(departure.caller)})`,
  },
  is_batched: true,
};
