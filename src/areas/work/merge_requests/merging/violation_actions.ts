/** Writing what was wrong with the approvals of a merge request when it was merged (docs/reference/compliance_frameworks.md#violations). */
import { sql } from 'kysely';
import { planInForce } from '../../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../../db/index.ts';

/** Fewer approvals are too few. */
const enough = 2;

/**
 * Writes the violations of a merge, with Ultimate.
 * @param tx the transaction that writes the effects of the merge
 * @param committer_ids who has added commits to it
 */
export async function writeViolations(
  tx: Database,
  merge_request_id: number,
  committer_ids: readonly number[],
): Promise<void> {
  const approvers = sql`
    select user_id from merge_request_approvals where merge_request_approvals.merge_request_id = merged.id`;
  await sql`
    insert into compliance_violations (project_id, merge_request_id, reason, violating_user_id, merged_at)
    select merged.project_id, merged.id, found.reason, found.user_id, merged.merged_at
      from merge_requests merged, lateral (
        select 'approved_by_author' as reason, merged.author_id as user_id where merged.author_id in (${approvers})
        union all
        select 'approved_by_committer', approval.user_id from (${approvers}) approval
         where approval.user_id = any(${ofAnyLength(committer_ids, 'bigint[]')}) and approval.user_id is distinct from merged.author_id
        union all
        select 'approved_by_insufficient_users', merged.merge_user_id where (select count(*) from (${approvers}) approval) < ${sql.lit(enough)}) found
     where merged.id = ${merge_request_id} and ${planInForce} = 'ultimate'
    on conflict do nothing`.execute(tx);
}
