/** Webhook events for changes of issues and merge requests (docs/reference/hooks.md#events). */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { peopleFacts, type Sample } from '../../activity/hooks/index.ts';
import { type AskingHook, addHookEvent, hooksAsking } from '../../instance/hook_events/index.ts';
import { labelsFacts } from '../../planning/labels/index.ts';
import type { Change, IssuableState } from './definition.ts';
import { issueFacts, type MergeRequestNews, mergeRequestFacts } from './hook_queries.ts';

const states = ['opened', 'closed', 'merged', 'locked'];

const idsIn = (ids: readonly number[]) => sql`select unnest(${ids}::bigint[])`;
const isSame = (one: readonly number[], other: readonly number[]) =>
  one.length === other.length && one.every((id) => other.includes(id));

const pair = (previous: RawBuilder<unknown>, current: RawBuilder<unknown>) =>
  sql`json_build_object('previous', ${previous}, 'current', ${current})`;

/** The lists of a change: of labels and of people. */
function listChanges(from: IssuableState, to: IssuableState): RawBuilder<unknown>[] {
  const lists = [
    ['labels', from.label_ids, to.label_ids, labelsFacts],
    ['assignees', from.assignee_ids, to.assignee_ids, peopleFacts],
    ['reviewers', from.reviewer_ids, to.reviewer_ids, peopleFacts],
  ] as const;
  return lists.flatMap(([name, before = [], after = [], facts]) =>
    isSame(before, after) ? [] : [sql`${sql.lit(name)}, ${pair(facts(idsIn(before)), facts(idsIn(after)))}`],
  );
}

/** The changes, as an expression of type `json`. */
function changesFacts({ from, to, also = {} }: Change): RawBuilder<unknown> {
  const changes: Record<string, { previous: unknown; current: unknown }> = {};
  if (from.issue_type !== to.issue_type) changes.type = { previous: from.issue_type, current: to.issue_type };
  if (from.state !== to.state)
    changes.state_id = { previous: states.indexOf(from.state) + 1, current: states.indexOf(to.state) + 1 };
  const facts = sql`${JSON.stringify({ ...changes, ...also })}::jsonb`;
  const lists = listChanges(from, to);
  return lists.length === 0
    ? sql`${facts}::json`
    : sql`(${facts} || json_build_object(${sql.join(lists)})::jsonb)::json`;
}

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
  if (on.kind.type === 'MergeRequest')
    return tellOfMergeRequest(tx, {
      id: on.id,
      project_id,
      actor_id,
      action: actionOf(change),
      changes: changesFacts(change),
    });
  const changes = change.is_new ? none : changesFacts(change);
  await tellOfIssue(
    tx,
    { id: on.id, project_id, actor_id, action: actionOf(change), changes },
    to.confidential ?? false,
  );
}

/**
 * Adds an event for an issue.
 * @param tx the transaction of the change, after its rows were changed
 * @param item the issue and the action; without `changes`, no listed member has changed
 * @param confidential whether it is confidential now
 */
export async function tellOfIssue(
  tx: Database,
  item: { id: number; project_id: number; actor_id: number; action: string; changes?: RawBuilder<unknown> },
  confidential: boolean,
): Promise<void> {
  const asking = await hooksForIssue(tx, item.project_id, confidential);
  if (asking.length === 0) return;
  await addHookEvent(tx, asking, {
    trigger: confidential ? 'confidential_issues_events' : 'issues_events',
    facts: issueFacts({ changes: none, ...item }, confidential),
  });
}

const none = sql`'{}'::json`;

/** The hooks subscribed to merge request events. */
export const hooksForMergeRequest = (tx: Database, project_id: number): Promise<AskingHook[]> =>
  hooksAsking(tx, { project_id }, ['merge_requests_events']);

/**
 * Adds an event for a merge request.
 * @param tx the transaction of the change
 * @param item the merge request and the action; without `changes`, no listed member has changed
 * @param more further members of the body
 */
export async function tellOfMergeRequest(
  tx: Database,
  item: { id: number; project_id: number; actor_id: number | null; action: string; changes?: RawBuilder<unknown> },
  more: MergeRequestNews = {},
): Promise<void> {
  const asking = await hooksForMergeRequest(tx, item.project_id);
  if (asking.length === 0) return;
  const facts = mergeRequestFacts(
    { changes: none, ...item, ...(item.action === 'open' ? { changes: none } : {}) },
    more,
  );
  await addHookEvent(tx, asking, { trigger: 'merge_requests_events', facts });
}

/** The newest issue of a project that is not confidential, as if it had been created. */
export const sampleIssue: Sample = async ({ db }, { project_id, user_id: actor_id }) => {
  const newest = db
    .selectFrom('issues')
    .select('id')
    .where('project_id', '=', project_id)
    .where('confidential', '=', false);
  const row = await newest.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(1).executeTakeFirst();
  return row && issueFacts({ id: row.id, project_id, actor_id, action: 'open', changes: none }, false);
};

/** The newest merge request of a project, as if it had been created. */
export const sampleMergeRequest: Sample = async ({ db }, { project_id, user_id: actor_id }) => {
  const newest = db.selectFrom('merge_requests').select('id').where('project_id', '=', project_id);
  const row = await newest.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(1).executeTakeFirst();
  return row && mergeRequestFacts({ id: row.id, project_id, actor_id, action: 'open', changes: none });
};
