/** Ending what users who lose a membership have begun. */
import { type RawBuilder, sql } from 'kysely';
import { type Database, ofAnyLength } from '../../../db/index.ts';

/**
 * Deletes the pending invitations that the users sent, and their pending approvals. Otherwise a removed member could return through an invitation
 * or a later approval.
 */
export async function endWhatWaits(
  tx: Database,
  isThere: (table: string) => RawBuilder<boolean>,
  user_ids: readonly number[],
): Promise<void> {
  const users = ofAnyLength(user_ids, 'bigint[]');
  await sql`delete from invitations where created_by_id = any(${users}) and ${isThere('invitations')}`.execute(tx);
  await sql`
    delete from member_approvals where user_id = any(${users}) and status = 'pending' and ${isThere('member_approvals')}`.execute(
    tx,
  );
}
