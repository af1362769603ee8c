import { type SelectQueryBuilder, sql } from 'kysely';
import { type Static, type TObject, Type } from 'typebox';
import { GroupLevel, isListedGroup } from '../../../access/index.ts';
import type { DB } from '../../../db/index.ts';
import { allOptional, containing, DateOnly, filtersOn, Id, Visibility } from '../../../http/index.ts';
import { attributeFilters } from '../../people/custom_attributes/index.ts';

export const groupFilters = filtersOn('namespaces', (by) => ({
  skip_groups: by(Type.Array(Id, { description: 'IDs of groups to leave out' }), (q, ids) =>
    q.not(q('id', '=', q.fn.any(q.val(ids)))),
  ),
  visibility: by(Visibility, (q, visibility) => q('visibility', '=', visibility)),
  archived: by(Type.Boolean(), (_q, v) => sql<boolean>`${isListedGroup('archived')} = ${v}`),
  active: by(
    Type.Boolean({ description: 'Whether the group is neither archived nor marked for deletion' }),
    (_q, v) => sql<boolean>`(${isListedGroup('archived')} or ${isListedGroup('marked_for_deletion')}) <> ${v}`,
  ),
  marked_for_deletion_on: by(
    DateOnly,
    (_q, v) => sql<boolean>`(namespaces.marked_for_deletion_at at time zone 'UTC')::date = ${v}`,
  ),
  top_level_only: by(Type.Boolean(), (q, only) => (only ? q('parent_id', 'is', null) : q.lit(true))),
}));

const order = {
  order_by: Type.Enum(['name', 'path', 'id', 'similarity'], {
    default: 'name',
    description: '`similarity` requires `search` and lists the best matches first',
  }),
  sort: Type.Enum(['asc', 'desc'], { default: 'asc' }),
};

/** The parameters of every list of groups, except paging. */
export const groupListInput = {
  ...groupFilters.input,
  ...attributeFilters,
  ...order,
  ...allOptional({
    search: Type.String({ description: 'Part of the name or path' }),
    all_available: Type.Boolean({ description: 'Whether to include groups that the caller does not belong to' }),
    owned: Type.Boolean(),
    min_access_level: GroupLevel(),
  }),
};
export type GroupListInput = Static<TObject<typeof groupListInput>>;

type Groups<Row> = SelectQueryBuilder<DB, 'namespaces', Row>;

/**
 * Filters groups by a part of their name or path.
 * @param inside whether the list is limited to descendants of one group; then only the last part of paths is searched,
 * because they share the rest
 */
export function searchGroups<Row>(query: Groups<Row>, text: string | undefined, inside: boolean): Groups<Row> {
  if (text === undefined || text === '') return query;
  const path = sql<string>`${sql.ref(inside ? 'namespaces.path' : 'namespaces.full_path')}::text`;
  const pattern = containing(text);
  return query.where((q) => q.or([q('namespaces.name', 'ilike', pattern), q(path, 'ilike', pattern)]));
}

/** Orders groups; equal ones by ID, always ascending. */
export function orderGroups<Row>(
  query: Groups<Row>,
  { order_by, sort, search }: Pick<GroupListInput, 'order_by' | 'sort' | 'search'>,
) {
  if (order_by === 'id') return query.orderBy('namespaces.id', sort);
  if (order_by === 'similarity' && search) {
    const likeness = sql`greatest(similarity(namespaces.name, ${search}), similarity(namespaces.path::text, ${search}))`;
    return query.orderBy(likeness, 'desc').orderBy('namespaces.id');
  }
  return query.orderBy(order_by === 'path' ? 'namespaces.path' : 'namespaces.name', sort).orderBy('namespaces.id');
}
