/** The manual orders in an epic: the order of its issues, and of its children. */
import type { IssuableKind } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { badRequest } from '../../../http/index.ts';
import { type Order, reorder } from '../issuables/position_actions.ts';
import type { NewPosition } from './position_parameters.ts';

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
 * Moves an issue or child to another position in an epic.
 * @param id of the sorted row, as in `position`
 * @throws ApiError 400 for an impossible position
 */
export async function moveInEpic(
  db: Database,
  order: Order,
  kind: IssuableKind,
  id: number,
  position: NewPosition,
): Promise<void> {
  // The parameters name neighbours by their side.
  const sides = { after: position.move_before_id, before: position.move_after_id };
  if (!(await db.transaction().execute((tx) => reorder(tx, order, id, sides))))
    throw badRequest(`${kind.type} could not be moved!`);
}
