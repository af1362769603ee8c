/** How links between issues, and those between epics, leave and arrive (docs/reference/relations_export.md#issue_links). */
import { sql } from 'kysely';
import { type IssuableKind, rowsWithPlaces } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import {
  type Arrival,
  type ArrivingRow,
  choice,
  columnOr,
  isText,
  type RecordKind,
  type Relation,
  required,
  shown,
  time,
} from '../../../../relations/index.ts';

/** The number of an item, and the full path of its project or group; null for the place that is exported. */
export interface End {
  iid: unknown;
  path: unknown;
}

/** The ids of the items at these ends, in order; undefined for items that do not exist here or are not part of the migration. */
export async function itemsAt(
  tx: Database,
  { table, place_column, places }: IssuableKind,
  arrival: Arrival,
  ends: readonly End[],
): Promise<(number | undefined)[]> {
  const asked = ends.map(({ iid, path }, index) => ({
    index,
    iid: Number.isSafeInteger(iid) ? iid : 0,
    path: path === null ? null : isText(path) ? (arrival.path(path) ?? '') : '',
  }));
  const { rows } = await sql<{ index: number; id: number }>`
    select index, ${sql.ref(`${table}.id`)} as id
      from json_to_recordset(${JSON.stringify(asked)}::json) asked(index integer, iid bigint, path citext)
           join ${sql.table(places)} place on place.full_path = asked.path or (asked.path is null and place.id = ${arrival.owner.id})
           join ${sql.table(table)} on ${sql.ref(`${table}.${place_column}`)} = place.id and ${sql.ref(`${table}.iid`)} = asked.iid`.execute(
    tx,
  );
  const ids = new Map(rows.map(({ index, id }) => [index, id]));
  return ends.map((_, index) => ids.get(index));
}

/** The links from the items of a place. The reader must be allowed to see both ends. */
export function linksOf(item: IssuableKind, links: 'issue_links' | 'epic_links'): Relation {
  const { table, place_column, places, isVisible } = item;
  const column = (name: string) => sql.ref(`${links}.${name}`);
  const numberOf = (name: string) => sql`(select iid from ${sql.table(table)} where id = ${column(name)})`;
  const placeOf = (name: string) =>
    sql`(select ${sql.ref(place_column)} from ${sql.table(table)} where id = ${column(name)})`;
  const path = sql`(
    select full_path from ${sql.table(places)} where id = ${placeOf('target_id')} and id <> ${placeOf('source_id')})`;
  const kind: RecordKind = {
    table: links,
    isOwned: ({ owner }) =>
      sql`${column('source_id')} in (select id from ${sql.table(table)} where ${sql.ref(place_column)} = ${owner.id})`,
    isVisible: ({ caller }) =>
      sql`(select count(*) from ${rowsWithPlaces(item)} where ${sql.ref(`${table}.id`)} in (${column('source_id')}, ${column('target_id')}) and ${isVisible(caller)}) = 2`,
    members: {
      source_iid: shown(numberOf('source_id')),
      target_iid: shown(numberOf('target_id')),
      target_full_path: shown(path),
      link_type: columnOr('link_type', choice('relates_to', 'blocks'), 'relates_to'),
      created_at: required('created_at', time),
      updated_at: columnOr('updated_at', time, null),
    },
    title: 'source_iid',
    stays: {},
    derives: {
      columns: { source_id: 'bigint', target_id: 'bigint' },
      derive: async (rows, arrival, tx) => {
        const sources = await itemsAt(
          tx,
          item,
          arrival,
          rows.map(({ value }) => ({ iid: value.source_iid, path: null })),
        );
        const targets = await itemsAt(
          tx,
          item,
          arrival,
          rows.map(({ value }) => ({ iid: value.target_iid, path: value.target_full_path ?? null })),
        );
        return new Map(
          rows.flatMap((each, index): [ArrivingRow, string][] => {
            const [source_id, target_id] = [sources[index], targets[index]];
            Object.assign(each.row, { source_id, target_id, updated_at: each.row.updated_at ?? each.row.created_at });
            if (source_id === undefined || target_id === undefined)
              return [[each, `names ${item.name === 'epic' ? 'an epic' : 'an issue'} that is not here`]];
            return source_id === target_id ? [[each, 'links an item to itself']] : [];
          }),
        );
      },
    },
  };
  return { name: links, kind, ...(links === 'issue_links' && { is_batched: true }) };
}
