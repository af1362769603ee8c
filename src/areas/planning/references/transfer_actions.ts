/**
 * References from a transferred project or group into the groups that it leaves (docs/reference/projects.md#transfer).
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  type Database,
  nextIids,
  type Reference,
  referencesTo,
  releaseReferences,
  replaceReferences,
} from '../../../db/index.ts';
import { type AtTransfer, atTransfer } from '../../references.ts';
import type { PlanningTable } from './actions.ts';
import { idsOf, isOwnedBy, type Moved, type Owners, ownersByTable } from './inside_queries.ts';

interface Move {
  moved: Moved;
  /** The former ancestor groups that are no longer ancestors. */
  left_ids: readonly number[];
  owners: Owners;
}

/** A reference from the transferred project or group. */
interface Inner extends Reference {
  transfer: AtTransfer;
  isInside: RawBuilder<SqlBool>;
}

/** The references that do not simply stay. */
async function innerReferences(
  tx: Database,
  { moved, owners }: Move,
  table: keyof typeof atTransfer,
): Promise<Inner[]> {
  const fates: Readonly<Record<string, AtTransfer>> = atTransfer[table];
  return (await referencesTo(tx, table)).flatMap((reference) => {
    const key = `${reference.table}.${reference.column}`;
    const transfer = fates[key];
    if (transfer === undefined) throw new Error(`areas/references.ts lacks ${key}`);
    return transfer.startsWith('stays')
      ? []
      : [{ ...reference, transfer, isInside: isOwnedBy(owners, moved, reference.table) }];
  });
}

/** The rows of the former ancestor groups to which some of the references point, as the table `gone`. */
function leftRows(table: PlanningTable, { left_ids }: Move, references: readonly Inner[]): RawBuilder<unknown> {
  const left = sql`(select id from ${sql.table(table)} where group_id = any(${idsOf(left_ids)}))`;
  const named = references.map((reference) => {
    const column = sql.ref(`${reference.table}.${reference.column}`);
    return sql`select ${column} from ${sql.table(reference.table)} where ${column} in ${left} and ${reference.isInside}`;
  });
  return sql`(select * from ${sql.table(table)} where id in (${sql.join(named, sql` union `)})) gone`;
}

/** The columns that make a record belong to the transferred project or group, with their values. */
const ownerOf = (moved: Moved) =>
  'project_id' in moved
    ? { column: sql.ref('project_id'), id: moved.project_id }
    : { column: sql.ref('group_id'), id: moved.group_id };

/** The available record with the same title as `gone`: of the project itself, or else of the oldest ancestor group. */
function sameTitled(table: PlanningTable, moved: Moved): RawBuilder<number | null> {
  const isAbove =
    'project_id' in moved
      ? sql`there.project_id = ${moved.project_id} or there.group_id = any((
          select traversal_ids from namespaces join projects on projects.namespace_id = namespaces.id
           where projects.id = ${moved.project_id})::bigint[])`
      : sql`there.group_id = any((select traversal_ids from namespaces where id = ${moved.group_id})::bigint[])`;
  return sql`
    (select there.id from ${sql.table(table)} there where there.title = gone.title and (${isAbove})
      order by there.project_id is null, there.id limit 1)`;
}

async function copyLabels(tx: Database, moved: Moved, gone: RawBuilder<unknown>): Promise<void> {
  const owner = ownerOf(moved);
  await sql`
    insert into labels (${owner.column}, title, description, color, archived)
    select distinct on (gone.title) ${owner.id}::bigint, gone.title, gone.description, gone.color, gone.archived
      from ${gone} where ${sameTitled('labels', moved)} is null order by gone.title, gone.id
        on conflict do nothing`.execute(tx);
}

async function copyMilestones(tx: Database, moved: Moved, gone: RawBuilder<unknown>): Promise<void> {
  const { rows: missing } = await sql<{ id: number }>`
    select distinct on (gone.title) gone.id from ${gone} where ${sameTitled('milestones', moved)} is null order by gone.title, gone.id`.execute(
    tx,
  );
  if (missing.length === 0) return;
  const numbered = 'project_id' in moved ? moved : { namespace_id: moved.group_id };
  const first = await nextIids(tx, numbered, 'milestones', missing.length);
  const owner = ownerOf(moved);
  await sql`
    insert into milestones (${owner.column}, iid, title, description, state, start_date, due_date)
    select ${owner.id}, ${first}::integer - 1 + row_number() over (order by id), title, description, state, start_date, due_date
      from milestones where id = any(${idsOf(missing.map(({ id }) => id))})`.execute(tx);
}

/** How rows that are still needed are copied. */
const copies = { labels: copyLabels, milestones: copyMilestones };

/** Applies the rules to the references to one table. */
async function leave(tx: Database, table: PlanningTable, move: Move): Promise<void> {
  const { moved } = move;
  const references = await innerReferences(tx, move, table);
  const needed = references.filter(({ transfer }) => transfer === 'copy');
  if (table !== 'iterations') await copies[table](tx, moved, leftRows(table, move, needed));
  const new_id = table === 'iterations' ? sql<null>`null::bigint` : sameTitled(table, moved);
  const { rows } = await sql<{ id: number; new_id: number | null }>`
    select gone.id, ${new_id} as new_id from ${leftRows(table, move, references)} order by gone.id`.execute(tx);
  if (rows.length === 0) return;
  const replaced = rows.filter((row): row is { id: number; new_id: number } => row.new_id !== null);
  const ids = rows.map(({ id }) => id);
  for (const { isInside, ...reference } of references) {
    if (replaced.length > 0) await replaceReferences(tx, reference, { replaced, isInside });
    await releaseReferences(tx, reference, ids, isInside);
  }
}

/** Takes issues out of their epics where the project has come into a personal namespace, whose issues are in none. */
async function leaveEpics(tx: Database, move: Move, to_id: number | null): Promise<void> {
  if (to_id === null) return;
  const { kind } = await tx.selectFrom('namespaces').select('kind').where('id', '=', to_id).executeTakeFirstOrThrow();
  if (kind !== 'user') return;
  for (const { isInside, transfer, ...reference } of await innerReferences(tx, move, 'epics'))
    if (transfer === 'release outside of groups') await releaseReferences(tx, reference, undefined, isInside);
}

/**
 * Keeps the labels and milestones of a transferred project or group, including those of its boards, releases and
 * histories: available ones of the same title are used, and others are copied into the transferred project or group.
 * Iterations stay with their groups, and issues leave their epics where they can be in none. Afterwards no reference
 * of `areas/references.ts` points to the former ancestor groups, unless it may.
 * @param tx the transaction of the transfer, after it
 * @param from_id the former parent namespace, null for none
 * @param to_id the new parent namespace, null for none
 */
export async function leaveFormerGroups(
  tx: Database,
  moved: Moved,
  from_id: number | null,
  to_id: number | null,
): Promise<void> {
  const above = (id: number | null) => sql`select unnest(traversal_ids) as id from namespaces where id = ${id}`;
  const { rows } = await sql<{ id: number }>`${above(from_id)} except ${above(to_id)}`.execute(tx);
  if (rows.length === 0) return;
  const move = { moved, left_ids: rows.map(({ id }) => id), owners: await ownersByTable(tx) };
  for (const table of ['labels', 'milestones', 'iterations'] as const) await leave(tx, table, move);
  await leaveEpics(tx, move, to_id);
}
