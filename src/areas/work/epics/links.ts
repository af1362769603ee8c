/** Links between epics: which belong together, and which block which. */
import { sql } from 'kysely';
import { type Group, isVisibleEpic, type MaybeCaller } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { found } from '../../../http/index.ts';
import { addSystemNote } from '../../conversation/notes/index.ts';
import { type EpicReference, epicReference } from './queries.ts';

export type EpicLinkType = 'relates_to' | 'blocks' | 'is_blocked_by';

export interface EpicLinkRow {
  id: number;
  source_id: number;
  target_id: number;
  link_type: 'relates_to' | 'blocks';
  created_at: string;
  updated_at: string;
}

const words: Record<EpicLinkType, string> = {
  relates_to: 'marked this epic as related to',
  blocks: 'marked this epic as blocking',
  is_blocked_by: 'marked this epic as blocked by',
};
const reversed = { relates_to: 'relates_to', blocks: 'is_blocked_by', is_blocked_by: 'blocks' } as const;

/** Notes on both epics what is said of the other one. */
async function noteOnBoth(tx: Database, author_id: number, [one, other]: [EpicReference, EpicReference], of: [string, string]) {
  const about = ({ id }: EpicReference) => ({ epic_id: id });
  const [toOther, toOne] = [epicReference(other, one.group_id), epicReference(one, other.group_id)];
  await addSystemNote(tx, about(one), author_id, `${of[0]} ${toOther}`, { refers_to: about(other) });
  await addSystemNote(tx, about(other), author_id, `${of[1]} ${toOne}`, { refers_to: about(one) });
}

/**
 * Links two epics, with a note on each.
 * @param type what the first is to the second
 * @returns the id of the link; undefined where there is one already, whatever its kind
 */
export async function linkEpics(
  tx: Database,
  author_id: number,
  [source, target]: [EpicReference, EpicReference],
  type: EpicLinkType,
): Promise<number | undefined> {
  // Who is blocked is the target, whoever says so.
  const [from, to] = type === 'is_blocked_by' ? [target, source] : [source, target];
  const added = await tx
    .insertInto('epic_links')
    .values({ source_id: from.id, target_id: to.id, link_type: type === 'relates_to' ? 'relates_to' : 'blocks' })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  if (added) await noteOnBoth(tx, author_id, [source, target], [words[type], words[reversed[type]]]);
  return added?.id;
}

/** Ends a link, with a note on each of its epics. Nothing happens where somebody else has just done so. */
export async function unlinkEpics(
  tx: Database,
  author_id: number,
  link_id: number,
  pair: [EpicReference, EpicReference],
): Promise<void> {
  const removed = await tx.deleteFrom('epic_links').where('id', '=', link_id).returning('id').executeTakeFirst();
  const body = 'removed the relation with';
  if (removed) await noteOnBoth(tx, author_id, pair, [body, body]);
}

/** The other epic of a row of `epic_links`. */
const otherThan = (epic_id: number) => sql`case when source_id = ${epic_id} then target_id else source_id end`;

/** Links of an epic to those that the caller may read. */
const linksOf = (caller: MaybeCaller, epic_id: number) => sql`
  (select * from epic_links where source_id = ${epic_id} union all select * from epic_links where target_id = ${epic_id}) epic_links
    join epics on epics.id = ${otherThan(epic_id)} join namespaces on namespaces.id = epics.group_id and ${isVisibleEpic(caller)}`;

/**
 * A link of the epic to one that the caller may read.
 * @throws ApiError 404
 */
export async function epicLinkOf(db: Database, caller: MaybeCaller, epic_id: number, id: number): Promise<EpicLinkRow> {
  const { rows } = await sql<EpicLinkRow>`
    select epic_links.id, source_id, target_id, link_type, epic_links.created_at, epic_links.updated_at
      from ${linksOf(caller, epic_id)} where epic_links.id = ${id}`.execute(db);
  return found(undefined, rows[0]);
}

export interface RelatedEpic {
  epic_id: number;
  related_epic_link_id: number;
  /** What the other epic is to this one. */
  link_type: EpicLinkType;
  link_created_at: string;
  link_updated_at: string;
}

/** What an epic is linked to, as far as the caller may read it, the oldest link first. */
export async function relatedTo(db: Database, caller: MaybeCaller, epic_id: number): Promise<RelatedEpic[]> {
  const { rows } = await sql<RelatedEpic>`
    select epics.id as epic_id, epic_links.id as related_epic_link_id, epic_links.created_at as link_created_at, epic_links.updated_at as link_updated_at,
           case when link_type = 'relates_to' then link_type when source_id = epics.id then 'blocks' else 'is_blocked_by' end as link_type
      from ${linksOf(caller, epic_id)} order by epic_links.id`.execute(db);
  return rows;
}

/** The id of the epic with a number, if there is one; whether the caller may read it has to be asked. */
export async function idOfEpic(db: Database, { id }: Pick<Group, 'id'>, iid: number): Promise<number | undefined> {
  const query = db.selectFrom('epics').select('id').where('group_id', '=', id);
  return (await query.where(sql<boolean>`iid = ${iid}::bigint`).executeTakeFirst())?.id;
}
