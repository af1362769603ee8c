/** The filters of iteration lists. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Static, type TObject, Type } from 'typebox';
import { type Group, isVisibleGroup, type Project } from '../../../access/index.ts';
import { type Caller, containing, optional, Timestamp } from '../../../http/index.ts';

const states = { upcoming: [1], current: [2], closed: [3], opened: [1, 2], all: [1, 2, 3] };

export const iterationListInput = {
  state: optional(Type.Enum(['opened', 'upcoming', 'current', 'closed', 'all'])),
  search: optional(Type.String({ description: 'Text to find in the fields of `in`' })),
  in: Type.Array(Type.Enum(['title', 'cadence_title']), { default: ['title'] }),
  include_ancestors: Type.Boolean({ default: true, description: 'Include those of ancestor groups' }),
  updated_before: optional(Timestamp),
  updated_after: optional(Timestamp),
};
type Wanted = Static<TObject<typeof iterationListInput>>;

const searched = {
  title: (pattern: string) => sql<SqlBool>`iterations.title ilike ${pattern}`,
  cadence_title: (pattern: string) => sql<SqlBool>`
    exists (select from iteration_cadences where iteration_cadences.id = iterations.cadence_id and iteration_cadences.title ilike ${pattern})`,
};

/** A predicate on rows of `iterations` for all filters except the parent. */
export function iterationsMatching({
  state,
  search,
  in: fields,
  updated_before,
  updated_after,
}: Wanted): RawBuilder<SqlBool> {
  const predicates: RawBuilder<SqlBool>[] = [sql`true`];
  if (state) predicates.push(sql`iterations.state = any(${states[state]}::integer[])`);
  if (search)
    predicates.push(
      sql`(${sql.join(
        fields.map((field) => searched[field](containing(search))),
        sql` or `,
      )})`,
    );
  if (updated_before) predicates.push(sql`iterations.updated_at <= ${updated_before}`);
  if (updated_after) predicates.push(sql`iterations.updated_at >= ${updated_after}`);
  return sql`(${sql.join(predicates, sql` and `)})`;
}

/** A predicate on rows of `iterations`: they are listed in the group. */
export function isInGroup(
  caller: Caller,
  { id, traversal_ids }: Group,
  above: boolean,
  below: boolean,
): RawBuilder<SqlBool> {
  const groups = above ? traversal_ids : [id];
  const descendants = below
    ? sql`or iterations.group_id in (select id from namespaces where traversal_ids @> array[${id}::bigint] and ${isVisibleGroup(caller)})`
    : sql``;
  return sql`(iterations.group_id = any(${groups}::bigint[]) ${descendants})`;
}

/** A predicate on rows of `iterations`: they belong to the project's group. */
export const isInGroupOf = ({ namespace_id }: Pick<Project, 'namespace_id'>): RawBuilder<SqlBool> =>
  sql`iterations.group_id = ${namespace_id}`;
