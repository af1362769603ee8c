/** Sort orders of lists of merge requests. */
import { mergeRequestKind } from '../../../../access/index.ts';
import type { Part, Sort } from '../../../../lists/index.ts';
import { byValue, sharedOrders } from '../../issuables/shared_order_rules.ts';

const orders = { ...sharedOrders(mergeRequestKind), merged_at: byValue(mergeRequestKind, 'merged_at') };

export type OrderName = keyof typeof orders;
/** The values of `order_by`. */
export const orderNames = Object.keys(orders) as OrderName[];

/** The parts of a list in the requested sort order, first to last. */
export const partsOf = (order_by: OrderName, sort: Sort): readonly Part[] => orders[order_by](sort);
