/** Queries for links between items of one kind. */
import { type RawBuilder, sql } from 'kysely';
import { type Issuable, type IssuableKind, type MaybeCaller, rowsWithPlaces } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { found } from '../../../../http/index.ts';
import type { linkTypes } from './parameters.ts';

/** The type of a link, seen from one side. */
export type LinkType = (typeof linkTypes)[number];

/** The link table of a kind. */
export const linksTable = ({ name }: IssuableKind): RawBuilder<unknown> => sql.table(`${name}_links`);

export interface LinkRow {
  id: number;
  source_id: number;
  target_id: number;
  link_type: 'relates_to' | 'blocks';
  created_at: string;
  updated_at: string;
}

/** The links of an item to other items that the caller may read, as `links` joined with these items. */
function linksOf(caller: MaybeCaller, { kind, id }: Issuable): RawBuilder<unknown> {
  const table = linksTable(kind);
  return sql`
    (select * from ${table} where source_id = ${id} union all select * from ${table} where target_id = ${id}) links
      join (${rowsWithPlaces(kind)}) on ${sql.ref(`${kind.table}.id`)} = case when links.source_id = ${id} then links.target_id else links.source_id end
       and ${kind.isVisible(caller)}`;
}

/**
 * A link of an item to another that the caller may read.
 * @throws ApiError 404
 */
export async function linkOf(db: Database, caller: MaybeCaller, on: Issuable, link_id: number): Promise<LinkRow> {
  const { rows } = await sql<LinkRow>`
    select links.id, links.source_id, links.target_id, links.link_type, links.created_at, links.updated_at
      from ${linksOf(caller, on)} where links.id = ${link_id}`.execute(db);
  return found(undefined, rows[0]);
}

interface LinkedRow {
  /** The id of the other item. */
  id: number;
  link_id: number;
  /** The type of the link, seen from this item. */
  link_type: LinkType;
  link_created_at: string;
  link_updated_at: string;
}

/** The linked items that the caller may read, oldest link first. */
async function linkedTo(db: Database, caller: MaybeCaller, on: Issuable): Promise<LinkedRow[]> {
  const id = sql.ref(`${on.kind.table}.id`);
  const { rows } = await sql<LinkedRow>`
    select ${id} as id, links.id as link_id, links.created_at as link_created_at, links.updated_at as link_updated_at,
           case when links.link_type = 'relates_to' then links.link_type when links.source_id = ${id} then 'blocks' else 'is_blocked_by' end as link_type
      from ${linksOf(caller, on)} order by links.id`.execute(db);
  return rows;
}

/**
 * The items linked to an item that the caller may read, oldest link first.
 * @param present converts ids to replies, in any order, and may omit some
 */
export async function linkedWith<T extends { id: number }>(
  db: Database,
  caller: MaybeCaller,
  on: Issuable,
  present: (ids: number[]) => Promise<T[]>,
): Promise<{ thing: T; link_id: number; link: Omit<LinkedRow, 'id' | 'link_id'> }[]> {
  const links = await linkedTo(db, caller, on);
  const known = new Map((await present(links.map(({ id }) => id))).map((thing) => [thing.id, thing]));
  return links.flatMap(({ id, link_id, ...link }) => {
    const thing = known.get(id);
    return thing ? [{ thing, link_id, link }] : [];
  });
}
