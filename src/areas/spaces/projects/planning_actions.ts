/** What a project that moves to another group takes along of the groups that it leaves (docs/reference/projects.md#transfer). */
import { sql } from 'kysely';
import { type Database, nextIids } from '../../../db/index.ts';

/** A predicate on rows of `labels` and `milestones`: they belong to a group that the project is no longer below. */
const isForeign = (table: 'labels' | 'milestones', project_id: number) => sql<boolean>`
  (${sql.ref(`${table}.group_id`)} is not null and not exists (
     select from projects join namespaces place on place.id = projects.namespace_id
      where projects.id = ${project_id} and place.traversal_ids @> array[${sql.ref(`${table}.group_id`)}]))`;

/** The one of the same title that the project may use now: its own, or else that of the oldest group above it. */
const sameTitled = (table: 'labels' | 'milestones', project_id: number) => sql`
  (select there.id from ${sql.table(table)} there
    where there.title = gone.title
      and (there.project_id = ${project_id}
           or there.group_id = any((select traversal_ids from namespaces join projects on projects.namespace_id = namespaces.id where projects.id = ${project_id})::bigint[]))
    order by there.project_id is null, there.id limit 1)`;

/** Labels on issues and merge requests of a project, and those with a priority in it, of groups that it has left. */
const foreignLabels = (project_id: number) => sql`
  select * from labels
   where id in (select label_id from issue_labels join issues on issues.id = issue_id where project_id = ${project_id}
                union select label_id from merge_request_labels join merge_requests on merge_requests.id = merge_request_id where project_id = ${project_id}
                union select label_id from label_priorities where project_id = ${project_id})
     and ${isForeign('labels', project_id)}`;

/**
 * Replaces the labels of groups that a project has left by those of the same title that it has, or gets.
 * @param tx the transaction of the transfer, after it
 */
async function takeLabels(tx: Database, project_id: number): Promise<void> {
  await sql`
    insert into labels (project_id, title, description, color, archived)
    select distinct on (gone.title) ${project_id}::bigint, gone.title, gone.description, gone.color, gone.archived
      from (${foreignLabels(project_id)}) gone where ${sameTitled('labels', project_id)} is null order by gone.title, gone.id
        on conflict do nothing`.execute(tx);
  const { rows } = await sql<{ id: number; new_id: number }>`
    select gone.id, ${sameTitled('labels', project_id)} as new_id from (${foreignLabels(project_id)}) gone order by gone.id`.execute(
    tx,
  );
  if (rows.length === 0) return;
  const replaced = sql`unnest(${rows.map(({ id }) => id)}::bigint[], ${rows.map(({ new_id }) => new_id)}::bigint[]) replaced(id, new_id)`;
  await sql`
    insert into label_priorities (label_id, project_id, priority)
    select distinct on (new_id) new_id, project_id, priority from label_priorities join ${replaced} on label_id = replaced.id
     where project_id = ${project_id} order by new_id, priority on conflict do nothing`.execute(tx);
  for (const [table, bearer, items] of [
    ['issue_labels', 'issue_id', 'issues'],
    ['merge_request_labels', 'merge_request_id', 'merge_requests'],
  ] as const) {
    const [labels, of] = [sql.table(table), sql.ref(bearer)];
    const isOurs = sql`${of} in (select id from ${sql.table(items)} where project_id = ${project_id})`;
    await sql`
      insert into ${labels} (${of}, label_id) select distinct ${of}, new_id from ${labels} join ${replaced} on label_id = replaced.id
       where ${isOurs} on conflict do nothing`.execute(tx);
    await sql`delete from ${labels} where label_id = any(${rows.map(({ id }) => id)}::bigint[]) and ${isOurs}`.execute(tx);
  }
  await sql`
    delete from label_priorities where project_id = ${project_id} and label_id = any(${rows.map(({ id }) => id)}::bigint[])`.execute(
    tx,
  );
}

const foreignMilestones = (project_id: number) => sql`
  select * from milestones
   where id in (select milestone_id from issues where project_id = ${project_id}
                union select milestone_id from merge_requests where project_id = ${project_id})
     and ${isForeign('milestones', project_id)}`;

/** The same for milestones. */
async function takeMilestones(tx: Database, project_id: number): Promise<void> {
  const { rows: missing } = await sql<{ id: number }>`
    select distinct on (gone.title) gone.id from (${foreignMilestones(project_id)}) gone
     where ${sameTitled('milestones', project_id)} is null order by gone.title, gone.id`.execute(tx);
  if (missing.length > 0) {
    const first = await nextIids(tx, { project_id }, 'milestones', missing.length);
    await sql`
      insert into milestones (project_id, iid, title, description, state, start_date, due_date)
      select ${project_id}, ${first}::integer - 1 + row_number() over (order by id), title, description, state, start_date, due_date
        from milestones where id = any(${missing.map(({ id }) => id)}::bigint[])`.execute(tx);
  }
  const { rows } = await sql<{ id: number; new_id: number }>`
    select gone.id, ${sameTitled('milestones', project_id)} as new_id from (${foreignMilestones(project_id)}) gone order by gone.id`.execute(
    tx,
  );
  if (rows.length === 0) return;
  const replaced = sql`unnest(${rows.map(({ id }) => id)}::bigint[], ${rows.map(({ new_id }) => new_id)}::bigint[]) replaced(id, new_id)`;
  for (const table of ['issues', 'merge_requests'] as const)
    await sql`
      update ${sql.table(table)} items set milestone_id = new_id from ${replaced}
       where items.project_id = ${project_id} and items.milestone_id = replaced.id`.execute(tx);
}

/**
 * Keeps the labels and milestones of the issues and merge requests of a project that has moved: those of groups above it are used, others copied into it.
 * @param tx the transaction of the transfer, after it
 */
export async function takePlanning(tx: Database, project_id: number): Promise<void> {
  await takeLabels(tx, project_id);
  await takeMilestones(tx, project_id);
}
