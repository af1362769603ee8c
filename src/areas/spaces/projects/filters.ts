import { type SelectQueryBuilder, sql } from 'kysely';
import { type Static, type TObject, Type } from 'typebox';
import {
  countsToday,
  GroupLevel,
  isListedProject,
  isMemberOfProject,
  levels,
  type MaybeCaller,
} from '../../../access/index.ts';
import type { Database, DB } from '../../../db/index.ts';
import {
  badRequest,
  CommaList,
  containing,
  DateOnly,
  filtersOn,
  Id,
  optional,
  Timestamp,
  Visibility,
} from '../../../http/index.ts';
import { attributeFilters, withAttributes } from '../../people/custom_attributes/index.ts';

/** Converts topics to the spelling stored in projects, which may differ in case. */
const spelled = (topics: string[]) => sql`array(
  select coalesce((select name::text from topics where name = given::citext), given) from unnest(${topics}::text[]) given)`;

const columnFilters = filtersOn('projects', (by) => ({
  archived: by(Type.Boolean(), (_q, v) => sql<boolean>`${isListedProject('archived')} = ${v}`),
  active: by(
    Type.Boolean({ description: 'Whether the project is neither archived nor marked for deletion' }),
    (_q, v) => sql<boolean>`(${isListedProject('archived')} or ${isListedProject('marked_for_deletion')}) <> ${v}`,
  ),
  marked_for_deletion_on: by(
    DateOnly,
    (_q, v) => sql<boolean>`(projects.marked_for_deletion_at at time zone 'UTC')::date = ${v}`,
  ),
  visibility: by(Visibility, (q, v) => q('visibility', '=', v)),
  id_after: by(Id, (q, v) => q('id', '>', v)),
  id_before: by(Id, (q, v) => q('id', '<', v)),
  last_activity_after: by(Timestamp, (q, v) => q('last_activity_at', '>', v)),
  last_activity_before: by(Timestamp, (q, v) => q('last_activity_at', '<', v)),
  updated_after: by(Timestamp, (q, v) => q('updated_at', '>', v)),
  updated_before: by(Timestamp, (q, v) => q('updated_at', '<', v)),
  compliance_framework: by(
    Type.String({ description: 'Name of a compliance framework that the project has' }),
    (_q, v) => sql<boolean>`exists (
      select from project_compliance_frameworks held join compliance_frameworks on compliance_frameworks.id = held.framework_id
       where held.project_id = projects.id and compliance_frameworks.name = ${v})`,
  ),
  topic: by(CommaList(Type.String()), (_q, v) => sql<boolean>`topics @> ${spelled(v)}`),
}));

export type Projects<Row> = SelectQueryBuilder<DB, 'projects', Row>;

/**
 * The similarity of `search` to the name or path of a project. A name that equals the path except for case and spaces
 * is as similar as an equal path.
 */
const likeness = (
  search: string,
) => sql<number>`case when translate(lower(projects.name), ' ', '-') = projects.path::text
  then similarity(projects.path::text, ${search})
  else greatest(similarity(projects.name, ${search}), similarity(projects.path::text, ${search})) end`;

/**
 * The maximum number of matching projects compared by similarity. A word found in more of them is too common to rank
 * them.
 */
const maximumCompared = 1000;

/**
 * The projects that match a search, in two lists: exact names and the newest matches, by similarity; then the others by
 * ID.
 * @param matching projects that match, without order
 */
export function likestFirst<Row>(db: Database, matching: Projects<Row>, search: string, sort: 'asc' | 'desc') {
  const isNamed = sql<boolean>`(projects.name = ${search} or projects.path = ${search})`;
  const texts = matching.clearSelect().select(['projects.id', 'projects.name', 'projects.path']);
  const named = texts.where(isNamed);
  // By id: comparing the name and path of each project takes longer than finding whether it matches.
  const isOther = sql<boolean>`projects.id <> all(array(${named.clearSelect().select('projects.id')}))`;
  const newestFirst = texts.where(isOther).orderBy('projects.id', 'desc');
  const newest = db.selectFrom(newestFirst.limit(maximumCompared).as('newest')).selectAll();
  const compared = newest.unionAll(named).as('projects');
  return [
    db.selectFrom(compared).select('projects.id').orderBy(likeness(search), 'desc').orderBy('projects.id', sort),
    db
      .selectFrom(newestFirst.offset(maximumCompared).as('projects'))
      .select('projects.id')
      .orderBy('projects.id', sort),
  ];
}

/** Every order has an index. Equal rows are ordered by ID; IDs grow with time, so `created_at` is ordered by ID as well. */
const orders = {
  id: 'projects.id',
  name: 'projects.name',
  path: 'projects.path',
  created_at: 'projects.id',
  updated_at: 'projects.updated_at',
  last_activity_at: 'projects.last_activity_at',
  star_count: 'projects.star_count',
} as const;

export const projectFilters = {
  ...columnFilters.input,
  ...attributeFilters,
  search: optional(Type.String()),
  search_namespaces: Type.Boolean({ default: false, description: 'Whether `search` also matches the full path' }),
  owned: Type.Boolean({ default: false }),
  membership: Type.Boolean({ default: false }),
  starred: Type.Boolean({ default: false, description: 'Whether to list only projects that the caller has starred' }),
  min_access_level: optional(GroupLevel()),
  repository_storage: optional(
    Type.String({ description: 'Name of the git storage; administrators only, ignored for others' }),
  ),
  with_issues_enabled: Type.Boolean({ default: false }),
  with_merge_requests_enabled: Type.Boolean({ default: false }),
  order_by: Type.Enum([...(Object.keys(orders) as (keyof typeof orders)[]), 'similarity'], {
    default: 'created_at',
    description: '`similarity` requires `search` and a signed-in caller, and lists the best matches first',
  }),
  sort: Type.Enum(['asc', 'desc'], { default: 'desc' }),
};
export type ProjectFilters = Static<TObject<typeof projectFilters>>;

function searched<Row>(query: Projects<Row>, { search, search_namespaces }: ProjectFilters): Projects<Row> {
  if (!search) return query;
  const pattern = containing(search);
  return query.where(
    sql<boolean>`(projects.name ilike ${pattern} or projects.path::text ilike ${pattern} or projects.description ilike ${pattern}
                  ${search_namespaces ? sql`or projects.full_path::text ilike ${pattern}` : sql``})`,
  );
}

/** A predicate on rows of `projects`: the user has starred it; false without a user. */
export const starredBy = (user_id: number | undefined) =>
  sql<boolean>`projects.id in (select project_id from project_stars where user_id = ${user_id ?? null}::bigint)`;

/** A predicate on rows of `projects`: the user has contributed to it within a year; joining and leaving do not count. */
export const contributedTo = (user_id: number) => sql<boolean>`projects.id in (
  select project_id from events
   where author_id = ${user_id} and created_at > now() - interval '1 year' and action not in ('joined', 'left', 'expired'))`;

/**
 * A predicate on rows of `projects`: the project itself is shared with the group. It compares with an array, because
 * only then does PostgreSQL use indexes for this predicate combined with another by OR.
 */
export const isSharedWith = (group_id: number) =>
  sql<boolean>`projects.id = any(array(select project_id from group_links where invited_group_id = ${group_id} and project_id is not null and ${countsToday('group_links')}))`;

/** A predicate on rows of `projects`: the feature is enabled, or private and the caller is a member. */
const withFeature = (caller: MaybeCaller, column: 'issues_access_level' | 'merge_requests_access_level') =>
  caller?.admin
    ? sql<boolean>`${sql.ref(column)} <> 'disabled'`
    : sql<boolean>`(${sql.ref(column)} = 'enabled' or ${sql.ref(column)} = 'private' and ${isMemberOfProject(caller, levels.guest)})`;

/** The refusal of a list that is filtered by the time of the last update and sorted by something else. */
export const unpairedText = '400 Bad request - `updated_at` filter and `updated_at` sorting must be paired';

/**
 * Filters a list.
 * @param query on `projects`, without order
 * @throws ApiError 400 for a filter by the time of the last change in another order
 */
export function filtered<Row>(query: Projects<Row>, caller: MaybeCaller, input: ProjectFilters): Projects<Row> {
  if ((input.updated_after ?? input.updated_before) !== undefined && input.order_by !== 'updated_at')
    throw badRequest(unpairedText);
  const level = Math.max(
    input.owned ? levels.owner : 0,
    input.membership ? levels.minimal : 0,
    input.min_access_level ?? 0,
  );
  return searched(query, input)
    .where(columnFilters.matching(input))
    .where(withAttributes('project', caller, input))
    .$if(input.starred, (q) => q.where(starredBy(caller?.id)))
    .$if(level > 0, (q) => q.where(isMemberOfProject(caller, level)))
    .$if(caller?.admin === true && input.repository_storage !== undefined, (q) =>
      q.where('projects.storage', '=', input.repository_storage!),
    )
    .$if(input.with_issues_enabled, (q) => q.where(withFeature(caller, 'issues_access_level')))
    .$if(input.with_merge_requests_enabled, (q) => q.where(withFeature(caller, 'merge_requests_access_level')));
}

/** Orders a list by an index; `similarity` is treated as order by ID. */
export function inOrder<Row>(
  query: Projects<Row>,
  { order_by, sort }: Pick<ProjectFilters, 'order_by' | 'sort'>,
): Projects<Row> {
  const column = order_by === 'similarity' ? 'projects.id' : orders[order_by];
  return query.orderBy(column, sort).$if(column !== 'projects.id', (q) => q.orderBy('projects.id', sort));
}
