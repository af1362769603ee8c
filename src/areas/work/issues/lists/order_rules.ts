/** Sort orders of issue lists, including the manual order. */
import { sql } from 'kysely';
import { issueKind } from '../../../../access/index.ts';
import type { Part, Sort } from '../../../../lists/index.ts';
import { distance, type Order } from '../../issuables/position_actions.ts';
import { byValue, sharedOrders } from '../../issuables/shared_order_rules.ts';

const orders = {
  ...sharedOrders(issueKind),
  due_date: byValue(issueKind, 'due_date'),
  weight: byValue(issueKind, 'weight'),
  relative_position: byValue(issueKind, 'relative_position'),
};

export type OrderName = keyof typeof orders;
/** The values of `order_by`. */
export const orderNames = Object.keys(orders) as OrderName[];

/** The parts of a list in the requested sort order, first to last. */
export const partsOf = (order_by: OrderName, sort: Sort): readonly Part[] => orders[order_by](sort);

/**
 * The order by `relative_position` in a project. A trigger positions new issues at the gap times their id, so the issues of several projects have one common order.
 * @param also other projects whose issues are in the same order
 */
export const orderIn = (project_id: number, also: readonly number[] = []): Order => ({
  table: 'issues',
  scope: 'project_id',
  scope_id: project_id,
  also,
  scopes: 'projects',
  ties: 'desc',
  end: sql`(select (max(id) + 1) * ${sql.lit(distance)}::bigint from issues)`,
});
