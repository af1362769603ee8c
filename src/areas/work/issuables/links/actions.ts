/** Links between items of one kind: related and blocking links, with rows and system notes. */
import { sql } from 'kysely';
import type { IssuableKind } from '../../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../../db/index.ts';
import { type Caller, conflict, unprocessable } from '../../../../http/index.ts';
import { noteOnBoth } from '../../../conversation/notes/index.ts';
import { assignedText, type Named, referenceTo } from '../rules.ts';
import { type LinkRow, type LinkType, linkOf, linksTable } from './queries.ts';

const words: Record<LinkType, string> = { relates_to: 'related to', blocks: 'blocking', is_blocked_by: 'blocked by' };
const reversed = { relates_to: 'relates_to', blocks: 'is_blocked_by', is_blocked_by: 'blocks' } as const;

type Pair = readonly [Named, Named];

/** Adds a system note to both items, each mentioning the other. */
function noteLink(
  tx: Database,
  kind: IssuableKind,
  author_id: number,
  [one, other]: Pair,
  [ofOther, ofOne]: [string, string],
) {
  const name = (on: Named, of: Named) => referenceTo(kind, on[kind.place_column], of);
  return noteOnBoth(
    tx,
    author_id,
    [{ kind, id: one.id }, `${ofOther} ${name(one, other)}`],
    [{ kind, id: other.id }, `${ofOne} ${name(other, one)}`],
  );
}

/**
 * Links two items, with a system note on each.
 * @param type the type of the link, seen from the first item
 * @returns the id of the link; undefined if they are linked already, with any type
 */
export async function addLink(
  tx: Database,
  kind: IssuableKind,
  author_id: number,
  [source, target]: Pair,
  type: LinkType,
): Promise<number | undefined> {
  // The blocked item is always stored as the target.
  const [from, to] = type === 'is_blocked_by' ? [target, source] : [source, target];
  const { rows } = await sql<{ id: number }>`
    insert into ${linksTable(kind)} (source_id, target_id, link_type)
    values (${from.id}, ${to.id}, ${type === 'relates_to' ? 'relates_to' : 'blocks'}) on conflict do nothing returning id`.execute(
    tx,
  );
  const said = (of: LinkType) => `marked this ${kind.name} as ${words[of]}`;
  if (rows[0]) await noteLink(tx, kind, author_id, [source, target], [said(type), said(reversed[type])]);
  return rows[0]?.id;
}

/**
 * Links two items through the API.
 * @returns the link
 * @throws ApiError 422 for a link of an item to itself, 409 if they are linked already
 */
export async function createLink(
  db: Database,
  kind: IssuableKind,
  caller: Caller,
  [source, target]: Pair,
  type: LinkType,
): Promise<LinkRow> {
  if (target.id === source.id)
    throw unprocessable(
      `${referenceTo(kind, source[kind.place_column], target)} cannot be added: cannot be related to itself`,
    );
  const id = await db.transaction().execute((tx) => addLink(tx, kind, caller.id, [source, target], type));
  if (id === undefined) throw conflict(assignedText(kind));
  return linkOf(db, caller, { kind, id: source.id }, id);
}

/**
 * Deletes the link between two items, with a system note on each.
 * @returns whether a link existed
 */
export async function removeLink(tx: Database, kind: IssuableKind, author_id: number, pair: Pair): Promise<boolean> {
  const ids = pair.map(({ id }) => id);
  const { rows } = await sql`
    delete from ${linksTable(kind)} where source_id = any(${ofAnyLength(ids, 'bigint[]')}) and target_id = any(${ofAnyLength(ids, 'bigint[]')}) returning id`.execute(
    tx,
  );
  const body = 'removed the relation with';
  if (rows.length > 0) await noteLink(tx, kind, author_id, pair, [body, body]);
  return rows.length > 0;
}
