/** Versions: the recorded states of a merge request's source branch (docs/reference/merge_requests.md#versions). */
import { sql } from 'kysely';
import type { Project } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { fetchCommit, mergeBase, repositoryOf, resolveBranch } from '../../../../git/index.ts';
import { invalid, type Services } from '../../../../http/index.ts';
import { tellOfPolicies } from '../approvals/message_jobs.ts';

/** The heads of a merge request's branches. */
export interface Heads {
  /** The head of the source branch, fetched into the target repository. */
  head: string;
  /** The head of the target branch. */
  start: string;
  /** Their merge base, null if there is none. */
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
 * Reads the heads of both branches. The head of the source is fetched into the target repository, without a ref to it.
 * @throws ApiError 400 by the field of the missing branch
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
 * Adds a version, which becomes the latest one.
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
  await tellOfPolicies(tx, merge_request_id);
  return id;
}
