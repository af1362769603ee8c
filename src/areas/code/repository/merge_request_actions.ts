/** What moves of references mean for merge requests. Their area is above this one and runs the jobs that are added here. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { type Database, isAmong, ofAnyLength } from '../../../db/index.ts';
import { type RefUpdate, refRetries } from '../../../git/index.ts';
import { Id, nullable } from '../../../http/index.ts';
import { queueOf } from '../../../jobs/index.ts';
import { cleanUpAfterProjects } from '../../people/namespaces/index.ts';

/** A move that merges a merge request. */
export interface Merge {
  merge_request_id: number;
  outcome: {
    /** The head of the source branch that is merged. */
    head: string;
    /** Null without a merge commit. */
    merge_commit_sha: string | null;
    /** Null without squashing. */
    squash_commit_sha: string | null;
    /** Whether the source branch is removed afterwards. */
    should_remove_source_branch: boolean | null;
  };
}

/** Branches of a project have moved that open merge requests come from or go into. */
export const followBranches = queueOf('follow_branches', {
  input: { project_id: Id, user_id: nullable(Id), branches: Type.Array(Type.String()) },
  retries: refRetries,
});

/** A project is no longer a fork. Merge requests between its fork network and projects that are not of it any more are closed. */
export const closeForeign = queueOf('close_foreign_merge_requests', {
  input: { project_id: Id, user_id: nullable(Id) },
  retries: 5,
});

/** A merge request was merged. */
export const concludeMerge = queueOf('conclude_merge', { input: { merge_request_id: Id }, retries: refRetries });

/**
 * Locks an open merge request until its merge has ended.
 * @returns whether it was open
 */
export async function lockForMerge(tx: Database, id: number): Promise<boolean> {
  const locked = tx.updateTable('merge_requests').set({ state: 'locked' }).where('id', '=', id).where('state', '=', 'opened');
  return (await locked.returning('id').executeTakeFirst()) !== undefined;
}

/** Ends a merge: the merge request is merged if the branch has moved, and open again if it has not. */
export async function endMerge(
  tx: Database,
  { merge_request_id, outcome: { head, ...commits } }: Merge,
  { user_id, has_moved }: { user_id: number | null; has_moved: boolean },
): Promise<void> {
  if (!has_moved) await reopen(tx, merge_request_id);
  else await recordMerge(tx, merge_request_id, { ...commits, head_commit_id: head, user_id });
}

/** What was deleted or ended meanwhile, and closes open merge requests, closes this one now. */
async function reopen(tx: Database, id: number): Promise<void> {
  const locked = tx.updateTable('merge_requests').where('id', '=', id).where('state', '=', 'locked');
  const opened = await locked.set({ state: 'opened' }).returning(['project_id', 'source_project_id']).executeTakeFirst();
  if (opened?.source_project_id === null) await cleanUpAfterProjects.enqueue(tx, {});
  else if (opened && opened.source_project_id !== opened.project_id)
    await closeForeign.enqueue(tx, { project_id: opened.source_project_id, user_id: null });
}

/** Records that a merge request, which is open or locked, was merged; what follows from it is a job. */
export async function recordMerge(
  tx: Database,
  id: number,
  merged: Omit<Merge['outcome'], 'head'> & { head_commit_id: string; user_id: number | null },
): Promise<void> {
  const { user_id, ...columns } = merged;
  const { numUpdatedRows } = await tx
    .updateTable('merge_requests')
    .set({
      ...columns,
      ...{ state: 'merged', merge_user_id: user_id, merged_at: sql<string>`now()`, updated_at: sql<string>`now()` },
      ...{ merge_error: null, auto_merge_user_id: null, auto_merge_parameters: null, merge_unconcluded: true },
      merge_status: 'can_be_merged',
    })
    .where('id', '=', id)
    .where('state', 'in', ['opened', 'locked'])
    .executeTakeFirst();
  if (numUpdatedRows > 0n) await concludeMerge.enqueue(tx, { merge_request_id: id });
}

const branch = /^refs\/heads\/(.+)$/s;

/** Tells the open merge requests that come from or go into branches that have moved; one job for all, in one look at an index. */
export async function tellMergeRequests(
  tx: Database,
  { project_id, user_id }: { project_id: number; user_id: number | null },
  moved: readonly RefUpdate[],
): Promise<void> {
  const names = moved.flatMap(({ ref }) => branch.exec(ref)?.[1] ?? []);
  if (names.length === 0) return;
  const given = ofAnyLength(names, 'text[]');
  const { rows } = await sql<{ name: string }>`
    select name from unnest(${given}) name
     where exists (select from merge_requests where source_project_id = ${project_id} and source_branch = name and state in ('opened', 'locked'))
        or exists (select from merge_requests where project_id = ${project_id} and target_branch = name and state in ('opened', 'locked'))`.execute(
    tx,
  );
  if (rows.length > 0) await followBranches.enqueue(tx, { project_id, user_id, branches: rows.map(({ name }) => name) });
}

/** More branches than this are not mentioned in the answer to a push. */
const most_links = 5;

/**
 * What a push of branches is answered with: where to see their open merge requests, or to create one. Those in other projects, which may be hidden, are not named.
 * @param url the external address of the server
 */
export async function mergeRequestLinks(
  { db, url }: { db: Database; url: string },
  project_id: number,
  moved: readonly RefUpdate[],
): Promise<string[]> {
  const names = moved.filter((update) => update.new !== null).flatMap(({ ref }) => branch.exec(ref)?.[1] ?? []);
  const project = await db
    .selectFrom('projects')
    .select(['full_path', 'default_branch'])
    .where('id', '=', project_id)
    .where('printing_merge_request_link_enabled', '=', true)
    .where('merge_requests_access_level', '<>', 'disabled')
    .executeTakeFirst();
  const wanted = names.filter((name) => name !== project?.default_branch).slice(0, most_links);
  if (!project || wanted.length === 0) return [];
  const open = await db
    .selectFrom('merge_requests')
    .select(['source_branch', 'iid', 'project_id'])
    .where('source_project_id', '=', project_id)
    .where(isAmong('source_branch', wanted, 'text[]'))
    .where('state', 'in', ['opened', 'locked'])
    .orderBy('id')
    .limit(most_links)
    .execute();
  const unproposed = wanted.filter((name) => !open.some(({ source_branch }) => source_branch === name));
  return [
    ...open
      .filter((one) => one.project_id === project_id)
      .flatMap(({ source_branch, iid }) => [
        `View merge request for ${source_branch}:`,
        `  ${url}/${project.full_path}/-/merge_requests/${iid}`,
      ]),
    ...unproposed.flatMap((name) => [
      `To create a merge request for ${name}, visit:`,
      `  ${url}/${project.full_path}/-/merge_requests/new?merge_request%5Bsource_branch%5D=${encodeURIComponent(name)}`,
    ]),
  ];
}
