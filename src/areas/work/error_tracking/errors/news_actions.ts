/** Notifications about errors, by mail to members and to webhooks (docs/reference/error_tracking.md#telling-of-errors). */
import { type RawBuilder, sql } from 'kysely';
import { type Database, momentInJson } from '../../../../db/index.ts';
import { pageFacts, personFacts, projectFacts, repositoryFacts, type Sample } from '../../../activity/hooks/index.ts';
import { notifying } from '../../../activity/notifications/index.ts';
import { tellEach } from '../../../instance/hook_events/index.ts';
import { errorPage } from './present.ts';

/** An error with an event to notify about. */
export interface ErrorNews {
  id: number;
  project_id: number;
  /** The kind of event; `alert`: it occurred more often than the settings of the project allow. */
  kind: 'new' | 'regressed' | 'alert' | 'resolved' | 'unresolved' | 'ignored';
}

/** The limit per member and project in an hour. Alerts count towards it, but take precedence. */
const maximumInAnHour = 20;

/** The kinds that cause mail, with their events in the notification settings. Actions of users cause no mail. */
const mailOfKinds = sql`(values ('new', 'new_error'), ('regressed', 'regressed_error'), ('alert', 'error_alert')) mails(kind, event)`;

const givenNews = (news: readonly ErrorNews[]) =>
  sql`jsonb_to_recordset(${JSON.stringify(news)}::jsonb) as given(id bigint, project_id bigint, kind text)`;

/** Adds notifications up to the limit of each project. Only one transaction at a time notifies about received events, so that the counts it reads stay valid. */
async function notifyOf(tx: Database, news: readonly ErrorNews[]): Promise<void> {
  const isOver = sql`notices.began_at <= now() - interval '1 hour'`;
  await sql`
    with ranked as (
      select given.id, given.project_id, mails.event, row_number() over (partition by given.project_id order by given.kind <> 'alert', given.id) as place
        from ${givenNews(news)} join ${mailOfKinds} using (kind)
    ), earlier as materialized (
      select project_id, count from error_tracking_notices notices where not ${isOver} and project_id in (select project_id from ranked)
    ), allowed as (
      select ranked.* from ranked left join earlier using (project_id) where ranked.place + coalesce(earlier.count, 0) <= ${maximumInAnHour}
    ), counted as (
      insert into error_tracking_notices as notices (project_id, count) select project_id, count(*) from allowed group by project_id
      on conflict (project_id) do update
        set began_at = case when ${isOver} then excluded.began_at else notices.began_at end,
            count = case when ${isOver} then excluded.count else notices.count + excluded.count end
    ), ${notifying(sql`
      select event, 'TrackedError' as target_type, id as target_id, null::bigint as actor_id, '{}'::bigint[] as user_ids from allowed`)}
    select`.execute(tx);
}

/** Errors with their texts. */
const [allOfErrors, fromErrors] = [
  sql`errors.*, texts.name, texts.description, texts.actor`,
  sql`error_tracking_errors errors join error_tracking_error_texts texts on texts.error_id = errors.id`,
];

/** The facts of a row `news`, which has all columns of an error and its texts, the kind of news, and the acting user. */
const factsOf = (): RawBuilder<unknown> => sql`json_build_object(
  'object_kind', 'error', 'event_type', 'error', 'user', ${personFacts(sql`news.user_id`)}, 'project', ${projectFacts(sql`news.project_id`)},
  'repository', ${repositoryFacts(sql`news.project_id`)}, 'object_attributes', json_build_object(
    'id', news.id, 'project_id', news.project_id, 'name', news.name, 'description', news.description, 'actor', news.actor, 'platform', news.platform,
    'level', news.level, 'status', news.status, 'fingerprint', news.fingerprint, 'events_count', news.events_count, 'users_count', news.users_count,
    'first_release', news.first_release, 'last_release', news.last_release, 'assignee_id', news.assignee_id,
    'first_seen_at', ${momentInJson('news.first_seen_at')}, 'last_seen_at', ${momentInJson('news.last_seen_at')},
    'url', ${pageFacts(errorPage, sql`news.project_id`, sql`news.id`)}, 'action', news.kind))`;

const tellHooks = (tx: Database, news: readonly ErrorNews[], user_id: number | null): Promise<void> =>
  tellEach(tx, {
    trigger: 'error_events',
    to_system: false,
    rows: sql`
      select ${allOfErrors}, namespaces.traversal_ids as group_ids, given.kind, ${user_id}::bigint as user_id
        from ${givenNews(news)} join (${fromErrors}) on errors.id = given.id
        join projects on projects.id = errors.project_id join namespaces on namespaces.id = projects.namespace_id`,
    facts: factsOf(),
  });

/**
 * Notifies about errors after their events were grouped.
 * @param tx the transaction that groups their events
 */
export async function tellOfErrors(tx: Database, news: readonly ErrorNews[]): Promise<void> {
  if (news.length === 0) return;
  await notifyOf(tx, news);
  await tellHooks(tx, news, null);
}

/**
 * Notifies webhooks about errors whose status a user changed.
 * @param tx the transaction of the change
 */
export const tellOfStatuses = (tx: Database, user_id: number, news: readonly ErrorNews[]): Promise<void> =>
  tellHooks(tx, news, user_id);

/** The latest error of a project, as if it were new. */
export const sampleError: Sample = async (_services, { project_id }) => sql`
  (select ${factsOf()} from (
     select ${allOfErrors}, 'new' as kind, null::bigint as user_id from ${fromErrors} where errors.project_id = ${project_id}
      order by errors.last_seen_at desc, errors.id desc limit 1) news)`;
