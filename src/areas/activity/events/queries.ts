/** Queries for events in lists and replies. */
import { sql } from 'kysely';
import { countsToday, type MaybeCaller } from '../../../access/index.ts';
import { type Database, ofAnyLength, type Slots, statement } from '../../../db/index.ts';
import type { Caller } from '../../../http/index.ts';
import { countedUpTo, type SortKey } from '../../../lists/index.ts';
import { type UserBasicRow, userBasicJson } from '../../people/users/index.ts';
import type { EventTargets, EventWikiPage } from './definition.ts';
import type { Push } from './push_actions.ts';
import {
  asReading,
  byTarget,
  type EventPosition,
  isVisibleEvent,
  type ListedEvents,
  type Subject,
  shapeOf,
} from './visibility_queries.ts';

const push = sql<Push | null>`
  (select jsonb_build_object('commit_count', commit_count, 'action', push.action, 'ref_type', ref_type, 'commit_from', commit_from,
                             'commit_to', commit_to, 'ref', ref, 'commit_title', commit_title, 'ref_count', ref_count)
     from push_event_payloads push where push.event_id = events.id)`;

export interface EventRow {
  id: number;
  project_id: number | null;
  action: string;
  target_type: string | null;
  target_id: number | null;
  author_id: number;
  imported_from: string;
  created_at: string;
  target_title: string | null;
  target_iid: number | null;
  push: Push | null;
  wiki_page: EventWikiPage | null;
  author: UserBasicRow;
}

/** Reads the events with these ids that a caller may see, in the order of the ids. */
export function eventRows(
  targets: EventTargets,
): (db: Database, caller: MaybeCaller, ids: readonly number[]) => Promise<EventRow[]> {
  const all = [...targets.nouns, targets.comments];
  const title = sql`case when events.target_type = 'Project' then projects.name ${byTarget(all, (target) => target.title)} end`;
  const number = sql`case ${byTarget(all, (target) => target.number)} end`;
  const wikiPage = sql`case ${byTarget(all, (target) => target.wiki_page)} end`;
  const rows = statement(
    (slots: Slots<{ caller_id: number; ids: readonly number[] }>, shape: ReturnType<typeof shapeOf>) => sql<EventRow>`
      select events.id, events.project_id, events.action, events.target_type, events.target_id, events.author_id, events.imported_from, events.created_at,
             ${title} as target_title, ${number} as target_iid, ${push} as push, ${wikiPage} as wiki_page, ${userBasicJson('authors')} as author
        from (select *, action = 'pushed' as is_push from events) events
        join projects on projects.id = events.project_id left join users authors on authors.id = events.author_id
       where events.id = any(${ofAnyLength(slots.ids, 'bigint[]')}) and ${isVisibleEvent(asReading(slots, shape), targets)}
       order by array_position(${ofAnyLength(slots.ids, 'bigint[]')}, events.id)`,
  );
  return (db, caller, ids) => rows(db, { caller_id: caller?.id ?? 0, ids }, shapeOf(caller));
}

/** The events of projects. */
export const allEvents = (db: Database) => db.selectFrom('events').where('events.project_id', 'is not', null);
export type EventQuery = ReturnType<typeof allEvents>;

const isPush = sql<boolean>`events.action = 'pushed'`.as('is_push');
const deciding = ['events.target_type', 'events.target_id'] as const;

/** The events that follow a given one in the order of a list. */
function behind(query: EventQuery, { by, sort }: EventOrder, { id, at }: EventPosition): EventQuery {
  const comparison = sql.raw(sort === 'asc' ? '>' : '<');
  if (by === 'id') return query.where(sql<boolean>`events.id ${comparison} ${id}`);
  return query.where(sql<boolean>`(events.created_at, events.id) ${comparison} (${at}::timestamptz, ${id}::bigint)`);
}

interface EventOrder {
  by: 'id' | 'created_at';
  sort: 'asc' | 'desc';
}

/** @param name identifies the list */
export function listed(db: Database, name: string, query: EventQuery, order: EventOrder): ListedEvents {
  const byId: SortKey = { column: sql.ref('events.id'), sort: order.sort };
  // With the order of the list, so that PostgreSQL prefers an index in this order to an index over more events.
  const ordered = (events: EventQuery) =>
    (order.by === 'created_at' ? events.orderBy('events.created_at', order.sort) : events)
      .orderBy('events.id', order.sort)
      .select(sql<number>`events.project_id`.as('project_id'))
      .select([...deciding, isPush]);
  return {
    name: `events ${name} ${order.sort}`,
    keys: order.by === 'created_at' ? [{ ...byId, column: sql.ref('events.created_at') }, byId] : [byId],
    subjects: (last, limit) =>
      ordered(last ? behind(query, order, last) : query)
        // As printed by PostgreSQL, because a Timestamp has lost its microseconds.
        .select(['events.id', sql<string>`events.created_at::text`.as('at')])
        .limit(limit)
        .execute(),
    reaches: async (length) => {
      const last = query.select(sql<number>`1`.as('one')).offset(length - 1);
      const count = async () => ((await last.limit(1).executeTakeFirst()) ? length : 0);
      return (await countedUpTo(db, `events ${name}`, length, count)) === length;
    },
    groups: async (most) => {
      const { rows } = await sql<{ count: number } & Subject>`
        select project_id, is_push, target_type, target_id, count(*) from (${ordered(query).limit(most)}) counted group by 1, 2, 3, 4`.execute(
        db,
      );
      return rows;
    },
    counted: (caller, most, count) => countedUpTo(db, `events ${name} of ${caller?.id}`, most, count),
  };
}

/** A predicate on rows of `events`: the caller is a member of the event's project. */
export const isOfMembership = (caller: Caller) => sql<boolean>`
  events.project_id in (select project_id from project_authorizations where user_id = ${caller.id} and ${countsToday()})`;

/**
 * The highest id up to which every event is either committed or will never be. A transaction that records events holds
 * a shared lock on a number below all its ids (`announce_events` in docs/schema.sql), and releases it after its rows
 * have become visible. The sequence is read before the locks, which the lateral join ensures: transactions that take a
 * lock later have ids above the sequence's value. The rows have to be read by a later statement. Lock keys have 32
 * bits: keys for numbers above the sequence's value are recognized by their distance.
 */
export async function lastSettledId(db: Database): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    select least(last_value, announced.id) as id
      from events_id_seq, lateral (
        select min(last_value - distance) as id
          from pg_locks, lateral (select (last_value - objid::bigint) & 4294967295 as distance) behind
         where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())
           and classid = 726674 and objsubid = 2 and distance < 2147483648) announced`.execute(db);
  return rows[0]!.id;
}
