/** Webhook events for changes of issues and merge requests (docs/reference/hooks.md#events). */
import { sql } from 'kysely';
import type { Database } from '../../../../db/index.ts';
import { type Sample, sampled } from '../../../activity/hooks/index.ts';
import { type AskingHook, addHookEvents, hooksAsking, newsOf } from '../../../instance/hook_events/index.ts';
import type { Change } from '../definition.ts';
import { type ChangesRow, changesOf, idsIn } from './change_present.ts';
import { issueTelling } from './issue_present.ts';
import { type MergeRequestNews, mergeRequestTelling } from './merge_request_present.ts';

interface ItemChange {
  id: number;
  project_id: number;
  /** Null if there is no acting user. */
  actor_id: number | null;
  action: string;
  /** Without it, no listed member has changed. */
  changes?: ChangesRow;
}

/** The columns of the news of a change. */
function columnsOf({ id, project_id, actor_id, action, changes = {} }: ItemChange) {
  const { label_ids, user_ids } = idsIn(changes);
  return {
    id: sql<number>`${id}::bigint`,
    project_id: sql<number>`${project_id}::bigint`,
    actor_id: sql<number | null>`${actor_id}::bigint`,
    action: sql<string>`${action}::text`,
    changes: sql<ChangesRow>`${JSON.stringify(changes)}::json`,
    label_ids: sql<number[]>`${label_ids}::bigint[]`,
    user_ids: sql<number[]>`${user_ids}::bigint[]`,
  };
}

const issueNews = (change: ItemChange) => newsOf(columnsOf(change), sql`from issues where id = ${change.id}`);

const mergeRequestNews = (change: ItemChange, { oldrev = null, system_action }: MergeRequestNews = {}) =>
  newsOf(
    {
      ...columnsOf(change),
      oldrev: sql<string | null>`${oldrev}::text`,
      system_action: sql<MergeRequestNews['system_action'] | null>`${system_action ?? null}::text`,
    },
    sql`from merge_requests where id = ${change.id}`,
  );

/** The action, as named in events. */
function actionOf({ is_new, from, to }: Change): string {
  if (is_new) return 'open';
  if (from.state === to.state) return 'update';
  return to.state === 'opened' ? 'reopen' : to.state === 'merged' ? 'merge' : 'close';
}

/**
 * The hooks subscribed to an issue's events.
 * @param confidential whether it is confidential
 */
export const hooksForIssue = (tx: Database, project_id: number, confidential: boolean): Promise<AskingHook[]> =>
  hooksAsking(tx, { project_id }, [confidential ? 'confidential_issues_events' : 'issues_events']);

/**
 * Adds an event for a change of an issue or a merge request.
 * @param tx the transaction of the change, after its rows were changed
 */
export async function tellOfChange(tx: Database, actor_id: number, change: Change): Promise<void> {
  const { on, project_id, to } = change;
  if (project_id === null || to.state === 'locked') return;
  const changes = change.is_new ? {} : changesOf(change);
  const item = { id: on.id, project_id, actor_id, action: actionOf(change), changes };
  if (on.kind.type === 'MergeRequest') await tellOfMergeRequest(tx, item);
  else await tellOfIssue(tx, item, to.confidential ?? false);
}

/**
 * Adds an event for an issue.
 * @param tx the transaction of the change, after its rows were changed
 * @param confidential whether it is confidential now
 */
export async function tellOfIssue(tx: Database, item: ItemChange, confidential: boolean): Promise<void> {
  const asking = await hooksForIssue(tx, item.project_id, confidential);
  if (asking.length === 0) return;
  const trigger = confidential ? 'confidential_issues_events' : 'issues_events';
  await addHookEvents(tx, asking, { event: issueTelling, trigger, rows: issueNews(item) });
}

/** The hooks subscribed to merge request events. */
export const hooksForMergeRequest = (tx: Database, project_id: number): Promise<AskingHook[]> =>
  hooksAsking(tx, { project_id }, ['merge_requests_events']);

/**
 * Adds an event for a merge request.
 * @param tx the transaction of the change
 * @param more further members of the body
 */
export async function tellOfMergeRequest(tx: Database, item: ItemChange, more: MergeRequestNews = {}): Promise<void> {
  const asking = await hooksForMergeRequest(tx, item.project_id);
  if (asking.length === 0) return;
  const rows = mergeRequestNews(item, more);
  await addHookEvents(tx, asking, { event: mergeRequestTelling, trigger: 'merge_requests_events', rows });
}

/** The newest issue of a project that is not confidential, as if it had been created. */
export const sampleIssue: Sample = async ({ db }, { project_id, user_id: actor_id }) => {
  const newest = db
    .selectFrom('issues')
    .select('id')
    .where('project_id', '=', project_id)
    .where('confidential', '=', false);
  const row = await newest.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(1).executeTakeFirst();
  return row && sampled(issueTelling, issueNews({ id: row.id, project_id, actor_id, action: 'open' }));
};

/** The newest merge request of a project, as if it had been created. */
export const sampleMergeRequest: Sample = async ({ db }, { project_id, user_id: actor_id }) => {
  const newest = db.selectFrom('merge_requests').select('id').where('project_id', '=', project_id);
  const row = await newest.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(1).executeTakeFirst();
  return row && sampled(mergeRequestTelling, mergeRequestNews({ id: row.id, project_id, actor_id, action: 'open' }));
};
