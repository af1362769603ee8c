/** Notifications about errors, by mail to members and to webhooks (docs/reference/error_tracking.md#telling-of-errors). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { type Database, membersInJson, plainColumns, rowInJson } from '../../../../db/index.ts';
import { Id, nullable, resource, Timestamp } from '../../../../http/index.ts';
import {
  HookPerson,
  HookProject,
  HookRepository,
  personRow,
  presentPerson,
  presentProject,
  presentRepository,
  projectRow,
  type Sample,
  sampled,
} from '../../../activity/hooks/index.ts';
import { notifying } from '../../../activity/notifications/index.ts';
import {
  hookEvent,
  inProject,
  newsInProjects,
  newsOf,
  type Refs,
  tellEach,
} from '../../../instance/hook_events/index.ts';
import { errorPage } from './present.ts';

/** The kinds of news. `alert`: an error occurred more often than the settings of the project allow. */
const kinds = ['new', 'regressed', 'alert', 'resolved', 'unresolved', 'ignored'] as const;

/** An error with an event to notify about. */
export interface ErrorNews {
  id: number;
  project_id: number;
  kind: (typeof kinds)[number];
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

const HookError = Type.Object({
  id: Id,
  project_id: Id,
  name: Type.String(),
  description: Type.String(),
  actor: Type.String(),
  platform: Type.String(),
  level: Type.String(),
  status: Type.String(),
  fingerprint: Type.String(),
  events_count: Type.Integer(),
  users_count: Type.Integer(),
  first_release: nullable(Type.String()),
  last_release: nullable(Type.String()),
  assignee_id: nullable(Id),
  first_seen_at: Timestamp,
  last_seen_at: Timestamp,
  url: Type.String({ format: 'uri' }),
  action: Type.Enum(kinds),
});

interface HookNews extends ErrorNews {
  /** Null unless a user did it. */
  user_id: number | null;
}

export const errorEvent = hookEvent({
  name: 'error',
  summary: 'An error of an application is new, or something happened to it',
  triggers: ['error_events'],
  snapshot: (news: Refs<HookNews>) => ({
    kind: news.kind,
    user: personRow(news.user_id),
    project: projectRow(news.project_id),
    error: rowInJson(
      'error_tracking_errors',
      news.id,
      {
        ...membersInJson('error_tracking_errors', HookError.properties, [
          'project_id',
          'name',
          'description',
          'actor',
          'url',
          'action',
        ]),
        ...plainColumns('error_tracking_error_texts', ['name', 'description', 'actor']),
      },
      sql`join error_tracking_error_texts on error_tracking_error_texts.error_id = error_tracking_errors.id`,
    ),
  }),
  body: resource('ErrorHookBody', {
    object_kind: Type.Literal('error'),
    event_type: Type.Literal('error'),
    user: nullable(HookPerson),
    project: HookProject,
    repository: HookRepository,
    object_attributes: HookError,
  }),
}).presentedBy(({ kind, user, project, error }, services) => ({
  object_kind: 'error',
  event_type: 'error',
  user: user && presentPerson(user, services),
  project: presentProject(project, services),
  repository: presentRepository(project, services),
  object_attributes: {
    ...error,
    project_id: project.id,
    url: services.url + errorPage(project.full_path, error.id),
    action: kind,
  },
}));

const tellHooks = (tx: Database, news: readonly ErrorNews[], user_id: number | null): Promise<void> =>
  tellEach(
    tx,
    errorEvent,
    newsOf(
      {
        ...inProject,
        id: sql<number>`given.id`,
        kind: sql<ErrorNews['kind']>`given.kind`,
        user_id: sql<number | null>`${user_id}::bigint`,
      },
      sql`
        from ${givenNews(news)} join error_tracking_errors errors on errors.id = given.id
        join projects on projects.id = errors.project_id join namespaces on namespaces.id = projects.namespace_id`,
    ),
  );

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
export const sampleError: Sample = async (_services, { project_id }) =>
  sampled(
    errorEvent,
    newsInProjects(
      'error_tracking_errors',
      { kind: sql<ErrorNews['kind']>`'new'::text`, user_id: sql<number | null>`null::bigint` },
      sql`project_id = ${project_id} order by last_seen_at desc, error_tracking_errors.id desc`,
    ),
  );
