/** The order that people give by hand to what is in an epic: its issues, and its children. */
import type { NoteableKind } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { ApiError } from '../../../http/index.ts';
import { type Order, reorder } from '../issuables/index.ts';
import type { NewPlace } from './place_parameters.ts';

/** The order of the issues of an epic, by the ids of `epic_issues`. */
export const issuesIn = (epic_id: number): Order => ({
  table: 'epic_issues',
  scope: 'epic_id',
  scope_id: epic_id,
  scopes: 'epics',
  ties: 'asc',
});

/** The order of the children of an epic. */
export const childrenIn = (epic_id: number): Order => ({
  table: 'epics',
  scope: 'parent_id',
  scope_id: epic_id,
  scopes: 'epics',
  ties: 'asc',
});

/**
 * Puts something to another place in an epic.
 * @param id as the order and `place` have it
 * @throws ApiError 400 where there is no such place
 */
export async function moveInEpic(db: Database, order: Order, kind: NoteableKind, id: number, place: NewPlace): Promise<void> {
  // The names say on which side of it the others are.
  const sides = { after: place.move_before_id, before: place.move_after_id };
  if (!(await db.transaction().execute((tx) => reorder(tx, order, id, sides))))
    throw new ApiError(400, { message: { error: `${kind.type} could not be moved!` } });
}
