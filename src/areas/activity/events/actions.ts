/** Activity events: what people did, written in the transaction in which they did it (docs/reference/events.md). Deleted by age, never changed. */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

/** What can have happened; pushes have their own function. */
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

/** What it happened to, as replies spell it. */
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
  | 'Epic';

export interface Event {
  /** Null for what is in no project: epics, personal snippets. */
  project_id: number | null;
  /** Who did it; nothing is recorded for who is gone. Memberships are recorded for the member, whoever added or removed him. */
  author_id: number | null;
  action: EventAction;
  target_type: EventTarget;
  target_id: number;
  /** ISO 8601; now where it is left out. */
  created_at?: string;
}

/** Events of memberships say nothing of what the member himself was doing. */
const passive: readonly string[] = ['joined', 'left', 'expired'];

/**
 * Records what somebody did, with what follows from it: the project was active, noted once an hour at most, and so was he today.
 * @param tx the transaction of what he did, so that there is neither an event of nothing nor anything without its event
 */
export async function recordEvent(tx: Database, event: Event): Promise<void> {
  await recordEvents(tx, [event]);
}

/** The same for several at once, in one statement. */
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
 * The part of a statement that records events, with what follows from them.
 * @param rows a select of project_id, author_id, action, target_type, target_id and created_at
 * @param project_ids the projects that were active
 * @param user_ids who was
 */
export const recording = (
  rows: RawBuilder<unknown>,
  project_ids: readonly number[],
  user_ids: readonly number[],
): RawBuilder<unknown> => sql`
  recorded as (insert into events (project_id, author_id, action, target_type, target_id, created_at) ${rows}),
  ${activity(project_ids, user_ids)}`;

/**
 * The part of a statement that notes when projects and users were last active. Rows that somebody else is changing are passed over: his change says the same
 * or matters more, and nobody should wait for it.
 */
export const activity = (project_ids: readonly number[], user_ids: readonly number[]): RawBuilder<unknown> => sql`
  active_projects as (
    update projects set last_activity_at = now() where id in (
      select id from projects where id = any(${project_ids}::bigint[]) and last_activity_at <= now() - interval '1 hour'
         for no key update skip locked)
  ), active_users as (
    update users set last_activity_on = current_date where id in (
      select id from users where id = any(${user_ids}::bigint[]) and last_activity_on is distinct from current_date
         for no key update skip locked)
  )`;
