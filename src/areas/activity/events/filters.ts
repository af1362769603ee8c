/** The filters of event lists: query parameter → predicate. */
import { sql } from 'kysely';
import { type Static, type TObject, Type } from 'typebox';
import type { Database } from '../../../db/index.ts';
import { allOptional, Direction, mutuallyExclusive } from '../../../http/index.ts';
import type { EventAction, EventTarget } from './actions.ts';
import { type EventQuery, lastSettledId, listed } from './queries.ts';
import type { ListedEvents } from './visibility_queries.ts';

const actions = {
  created: true,
  updated: true,
  closed: true,
  reopened: true,
  pushed: true,
  commented: true,
  merged: true,
  joined: true,
  left: true,
  destroyed: true,
  expired: true,
  approved: true,
  transferred: true,
} satisfies Record<EventAction | 'pushed', true>;

/**
 * The stored kinds of targets by the values of `target_type`. Comments in threads do not count as notes here, and
 * events of epics are never listed.
 */
const targets = {
  issue: ['Issue', 'WorkItem'],
  milestone: ['Milestone'],
  merge_request: ['MergeRequest'],
  note: ['Note'],
  project: ['Project'],
  snippet: ['Snippet'],
  epic: ['Epic'],
  wiki: ['WikiPage::Meta'],
  user: [],
} satisfies Record<string, EventTarget[]>;

const keysOf = <K extends string>(record: Record<K, unknown>) => Object.keys(record) as K[];

export const eventFilters = allOptional({
  action: Type.Enum(keysOf(actions)),
  target_type: Type.Enum(keysOf(targets)),
  before: Type.String({ format: 'date', description: 'Only events before this day (UTC)' }),
  after: Type.String({ format: 'date', description: 'Only events after this day (UTC)' }),
  sort: Direction,
  after_id: Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description:
      'Only events after the one with this ID, oldest first; for clients that poll, which miss none. 0 for all',
  }),
});
/** `after_id` implies its own order. */
export const eventRules = [mutuallyExclusive('after_id', 'sort')];

type Filters = Static<TObject<typeof eventFilters>>;

/**
 * The requested events, in order.
 * @param name identifies the list without filters
 */
export async function filtered(db: Database, name: string, all: EventQuery, given: Filters): Promise<ListedEvents> {
  const { action, target_type, before, after, after_id, sort = after_id === undefined ? 'desc' : 'asc' } = given;
  let query = all;
  if (action) query = query.where('events.action', '=', action);
  if (target_type) query = query.where(sql<boolean>`events.target_type = any(${targets[target_type]}::text[])`);
  if (before) query = query.where('events.created_at', '<', sql<string>`${before}::date at time zone 'UTC'`);
  if (after) query = query.where('events.created_at', '>=', sql<string>`(${after}::date + 1) at time zone 'UTC'`);
  if (after_id !== undefined)
    query = query.where('events.id', '>', after_id).where('events.id', '<=', await lastSettledId(db));
  // Times need not be in the order of the ids, and a scan in id order would read everything up to the day.
  const by = (before || after) && after_id === undefined ? 'created_at' : 'id';
  return listed(db, [name, action, target_type, before, after, after_id].join(' '), query, { by, sort });
}
