/** The branches of merge requests: source and target differ, and two open merge requests never have the same pair. */
import { type Database, isUniqueViolation, takeTurn } from '../../../db/index.ts';
import type { ApiError } from '../../../http/index.ts';
import { duplicateText, sameBranchText } from './rules.ts';
import { refusedAs } from './target_queries.ts';

/** The branches of a merge request. */
interface BranchPair {
  /** Null if the fork was deleted. */
  source_project_id: number | null;
  source_branch: string;
  /** The target project. */
  project_id: number;
  target_branch: string;
}

/** @throws ApiError 409 if the source branch is the target branch */
export function refuseSameBranch({ source_project_id, source_branch, project_id, target_branch }: BranchPair): void {
  if (source_project_id === project_id && source_branch === target_branch) throw refusedAs(409, sameBranchText);
}

/** The 409 if another open merge request has the same branches; undefined otherwise. */
async function duplicateRefusal(db: Database, pair: BranchPair): Promise<ApiError | undefined> {
  const open = db.selectFrom('merge_requests').select('iid').where('state', 'in', ['opened', 'locked']);
  const duplicate = await open
    .where('source_project_id', '=', pair.source_project_id)
    .where('source_branch', '=', pair.source_branch)
    .where('project_id', '=', pair.project_id)
    .where('target_branch', '=', pair.target_branch)
    .executeTakeFirst();
  return duplicate && refusedAs(409, duplicateText(duplicate.iid));
}

/**
 * Refuses to open a second merge request for the same branches. Concurrent requests are serialised: a unique violation would abort the transaction, which may be that of a comment.
 * @param tx the transaction that opens it
 * @throws ApiError 409
 */
export async function refuseDuplicate(tx: Database, pair: BranchPair): Promise<void> {
  const name = JSON.stringify([
    'open',
    pair.source_project_id,
    pair.source_branch,
    pair.project_id,
    pair.target_branch,
  ]);
  await takeTurn(tx, name);
  const refusal = await duplicateRefusal(tx, pair);
  if (refusal) throw refusal;
}

/**
 * Runs a change in its own transaction.
 * @param pair the branches after the change
 * @throws ApiError 409 if the change would open a second merge request for them
 */
export async function refusingDuplicates<T>(
  db: Database,
  pair: BranchPair,
  change: (tx: Database) => Promise<T>,
): Promise<T> {
  try {
    return await db.transaction().execute(change);
  } catch (error) {
    const refusal = isUniqueViolation(error, 'merge_requests_one_open') ? await duplicateRefusal(db, pair) : undefined;
    throw refusal ?? error;
  }
}
