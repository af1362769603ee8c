/** How comments on commits leave and arrive (docs/reference/relations_export.md#commit_notes). */
import { commitKind } from '../../../access/index.ts';
import type { Relation } from '../../../relations/index.ts';
import { notesWithAwards } from '../award_emoji/index.ts';
import { suggestions } from '../notes/index.ts';

/** The comments on the commits of a project. */
export const commitNotes: Relation = {
  name: 'commit_notes',
  kind: { ...notesWithAwards(commitKind, { suggestions }), owner: { project: 'project_id' } },
  is_batched: true,
};
