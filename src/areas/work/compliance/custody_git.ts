/** The chain of custody: which commits were merged by whom, and who approved (docs/reference/compliance_frameworks.md#chain-of-custody). */
import { sql } from 'kysely';
import { isVisibleProject, type MaybeCaller } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { readCommit, repositoryOf } from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';
import { csvLine } from '../../../texts/index.ts';

/** The longest report, in lines. */
const longestReport = 100_000;
/** How many merges are read together. */
const batch = 200;

const heads = ['merge_commit', 'author', 'committer', 'date', 'merged_by', 'merge_request', 'approvers', 'project'];

interface Merged {
  iid: number;
  commit_id: string;
  merged_at: string;
  merged_by: string | null;
  approvers: string[];
  project: { id: number; storage: string; full_path: string };
}

/** The ids of the merges of a group, the latest first. */
async function mergedIn(db: Database, caller: MaybeCaller, group_id: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select shown.id from merge_requests shown join projects on projects.id = shown.project_id join namespaces place on place.id = projects.namespace_id
     where shown.merged_at is not null and place.traversal_ids @> ${[group_id]}::bigint[] and ${isVisibleProject(caller)}
     order by shown.merged_at desc, shown.id desc limit ${longestReport}`.execute(db);
  return rows.map(({ id }) => id);
}

/** @param ids of merge requests; one that is deleted meanwhile is left out */
async function mergesOf(db: Database, ids: readonly number[]): Promise<Merged[]> {
  const { rows } = await sql<Merged>`
    select shown.iid, coalesce(shown.merge_commit_sha, shown.squash_commit_sha, shown.head_commit_id) as commit_id, shown.merged_at,
           (select username from users where users.id = shown.merge_user_id) as merged_by,
           array(select username::text from merge_request_approvals approval join users on users.id = approval.user_id
                  where approval.merge_request_id = shown.id order by 1) as approvers,
           json_build_object('id', projects.id, 'storage', projects.storage, 'full_path', projects.full_path) as project
      from unnest(${ids}::bigint[]) with ordinality wanted(id, place) join merge_requests shown on shown.id = wanted.id
           join projects on projects.id = shown.project_id
     order by wanted.place`.execute(db);
  return rows;
}

async function lineOf({ storages }: Pick<Services, 'storages'>, merged: Merged): Promise<string> {
  const { commit_id, project, iid } = merged;
  // A commit may be gone with a repository that was damaged; the merge is told of all the same.
  const commit = await readCommit(repositoryOf({ storages }, project), commit_id).catch(() => undefined);
  return csvLine([
    commit_id,
    commit?.author_name ?? '',
    commit?.committer_name ?? '',
    new Date(merged.merged_at).toISOString(),
    merged.merged_by ?? '',
    `!${iid}`,
    merged.approvers.join(' '),
    project.full_path,
  ]);
}

/** The lines of the report, the latest merge first. */
export async function* custodyLines(
  services: Pick<Services, 'db' | 'storages'>,
  caller: MaybeCaller,
  group_id: number,
): AsyncGenerator<string> {
  yield csvLine(heads);
  const ids = await mergedIn(services.db, caller, group_id);
  for (let start = 0; start < ids.length; start += batch)
    for (const merged of await mergesOf(services.db, ids.slice(start, start + batch)))
      yield await lineOf(services, merged);
}
