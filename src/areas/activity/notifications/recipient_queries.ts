/**
 * The recipients of notifications, determined in one statement however many there are
 * (docs/reference/notifications.md#recipients).
 */
import { type RawBuilder, sql } from 'kysely';
import { countsToday } from '../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import type { MailNote, MailSubject } from '../../../services/index.ts';
import type { StoredNotification } from './message_queries.ts';
import { mailEvents, type Reason } from './rules.ts';
import { type Reading, subjectOf } from './subject_queries.ts';

export interface News {
  event: string;
  subject: MailSubject;
  /** The comment, if the notification is about one. */
  note?: MailNote;
  /** Null if no user performed the action. */
  actor_id: number | null;
  /** Users who were added, removed or mentioned. */
  user_ids: readonly number[];
}

export interface Recipient {
  user_id: number;
  reason: Reason | null;
  /** Where it happened: exactly one of the two ids is set. */
  project_id: number | null;
  group_id: number | null;
}

/** The project, if there is one, and its ancestor groups, unless one of them has mail disabled. */
function placeOf({ row: { rows, isIts }, is_in_group }: MailSubject): RawBuilder<unknown> {
  const isSilent = sql`exists (select from namespaces above where above.id = any(namespaces.traversal_ids) and not above.emails_enabled)`;
  if (is_in_group)
    return sql`select null::bigint as project_id, namespaces.traversal_ids as groups from ${rows} where ${isIts} and not ${isSilent}`;
  return sql`
    select projects.id as project_id, namespaces.traversal_ids as groups
      from ${rows} join namespaces on namespaces.id = projects.namespace_id
     where ${isIts} and projects.emails_enabled and not ${isSilent}`;
}

/** Members whose global level includes events in which they do not participate. */
const membersAtLarge = ({ is_in_group }: MailSubject): RawBuilder<unknown> => {
  const [table, column, place] = is_in_group
    ? [sql`group_authorizations`, sql`group_id`, sql`given.group_id = place.groups[cardinality(place.groups)]`]
    : [sql`project_authorizations`, sql`project_id`, sql`given.project_id = place.project_id`];
  return sql`
    select given.user_id from place join ${table} given on given.${column} is not null and ${place} and ${countsToday('given')}
      join notification_settings own on own.user_id = given.user_id and own.project_id is null and own.group_id is null and own.level in ('watch', 'custom')`;
};

/**
 * A part of the candidates.
 * @param ids a select of the ids of users, if there are any
 * @param what their relation to the subject: whether they participate, are mentioned and subscribe
 */
const asCandidates = (ids: RawBuilder<unknown> | undefined, what: RawBuilder<unknown>): RawBuilder<unknown>[] =>
  ids ? [sql`union all select user_id, ${what} from (${ids}) ids(user_id)`] : [];

/** All users who may be notified, with their relation to the subject. */
function candidatesFor({ event, subject, note, actor_id, user_ids }: News): RawBuilder<unknown> {
  const { names, starts } = mailEvents[event]!;
  if (names !== undefined && names !== 'members')
    return sql`
      select user_id, ${names === 'concerned'}::boolean as participates, ${names === 'mentioned'}::boolean as is_mentioned, ${names === 'subscribed'}::boolean as subscribes
        from unnest(${ofAnyLength(user_ids, 'bigint[]')}) user_id`;
  const { mentioned, subscribers, labelSubscribers } = subject.people;
  const also = [
    ...asCandidates(note ? note.mentioned : starts ? mentioned : undefined, sql`false, true, false`),
    ...asCandidates(subscribers, sql`false, false, true`),
    ...asCandidates(starts ? labelSubscribers : undefined, sql`false, false, true`),
  ];
  return sql`
    select user_id, bool_or(participates) as participates, bool_or(is_mentioned) as is_mentioned, bool_or(subscribes) as subscribes
      from (
        select user_id, true as participates, false as is_mentioned, false as subscribes from (${subject.participants(names === 'members')}) taking_part(user_id)
        union all select unnest(${ofAnyLength(user_ids, 'bigint[]')}), true, false, false
        union all select ${actor_id}::bigint, true, false, false
        ${sql.join(also, sql` `)}
        union all select user_id, false, false, false from place join notification_settings own
            on (own.project_id = place.project_id or own.group_id = any(place.groups)) and own.level in ('watch', 'custom')
        union all select user_id, false, false, false from (${membersAtLarge(subject)}) at_large
      ) candidates
     where user_id is not null group by user_id`;
}

/**
 * The subject of a notification.
 * @returns undefined if it was deleted
 */
export async function newsOf(
  services: Reading,
  row: Omit<StoredNotification, 'id'> & { user_ids: number[] },
): Promise<News | undefined> {
  const { actor_id, user_ids } = row;
  const about = await subjectOf(services, row);
  if (!about) return undefined;
  const { subject } = about;
  const event = (await subject.eventFor?.(services.db, row.event)) ?? row.event;
  const authors = (await subject.authors?.(services)) ?? [];
  return { ...about, event, actor_id, user_ids: [...user_ids, ...authors] };
}

const no = sql<boolean>`false`;

/** The levels at which participants receive a message. */
function levelsOfParticipants({ names, is_chosen, is_only_chosen }: (typeof mailEvents)[string]): string[] {
  if (is_only_chosen) return [];
  if (is_chosen) return ['participating', 'watch'];
  return names === 'members' ? ['participating', 'watch', 'mention'] : ['participating', 'watch', 'custom'];
}

/** The recipients of an event, each once. */
export async function recipientsOf(db: Database, news: News): Promise<Recipient[]> {
  const { event, subject, note, actor_id } = news;
  const { watched = false } = mailEvents[event]!;
  const included = levelsOfParticipants(mailEvents[event]!);
  const { isAssignee = no, isReviewer = no, hasUnsubscribed = no } = subject.people;
  const { rows } = await sql<Recipient>`
    with place as materialized (${placeOf(subject)}),
    candidates as materialized (${candidatesFor(news)})
    select users.id as user_id, place.project_id, case when place.project_id is null then place.groups[cardinality(place.groups)] end as group_id,
           case when users.id = ${actor_id}::bigint then 'own_activity' when ${isAssignee} then 'assigned' when ${isReviewer} then 'review_requested'
                when is_mentioned then 'mentioned' when subscribes then 'subscribed' end as reason
      from place cross join candidates join users on users.id = candidates.user_id
      left join lateral (
        select level, events from notification_settings own
         where own.user_id = users.id and own.level <> 'global'
           and (own.project_id = place.project_id or own.group_id = any(place.groups) or (own.project_id is null and own.group_id is null))
         order by own.project_id nulls last, array_position(place.groups, own.group_id) desc nulls last limit 1
      ) setting on true
     where (users.id is distinct from ${actor_id}::bigint or users.notified_of_own_activity) and users.state = 'active' and users.user_type = 'human' and users.confirmed_at is not null
       and ${subject.isReader(note?.internal ?? false)}
       and (is_mentioned or not ${hasUnsubscribed})
       and (subscribes
         or (participates and coalesce(level, 'participating') = any(${included}::text[]))
         or (is_mentioned and coalesce(level, 'participating') <> 'disabled')
         or (level = 'watch' and ${watched}::boolean)
         or (level = 'custom' and ${event} = any(events)))
     order by users.id`.execute(db);
  return rows;
}
