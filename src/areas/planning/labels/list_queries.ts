/** Labels in lists for a caller: their origin, the caller's subscription, and the number of their issues. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  type IssuableKind,
  issueKind,
  isVisibleGroup,
  isVisibleProject,
  mergeRequestKind,
  type PlanningParent,
  rowsWithPlaces,
} from '../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import { type Caller, containing, found } from '../../../http/index.ts';
import { countingEach } from '../../../lists/index.ts';
import { type LabelCounts, type ListedLabelRow, labelColumns } from './present.ts';
import { isAvailableIn, isOwnOf, labelParent } from './queries.ts';

/** The labels to list in addition to those of the project or group itself. */
export interface LabelScope {
  include_ancestor_groups: boolean;
  /** Only for groups. */
  include_descendant_groups?: boolean;
  /** Only for groups: excludes the labels of their projects. */
  only_group_labels?: boolean;
}

/** A predicate on rows of `labels`: they are listed in the project or group. */
export function isListed(caller: Caller, parent: PlanningParent, scope: LabelScope): RawBuilder<SqlBool> {
  const at = labelParent(parent);
  const above = scope.include_ancestor_groups ? isAvailableIn(at) : isOwnOf(at);
  // The group of a project counts as the project's own.
  if (parent.kind === 'project') return sql`(${above} or labels.group_id = ${parent.namespace_id})`;
  const below = scope.include_descendant_groups
    ? sql`or labels.group_id in (select id from namespaces where traversal_ids @> array[${parent.id}::bigint] and ${isVisibleGroup(caller)})`
    : sql``;
  return sql`(${above} ${below} ${scope.only_group_labels === false ? ofProjects(caller, parent.id, scope) : sql``})`;
}

function ofProjects(caller: Caller, group_id: number, { include_descendant_groups }: LabelScope) {
  const groups = include_descendant_groups
    ? sql`(select id from namespaces where traversal_ids @> array[${group_id}::bigint])`
    : sql`(${group_id})`;
  return sql`or labels.project_id in (select projects.id from projects where projects.namespace_id in ${groups} and ${isVisibleProject(caller)})`;
}

/** Labels with the caller's subscription, and their priority in the project. */
export const listedLabels = (db: Database, caller: Caller, parent: PlanningParent) =>
  db
    .selectFrom('labels')
    .select([...labelColumns, 'labels.updated_at'])
    .select(
      sql<boolean>`exists (select from subscriptions where subscriptions.label_id = labels.id and user_id = ${caller.id} and subscribed)`.as(
        'subscribed',
      ),
    )
    .select(
      (parent.kind === 'project'
        ? sql<
            number | null
          >`(select priority from label_priorities where label_priorities.label_id = labels.id and project_id = ${parent.id})`
        : sql<null>`null`
      ).as('priority'),
    );

/** A predicate on rows of `labels`: the text is in the title or in the description. */
export const mentions = (text: string): RawBuilder<SqlBool> =>
  sql`(labels.title ilike ${containing(text)} or labels.description ilike ${containing(text)})`;

/**
 * The label in a path.
 * @param id_or_title an id or a title; if a title is also the id of another label, the id wins
 * @param among a predicate on rows of `labels`
 * @throws ApiError 404
 */
export async function labelNamed(
  db: Database,
  caller: Caller,
  parent: PlanningParent,
  id_or_title: string,
  among: RawBuilder<SqlBool>,
): Promise<ListedLabelRow & { updated_at: string }> {
  const id = /^\d+$/.test(id_or_title) && Number.isSafeInteger(Number(id_or_title)) ? Number(id_or_title) : 0;
  const query = listedLabels(db, caller, parent)
    .where(among)
    .where((q) => q.or([q('labels.id', '=', id), q('labels.title', '=', id_or_title)]))
    .orderBy(sql`labels.id = ${id}`, 'desc')
    .orderBy(sql`labels.project_id is null`)
    .orderBy('labels.id')
    .limit(1);
  return found('Label', await query.executeTakeFirst());
}

/**
 * The number of items of a kind with each label, among items that the caller may read.
 * @param only restricts the count to a state
 */
async function countsOf(db: Database, caller: Caller, kind: IssuableKind, ids: readonly number[], only?: 'opened') {
  const [bearer, state] = [sql.ref(kind.column), sql.ref(`${kind.table}.state`)];
  const { rows } = await sql<{ label_id: number; opened: number; closed: number }>`
    select label_id, count(*) filter (where ${state} = 'opened') as opened, count(*) filter (where ${state} = 'closed') as closed
      from ${rowsWithPlaces(kind)} join ${sql.table(kind.labels)} on ${bearer} = ${sql.ref(`${kind.table}.id`)}
     where label_id = any(${ofAnyLength(ids, 'bigint[]')}) and ${only ? sql`${state} = ${sql.lit(only)} and` : sql``} ${kind.isVisible(caller)}
     group by label_id`.execute(db);
  return new Map(rows.map((row) => [row.label_id, row]));
}

async function countTogether(db: Database, caller: Caller, ids: readonly number[]): Promise<LabelCounts[]> {
  const [issues, requests] = await Promise.all([
    countsOf(db, caller, issueKind, ids),
    countsOf(db, caller, mergeRequestKind, ids, 'opened'),
  ]);
  return ids.map((id) => ({
    open_issues_count: issues.get(id)?.opened ?? 0,
    closed_issues_count: issues.get(id)?.closed ?? 0,
    open_merge_requests_count: requests.get(id)?.opened ?? 0,
  }));
}

const countEach = countingEach<LabelCounts>(
  (counts) => counts.open_issues_count + counts.closed_issues_count + counts.open_merge_requests_count,
);

/**
 * The numbers of issues and merge requests with each label, among items that the caller may read, in two statements for
 * a page. Slow counts may be five seconds old.
 * @returns the counts by ID
 */
export async function labelCounts(
  db: Database,
  caller: Caller,
  ids: readonly number[],
): Promise<Map<number, LabelCounts>> {
  const keyOf = (id: number) => `${id} for ${caller.admin ? 'administrators' : caller.id}`;
  const counts = await countEach(db, ids, keyOf, (others) => countTogether(db, caller, others));
  return new Map(ids.map((id, index) => [id, counts[index]!]));
}
