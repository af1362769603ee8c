/** What a project or group that moves takes along of the groups that it leaves (docs/reference/projects.md#transfer). */
import { type RawBuilder, sql } from 'kysely';
import { type IssuableKind, issuableKinds, issueKind, releasesWhere } from '../../../access/index.ts';
import { type Database, nextIids } from '../../../db/index.ts';

/** A project, or a group with everything in it, that has moved. */
export type Moved = { project_id: number } | { group_id: number };

interface Move {
  moved: Moved;
  /** The groups that it was in and is in no longer. */
  left_ids: readonly number[];
}

const idsOf = (ids: readonly number[]) => sql`${ids}::bigint[]`;

/** A predicate on rows of a table: they belong to a project that has moved. */
const isOfProjects = (moved: Moved, table: string) =>
  'project_id' in moved
    ? sql`${sql.ref(`${table}.project_id`)} = ${moved.project_id}`
    : sql`${sql.ref(`${table}.project_id`)} in (
        select projects.id from projects join namespaces on namespaces.id = projects.namespace_id
         where namespaces.traversal_ids @> ${idsOf([moved.group_id])})`;

/** The same for a group. */
const isOfGroups = (group_id: number, table: string) =>
  sql`${sql.ref(`${table}.group_id`)} in (select id from namespaces where traversal_ids @> ${idsOf([group_id])})`;

/** The kinds of what is in projects, which milestones are set on, too. */
const inProjects = issuableKinds.filter(({ places }) => places === 'projects');

/** A predicate on rows with the id of a board: it is of a project or group that has moved. */
const isOfBoards = (moved: Moved, column: string) => {
  const inGroups = 'group_id' in moved ? sql` or ${isOfGroups(moved.group_id, 'boards')}` : sql``;
  return sql`${sql.ref(column)} in (select id from boards where ${isOfProjects(moved, 'boards')}${inGroups})`;
};

/** A predicate on rows of `release_milestones`: the release is of a project that has moved. */
const isOfReleases = (moved: Moved) =>
  sql`release_milestones.release_id in ${releasesWhere(isOfProjects(moved, 'releases'))}`;

/** Where what has moved bears labels: the table, its column of the items, and a predicate on its rows. */
const bearersIn = (moved: Moved) => [
  {
    labels: sql.table('board_labels'),
    of: sql.ref('board_id'),
    isInside: isOfBoards(moved, 'board_labels.board_id'),
  },
  ...('group_id' in moved ? issuableKinds : inProjects).map(({ table, column, labels, places }) => {
    const isInside =
      'group_id' in moved && places === 'namespaces' ? isOfGroups(moved.group_id, table) : isOfProjects(moved, table);
    return {
      labels: sql.table(labels),
      of: sql.ref(column),
      isInside: sql`${sql.ref(`${labels}.${column}`)} in (select id from ${sql.table(table)} where ${isInside})`,
    };
  }),
];

/** The one of the same title as `gone` that can be used now: of the project itself, or else of the oldest group above. */
const sameTitled = (table: 'labels' | 'milestones', moved: Moved) => {
  const isAbove =
    'project_id' in moved
      ? sql`there.project_id = ${moved.project_id} or there.group_id = any((
          select traversal_ids from namespaces join projects on projects.namespace_id = namespaces.id
           where projects.id = ${moved.project_id})::bigint[])`
      : sql`there.group_id = any((select traversal_ids from namespaces where id = ${moved.group_id})::bigint[])`;
  return sql`
    (select there.id from ${sql.table(table)} there where there.title = gone.title and (${isAbove})
      order by there.project_id is null, there.id limit 1)`;
};

/** The columns that make something belong to what has moved, with their values. */
const ownerOf = (moved: Moved) =>
  'project_id' in moved
    ? { column: sql.ref('project_id'), id: moved.project_id }
    : { column: sql.ref('group_id'), id: moved.group_id };

const pairsOf = (rows: readonly { id: number; new_id: number }[]) => sql`
  unnest(${idsOf(rows.map(({ id }) => id))}, ${idsOf(rows.map(({ new_id }) => new_id))}) replaced(id, new_id)`;

/** Lets the lists of boards stand for others. Of two lists of a board that would stand for the same, the first stays. */
async function replaceInLists(
  tx: Database,
  moved: Moved,
  column: 'label_id' | 'milestone_id',
  rows: readonly { id: number; new_id: number }[],
): Promise<void> {
  const [of, isInside] = [sql.ref(`lists.${column}`), isOfBoards(moved, 'lists.board_id')];
  await sql`
    update board_lists set ${sql.ref(column)} = chosen.new_id
      from (select distinct on (lists.board_id, new_id) lists.id, new_id from board_lists lists join ${pairsOf(rows)} on ${of} = replaced.id
             where ${isInside}
               and not exists (select from board_lists twins where twins.board_id = lists.board_id and ${sql.ref(`twins.${column}`)} = new_id)
             order by lists.board_id, new_id, lists.position) chosen
     where board_lists.id = chosen.id`.execute(tx);
  await sql`delete from board_lists lists where ${of} = any(${idsOf(rows.map(({ id }) => id))}) and ${isInside}`.execute(
    tx,
  );
}

/** Labels of groups that it has left which it bears, those with a priority in its projects, and those with a list on its boards. */
function foreignLabels({ moved, left_ids }: Move): RawBuilder<unknown> {
  const left = sql`(select id from labels where group_id = any(${idsOf(left_ids)}))`;
  const borne = bearersIn(moved).map(
    ({ labels, isInside }) => sql`select label_id from ${labels} where label_id in ${left} and ${isInside}`,
  );
  const ordered = sql`select label_id from label_priorities where label_id in ${left} and ${isOfProjects(moved, 'label_priorities')}`;
  const listed = sql`select label_id from board_lists where label_id in ${left} and ${isOfBoards(moved, 'board_lists.board_id')}`;
  return sql`select * from labels where id in (${sql.join([...borne, ordered, listed], sql` union `)})`;
}

/** Replaces the labels of groups that were left by those of the same title that can be used now, or by copies. */
async function takeLabels(tx: Database, move: Move): Promise<void> {
  const { moved } = move;
  const owner = ownerOf(moved);
  await sql`
    insert into labels (${owner.column}, title, description, color, archived)
    select distinct on (gone.title) ${owner.id}::bigint, gone.title, gone.description, gone.color, gone.archived
      from (${foreignLabels(move)}) gone where ${sameTitled('labels', moved)} is null order by gone.title, gone.id
        on conflict do nothing`.execute(tx);
  const { rows } = await sql<{ id: number; new_id: number }>`
    select gone.id, ${sameTitled('labels', moved)} as new_id from (${foreignLabels(move)}) gone order by gone.id`.execute(
    tx,
  );
  if (rows.length === 0) return;
  const [replaced, gone] = [pairsOf(rows), idsOf(rows.map(({ id }) => id))];
  for (const { labels, of, isInside } of bearersIn(moved)) {
    await sql`
      insert into ${labels} (${of}, label_id) select distinct ${of}, new_id from ${labels} join ${replaced} on label_id = replaced.id
       where ${isInside} on conflict do nothing`.execute(tx);
    await sql`delete from ${labels} where label_id = any(${gone}) and ${isInside}`.execute(tx);
  }
  await replaceInLists(tx, moved, 'label_id', rows);
  const isOrdered = isOfProjects(moved, 'label_priorities');
  await sql`
    insert into label_priorities (label_id, project_id, priority)
    select distinct on (new_id, project_id) new_id, project_id, priority from label_priorities join ${replaced} on label_id = replaced.id
     where ${isOrdered} order by new_id, project_id, priority on conflict do nothing`.execute(tx);
  await sql`delete from label_priorities where ${isOrdered} and label_id = any(${gone})`.execute(tx);
}

function foreignMilestones({ moved, left_ids }: Move): RawBuilder<unknown> {
  const left = sql`(select id from milestones where group_id = any(${idsOf(left_ids)}))`;
  const used = inProjects.map(
    ({ table }) =>
      sql`select milestone_id from ${sql.table(table)} where milestone_id in ${left} and ${isOfProjects(moved, table)}`,
  );
  const released = sql`select milestone_id from release_milestones where milestone_id in ${left} and ${isOfReleases(moved)}`;
  const listed = sql`select milestone_id from board_lists where milestone_id in ${left} and ${isOfBoards(moved, 'board_lists.board_id')}`;
  const scopes = sql`select milestone_id from boards where milestone_id in ${left} and ${isOfBoards(moved, 'boards.id')}`;
  return sql`select * from milestones where id in (${sql.join([...used, released, listed, scopes], sql` union `)})`;
}

/** The same for milestones. */
async function takeMilestones(tx: Database, move: Move): Promise<void> {
  const { moved } = move;
  const { rows: missing } = await sql<{ id: number }>`
    select distinct on (gone.title) gone.id from (${foreignMilestones(move)}) gone
     where ${sameTitled('milestones', moved)} is null order by gone.title, gone.id`.execute(tx);
  if (missing.length > 0) {
    const numbered = 'project_id' in moved ? moved : { namespace_id: moved.group_id };
    const first = await nextIids(tx, numbered, 'milestones', missing.length);
    const owner = ownerOf(moved);
    await sql`
      insert into milestones (${owner.column}, iid, title, description, state, start_date, due_date)
      select ${owner.id}, ${first}::integer - 1 + row_number() over (order by id), title, description, state, start_date, due_date
        from milestones where id = any(${idsOf(missing.map(({ id }) => id))})`.execute(tx);
  }
  const { rows } = await sql<{ id: number; new_id: number }>`
    select gone.id, ${sameTitled('milestones', moved)} as new_id from (${foreignMilestones(move)}) gone order by gone.id`.execute(
    tx,
  );
  if (rows.length === 0) return;
  for (const { table } of inProjects)
    await sql`
      update ${sql.table(table)} set milestone_id = new_id from ${pairsOf(rows)}
       where ${isOfProjects(moved, table)} and ${sql.ref(`${table}.milestone_id`)} = replaced.id`.execute(tx);
  await sql`
    insert into release_milestones (release_id, milestone_id)
    select release_id, new_id from release_milestones join ${pairsOf(rows)} on milestone_id = replaced.id where ${isOfReleases(moved)}
    on conflict do nothing`.execute(tx);
  await sql`
    delete from release_milestones where milestone_id = any(${idsOf(rows.map(({ id }) => id))}) and ${isOfReleases(moved)}`.execute(
    tx,
  );
  await replaceInLists(tx, moved, 'milestone_id', rows);
  await sql`
    update boards set milestone_id = new_id from ${pairsOf(rows)}
     where ${isOfBoards(moved, 'boards.id')} and boards.milestone_id = replaced.id`.execute(tx);
}

/** A predicate on rows of a table of resource events: they are in the history of something that has moved. */
const isInHistory = (moved: Moved, table: string, kinds: readonly IssuableKind[]) =>
  sql`(${sql.join(
    kinds.map(({ table: items, column, places }) => {
      const isInside =
        'group_id' in moved && places === 'namespaces' ? isOfGroups(moved.group_id, items) : isOfProjects(moved, items);
      return sql`${sql.ref(`${table}.${column}`)} in (select id from ${sql.table(items)} where ${isInside})`;
    }),
    sql` or `,
  )})`;

/**
 * What stands for the labels and milestones of the groups that were left does so in the histories, too. Where nothing does, these tell as much as if they had been deleted:
 * they would show what the groups call them later.
 */
async function takeHistories(tx: Database, { moved, left_ids }: Move): Promise<void> {
  const left = (table: string) => sql`${sql.table(table)} gone where gone.group_id = any(${idsOf(left_ids)})`;
  const labelled = isInHistory(moved, 'resource_label_events', 'group_id' in moved ? issuableKinds : inProjects);
  await sql`
    update resource_label_events set label_id = ${sameTitled('labels', moved)}
      from ${left('labels')} and resource_label_events.label_id = gone.id and ${labelled}`.execute(tx);
  const planned = isInHistory(moved, 'resource_milestone_events', inProjects);
  await sql`
    update resource_milestone_events set milestone_id = ${sameTitled('milestones', moved)}
      from ${left('milestones')} and resource_milestone_events.milestone_id = gone.id and ${planned}
       and ${sameTitled('milestones', moved)} is not null`.execute(tx);
  await sql`
    delete from resource_milestone_events
     using ${left('milestones')} and resource_milestone_events.milestone_id = gone.id and ${planned}`.execute(tx);
}

/** Iterations of the groups that were left stay with these: what has moved is in none of them, has never been, and boards lose what they have of them. */
async function leaveIterations(tx: Database, { moved, left_ids }: Move): Promise<void> {
  const left = sql`(select id from iterations where group_id = any(${idsOf(left_ids)}))`;
  const issues = sql.table(issueKind.table);
  await sql`
    update ${issues} set iteration_id = null where iteration_id in ${left} and ${isOfProjects(moved, issueKind.table)}`.execute(
    tx,
  );
  await sql`
    delete from resource_iteration_events
     where iteration_id in ${left} and issue_id in (select id from ${issues} where ${isOfProjects(moved, issueKind.table)})`.execute(
    tx,
  );
  await sql`
    delete from board_lists where iteration_id in ${left} and ${isOfBoards(moved, 'board_lists.board_id')}`.execute(tx);
  await sql`
    update boards set iteration_id = null where iteration_id in ${left} and ${isOfBoards(moved, 'boards.id')}`.execute(
    tx,
  );
}

/**
 * Keeps the labels and milestones of what has moved, also on its boards, of its releases and in its histories: those that it can use now are used, others are copied into
 * the project or group that has moved. Nothing that it has leads to the groups that it has left.
 * @param tx the transaction of the transfer, after it
 * @param from_id the namespace above it before, null for none
 * @param to_id the same afterwards
 */
export async function takePlanning(
  tx: Database,
  moved: Moved,
  from_id: number | null,
  to_id: number | null,
): Promise<void> {
  const above = (id: number | null) => sql`select unnest(traversal_ids) as id from namespaces where id = ${id}`;
  const { rows } = await sql<{ id: number }>`${above(from_id)} except ${above(to_id)}`.execute(tx);
  if (rows.length === 0) return;
  const move = { moved, left_ids: rows.map(({ id }) => id) };
  await takeLabels(tx, move);
  await takeMilestones(tx, move);
  await takeHistories(tx, move);
  await leaveIterations(tx, move);
}
