/**
 * Activity events: records of user actions, written in the same transaction (docs/reference/events.md). Deleted by age,
 * never changed.
 */
import { type RawBuilder, sql } from 'kysely';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import { notifying } from '../notifications/outbox_actions.ts';
import { mailEvents } from '../notifications/rules.ts';

/** The actions; pushes have their own function. */
export type EventAction =
  | 'created'
  | 'updated'
  | 'closed'
  | 'reopened'
  | 'commented'
  | 'merged'
  | 'joined'
  | 'left'
  | 'destroyed'
  | 'expired'
  | 'approved'
  | 'transferred';

/** The kinds of targets, as spelled in replies. */
export type EventTarget =
  | 'Issue'
  | 'WorkItem'
  | 'MergeRequest'
  | 'Milestone'
  | 'Note'
  | 'DiffNote'
  | 'DiscussionNote'
  | 'Project'
  | 'Snippet'
  | 'WikiPage::Meta'
  | 'DesignManagement::Design'
  | 'Epic'
  | 'TrackedError';

export interface Event {
  /** Null for targets outside projects: epics, personal snippets. */
  project_id: number | null;
  /**
   * The user who performed the action; nothing is recorded for a deleted user. Memberships are recorded for the member,
   * not for the user who added or removed them.
   */
  author_id: number | null;
  action: EventAction;
  target_type: EventTarget;
  target_id: number;
  /** ISO 8601; now by default. */
  created_at?: string;
}

/** Membership events do not count as activity of the member. */
const passive: readonly string[] = ['joined', 'left', 'expired'];

/**
 * Records an action of a user and updates the activity of the project (at most once an hour) and of the user (once a day).
 * @param tx the transaction of the action, so that neither exists without the other
 */
export async function recordEvent(tx: Database, event: Event): Promise<void> {
  await recordEvents(tx, [event]);
}

/** The same for several events, in one statement. */
export async function recordEvents(tx: Database, events: readonly Event[]): Promise<void> {
  const rows = events.filter(({ author_id }) => author_id !== null);
  if (rows.length === 0) return;
  await sql`
    with ${recording(
      sql`select project_id, author_id, action, target_type, target_id, coalesce(created_at, now())
            from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
                 as given(project_id bigint, author_id bigint, action text, target_type text, target_id bigint, created_at timestamptz)`,
      rows.flatMap(({ project_id }) => project_id ?? []),
      rows.filter(({ action }) => !passive.includes(action)).map(({ author_id }) => author_id!),
    )}
    select`.execute(tx);
}

/**
 * The part of a statement that records events and updates activity times.
 * @param rows a select of project_id, author_id, action, target_type, target_id and created_at
 * @param project_ids the projects that were active
 * @param user_ids the users who were active
 */
export const recording = (
  rows: RawBuilder<unknown>,
  project_ids: readonly number[],
  user_ids: readonly number[],
): RawBuilder<unknown> => sql`
  recorded as (
    insert into events (project_id, author_id, action, target_type, target_id, created_at) ${rows}
    returning author_id, action, target_type, target_id),
  ${notifying(notifiedOf)},
  ${activity(project_ids, user_ids)}`;

/** The events that cause mail, with the name of each notification. */
const notifiedOf = sql`
  select notified.event, recorded.target_type, recorded.target_id, recorded.author_id as actor_id, '{}'::bigint[] as user_ids
    from recorded join (values ${sql.join(
      Object.entries(mailEvents).flatMap(([event, { records }]) =>
        (records?.types ?? []).map((type) => sql`(${sql.lit(type)}, ${sql.lit(records!.action)}, ${sql.lit(event)})`),
      ),
    )}) notified(target_type, action, event) using (target_type, action)`;

/**
 * The part of a statement that updates the last activity of projects and users. Locked rows are skipped: the concurrent
 * change makes the same update, or a more important one that is not worth delaying.
 */
export const activity = (project_ids: readonly number[], user_ids: readonly number[]): RawBuilder<unknown> => sql`
  active_projects as (
    update projects set last_activity_at = now() where id in (
      select id from projects where id = any(${ofAnyLength(project_ids, 'bigint[]')}) and last_activity_at <= now() - interval '1 hour'
         for no key update skip locked)
  ), active_users as (
    update users set last_activity_on = current_date where id in (
      select id from users where id = any(${ofAnyLength(user_ids, 'bigint[]')}) and last_activity_on is distinct from current_date
         for no key update skip locked)
  )`;
