/** Who is told of something, in one statement however many they are (docs/reference/notifications.md#recipients). */
import { type RawBuilder, sql } from 'kysely';
import { countsToday, type Issuable, isReaderOf, readsInternalNotesOn, rowsWithPlaces } from '../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import { participants } from '../issuables/index.ts';
import { eventRules, isFirst, type Reason } from './rules.ts';

export interface News {
  event: string;
  on: Issuable;
  /** The comment, if it is one. */
  note?: { id: number; internal: boolean };
  /** Null when nobody did anything. */
  actor_id: number | null;
  /** Those who were added, removed or named. */
  user_ids: readonly number[];
}

export interface Recipient {
  user_id: number;
  reason: Reason | null;
  /** Where it happened: one of both. */
  project_id: number | null;
  group_id: number | null;
}

/** The project, if it is in one, and the groups around it, unless one of them sends no mail. */
function placeOf({ kind, id }: Issuable): RawBuilder<unknown> {
  const isIts = sql`${sql.ref(`${kind.table}.id`)} = ${id}`;
  const isSilent = sql`exists (select from namespaces above where above.id = any(namespaces.traversal_ids) and not above.emails_enabled)`;
  if (kind.places === 'namespaces')
    return sql`select null::bigint as project_id, namespaces.traversal_ids as groups from ${rowsWithPlaces(kind)} where ${isIts} and not ${isSilent}`;
  return sql`
    select projects.id as project_id, namespaces.traversal_ids as groups
      from ${rowsWithPlaces(kind)} join namespaces on namespaces.id = projects.namespace_id
     where ${isIts} and projects.emails_enabled and not ${isSilent}`;
}

/** Members whose global setting is one that includes what they do not take part in. */
const membersAtLarge = ({ kind }: Issuable): RawBuilder<unknown> => {
  const [table, column, place] =
    kind.places === 'projects'
      ? [sql`project_authorizations`, sql`project_id`, sql`given.project_id = place.project_id`]
      : [sql`group_authorizations`, sql`group_id`, sql`given.group_id = place.groups[cardinality(place.groups)]`];
  return sql`
    select given.user_id from place join ${table} given on given.${column} is not null and ${place} and ${countsToday('given')}
      join notification_settings own on own.user_id = given.user_id and own.project_id is null and own.group_id is null and own.level in ('watch', 'custom')`;
};

/** Everyone who may be told, with what they have to do with it. */
function candidatesFor({ event, on, note, actor_id, user_ids }: News): RawBuilder<unknown> {
  const of = sql.ref(on.kind.column);
  const { names } = eventRules[event]!;
  if (names)
    return sql`
      select user_id, false as participates, ${names === 'mentioned'}::boolean as is_mentioned, ${names === 'subscribed'}::boolean as subscribes
        from unnest(${ofAnyLength(user_ids, 'bigint[]')}) user_id`;
  const labelled = sql`
    union all select user_id, false, false, true from subscriptions
     where subscribed and label_id in (select label_id from ${sql.table(on.kind.labels)} where ${of} = ${on.id})`;
  return sql`
    select user_id, bool_or(participates) as participates, bool_or(is_mentioned) as is_mentioned, bool_or(subscribes) as subscribes
      from (
        select user_id, true as participates, false as is_mentioned, false as subscribes from (${participants(on)}) taking_part(user_id)
        union all select unnest(${ofAnyLength(user_ids, 'bigint[]')}), true, false, false
        union all select ${actor_id}::bigint, true, false, false
        union all select user_id, false, true, false from user_mentions
         where ${note ? sql`note_id = ${note.id}` : sql`note_id is null and ${of} = ${on.id} and ${isFirst(event)}`}
        union all select user_id, false, false, true from subscriptions where ${of} = ${on.id} and subscribed
        ${isFirst(event) ? labelled : sql``}
        union all select user_id, false, false, false from place join notification_settings own
            on (own.project_id = place.project_id or own.group_id = any(place.groups)) and own.level in ('watch', 'custom')
        union all select user_id, false, false, false from (${membersAtLarge(on)}) at_large
      ) candidates
     where user_id is not null group by user_id`;
}

const peopleIn = (table: string | undefined, { kind, id }: Issuable) =>
  table === undefined
    ? sql<boolean>`false`
    : sql<boolean>`exists (select from ${sql.table(table)} people where people.${sql.ref(kind.column)} = ${id} and people.user_id = users.id)`;

/** The recipients of news, each once. */
export async function recipientsOf(db: Database, news: News): Promise<Recipient[]> {
  const { event, on, note, actor_id } = news;
  const of = sql.ref(on.kind.column);
  const { rows } = await sql<Recipient>`
    with place as materialized (${placeOf(on)}),
    candidates as materialized (${candidatesFor(news)})
    select users.id as user_id, place.project_id, case when place.project_id is null then place.groups[cardinality(place.groups)] end as group_id,
           case when users.id = ${actor_id}::bigint then 'own_activity' when ${peopleIn(on.kind.assignees, on)} then 'assigned' when ${peopleIn(on.kind.reviewers, on)} then 'review_requested'
                when is_mentioned then 'mentioned' when subscribes then 'subscribed' end as reason
      from place cross join candidates join users on users.id = candidates.user_id
      left join lateral (
        select level, events from notification_settings own
         where own.user_id = users.id and own.level <> 'global'
           and (own.project_id = place.project_id or own.group_id = any(place.groups) or (own.project_id is null and own.group_id is null))
         order by own.project_id nulls last, array_position(place.groups, own.group_id) desc nulls last limit 1
      ) setting on true
     where (users.id is distinct from ${actor_id}::bigint or users.notified_of_own_activity) and users.state = 'active' and users.user_type = 'human' and users.confirmed_at is not null
       and ${note?.internal ? readsInternalNotesOn(on) : isReaderOf(on)}
       and (is_mentioned or not exists (select from subscriptions where user_id = users.id and ${of} = ${on.id} and not subscribed))
       and (subscribes
         or (participates and coalesce(level, 'participating') in ('participating', 'watch', 'custom'))
         or (is_mentioned and coalesce(level, 'participating') <> 'disabled')
         or (level = 'watch' and ${eventRules[event]!.watched}::boolean)
         or (level = 'custom' and ${event} = any(events)))
     order by users.id`.execute(db);
  return rows;
}
