/** The effects of pushes on merge requests (docs/reference/merge_requests.md). */

import { sql } from 'kysely';
import { mergeRequestKind } from '../../../../access/index.ts';
import { type Database, isAmong, ofAnyLength } from '../../../../db/index.ts';
import { pagePath } from '../../../../foundation/addresses.ts';
import type { RefUpdate } from '../../../../git/index.ts';
import type { PushAnswered, PushFollower } from '../../../../services/index.ts';
import { movedBranches, pushedBranches } from '../../../code/repository/index.ts';
import { followMergeRequests } from './jobs.ts';

/** Enqueues the update of open merge requests whose source or target branch has moved; one job for all, and one index lookup. */
async function tellMergeRequests(
  tx: Database,
  {
    project_id,
    user_id,
    push_options,
  }: { project_id: number; user_id: number | null; push_options?: Buffer | undefined },
  moved: readonly RefUpdate[],
): Promise<void> {
  const names = movedBranches(moved);
  if (names.length === 0) return;
  const given = ofAnyLength(names, 'text[]');
  const { rows } = await sql<{ name: string }>`
    select name from unnest(${given}) name
     where exists (select from merge_requests where source_project_id = ${project_id} and source_branch = name and state in ('opened', 'locked'))
        or exists (select from merge_requests where project_id = ${project_id} and target_branch = name and state in ('opened', 'locked'))`.execute(
    tx,
  );
  if (rows.length === 0) return;
  const heads = moved.flatMap(({ new: sha }) => sha ?? []);
  await followMergeRequests.enqueue(tx, {
    ...{ project_id, user_id, branches: rows.map(({ name }) => name) },
    ...(push_options && { pushed: { heads, options: push_options.toString('base64') } }),
  });
}

const newMergeRequestPage = pagePath('/:project/-/merge_requests/new');

/** The address of a new merge request of branches of a project. @param project its path */
export function newMergeRequestAddress(
  project: string,
  branches: { source_branch: string; target_branch?: string },
): string {
  const named = Object.entries(branches).map(([name, value]): [string, string] => [`merge_request[${name}]`, value]);
  return `${newMergeRequestPage(project)}?${new URLSearchParams(named)}`;
}

/** The most branches mentioned in the reply to a push. */
const maximumLinks = 5;

/**
 * The lines in the reply to a push of branches: links to their open merge requests, or for creating one. Merge requests in other projects are omitted, because they may be hidden.
 * @param url the external address of the server
 */
async function mergeRequestLinks(
  { db, url }: { db: Database; url: string },
  { project_id, moved }: PushAnswered,
): Promise<string[]> {
  const names = pushedBranches(moved);
  const project = await db
    .selectFrom('projects')
    .select(['full_path', 'default_branch'])
    .where('id', '=', project_id)
    .where('printing_merge_request_link_enabled', '=', true)
    .where('merge_requests_access_level', '<>', 'disabled')
    .executeTakeFirst();
  const wanted = names.filter((name) => name !== project?.default_branch).slice(0, maximumLinks);
  if (!project || wanted.length === 0) return [];
  const open = await db
    .selectFrom('merge_requests')
    .select(['source_branch', 'iid', 'project_id'])
    .where('source_project_id', '=', project_id)
    .where(isAmong('source_branch', wanted, 'text[]'))
    .where('state', 'in', ['opened', 'locked'])
    .orderBy('id')
    .limit(maximumLinks)
    .execute();
  const unproposed = wanted.filter((name) => !open.some(({ source_branch }) => source_branch === name));
  return [
    ...open
      .filter((one) => one.project_id === project_id)
      .flatMap(({ source_branch, iid }) => [
        `View merge request for ${source_branch}:`,
        `  ${url}${mergeRequestKind.page(project.full_path, iid)}`,
      ]),
    ...unproposed.flatMap((name) => [
      `To create a merge request for ${name}, visit:`,
      `  ${url}${newMergeRequestAddress(project.full_path, { source_branch: name })}`,
    ]),
  ];
}

/** Updates open merge requests after pushes, and shows their links to the user who pushed. */
export const mergeRequestFollower: PushFollower = {
  follow:
    async (_services, { owner, user_id, moved, push_options }) =>
    (tx) =>
      tellMergeRequests(tx, { project_id: owner.id, user_id, push_options }, moved),
  answer: mergeRequestLinks,
};
