/** The filters of milestone lists. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { Type } from 'typebox';
import { isVisibleGroup, type PlanningParent } from '../../../access/index.ts';
import {
  type Caller,
  containing,
  DateOnly,
  deprecated,
  filtersOn,
  Iid,
  optional,
  Timestamp,
} from '../../../http/index.ts';
import { isMilestoneFor } from './queries.ts';

const filters = filtersOn('milestones', (by) => ({
  title: by(Type.String(), (q, value) => q('milestones.title', '=', value)),
  search: by(Type.String({ description: 'Part of the title or the description' }), (q, value) =>
    q.or([q('milestones.title', 'ilike', containing(value)), q('milestones.description', 'ilike', containing(value))]),
  ),
  updated_before: by(Timestamp, (q, value) => q('milestones.updated_at', '<=', value)),
  updated_after: by(Timestamp, (q, value) => q('milestones.updated_at', '>=', value)),
}));

const groupFilters = filtersOn('milestones', (by) => ({
  search_title: by(Type.String({ description: 'Part of the title' }), (q, value) =>
    q('milestones.title', 'ilike', containing(value)),
  ),
  containing_date: by(
    DateOnly,
    (_, value) => sql<SqlBool>`(num_nonnulls(milestones.start_date, milestones.due_date) > 0
    and coalesce(milestones.start_date <= ${value}, true) and coalesce(milestones.due_date >= ${value}, true))`,
  ),
}));

const shared = {
  ...filters.input,
  iids: optional(Type.Array(Iid, { description: 'Ignored with `include_ancestors`' })),
  state: optional(Type.Enum(['active', 'closed', 'all'])),
  include_ancestors: optional(Type.Boolean({ description: 'Include those of ancestor groups' })),
  include_parent_milestones: optional(deprecated('use `include_ancestors`', Type.Boolean())),
};
const ofGroups = { ...shared, ...groupFilters.input, include_descendants: optional(Type.Boolean()) };

/** The parameters for an endpoint's declaration. Parameters only for groups are not declared for projects. */
export const milestoneListInput = { group: ofGroups, project: shared as typeof ofGroups };

interface Wanted {
  iids?: number[];
  state?: 'active' | 'closed' | 'all';
  include_ancestors?: boolean;
  include_parent_milestones?: boolean;
  include_descendants?: boolean;
}

/** A predicate on rows of `milestones`: they are listed in the project or group. */
function isListed(caller: Caller, { kind, id }: PlanningParent, above: boolean, below: boolean): RawBuilder<SqlBool> {
  if (kind === 'project') return above ? isMilestoneFor(id) : sql`milestones.project_id = ${id}`;
  const ancestors = above
    ? sql`or milestones.group_id = any((select traversal_ids from namespaces where id = ${id})::bigint[])`
    : sql``;
  const descendants = below
    ? sql`or milestones.group_id in (select id from namespaces where traversal_ids @> array[${id}::bigint] and ${isVisibleGroup(caller)})`
    : sql``;
  return sql`(milestones.group_id = ${id} ${ancestors} ${descendants})`;
}

/** A predicate on rows of `milestones`: they are listed in the project or group with these parameters. */
export function milestonesMatching(
  caller: Caller,
  parent: PlanningParent,
  wanted: Wanted & object,
): RawBuilder<SqlBool>[] {
  const { iids, state = 'all', include_ancestors, include_parent_milestones, include_descendants = false } = wanted;
  const above = include_ancestors ?? include_parent_milestones ?? false;
  return [
    isListed(caller, parent, above, include_descendants),
    ...(state === 'all' ? [] : [sql<SqlBool>`milestones.state = ${state}`]),
    // An iid is unique only within one project or group, so it is ambiguous if milestones of others are included.
    ...(iids === undefined || iids.length === 0 || above
      ? []
      : [sql<SqlBool>`milestones.iid = any(${iids}::bigint[])`]),
  ];
}

/** The predicate of the given filters. */
export const matchingFilters = (wanted: object) => [filters.matching(wanted), groupFilters.matching(wanted)] as const;
