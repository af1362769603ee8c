/** Versions: the states of the source branch that a merge request has had (docs/reference/merge_requests.md#versions). */
import { sql } from 'kysely';
import type { Project } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { fetchCommit, mergeBase, repositoryOf, resolveBranch } from '../../../../git/index.ts';
import { invalid, type Services } from '../../../../http/index.ts';

/** Where the branches of a merge request are. */
export interface Heads {
  /** The head of the source branch, which the repository of the target has. */
  head: string;
  /** The head of the target branch. */
  start: string;
  /** Their merge base, null when they have none. */
  base: string | null;
}

type StoredProject = Pick<Project, 'id' | 'storage'>;

/** The branches of a merge request, with their projects. */
export interface Branches {
  source: StoredProject;
  source_branch: string;
  target: StoredProject;
  target_branch: string;
}

/**
 * Reads where both branches are. Afterwards the repository of the target has the head of the source, to which nothing refers there yet.
 * @throws ApiError 400 by the field of the branch that does not exist
 */
export async function headsOf(services: Pick<Services, 'storages'>, branches: Branches): Promise<Heads> {
  const { source, target } = branches;
  const [from, into] = [repositoryOf(services, source), repositoryOf(services, target)];
  const [head, start] = await Promise.all([
    resolveBranch(from, branches.source_branch),
    resolveBranch(into, branches.target_branch),
  ]);
  if (head === undefined) throw invalid({ source_branch: ['does not exist'] });
  if (start === undefined) throw invalid({ target_branch: ['does not exist'] });
  if (source.id !== target.id) await fetchCommit(from, into, head);
  return { head, start, base: (await mergeBase(into, [head, start])) ?? null };
}

/**
 * Adds a version, which becomes the last one.
 * @param tx the transaction of the change
 * @returns its id
 */
export async function addVersion(
  tx: Database,
  merge_request_id: number,
  { head, start, base }: Heads,
): Promise<number> {
  const { id } = await tx
    .insertInto('merge_request_versions')
    .values({ merge_request_id, head_commit_sha: head, start_commit_sha: start, base_commit_sha: base })
    .returning('id')
    .executeTakeFirstOrThrow();
  await sql`update merge_requests set latest_version_id = ${id}, head_commit_id = ${head} where id = ${merge_request_id}`.execute(
    tx,
  );
  return id;
}
