/** Changes of vulnerabilities by people. */
import type { Database } from '../../../db/index.ts';
import { found } from '../../../http/index.ts';

interface StateChange {
  user_id: number;
  state: 'detected' | 'dismissed' | 'resolved';
  comment: string | null;
}

/**
 * Changes the state of a vulnerability, and records the change. The current state is recorded again only with a comment.
 * @throws ApiError 404
 */
export async function changeState(
  tx: Database,
  vulnerability: { id: number; project_id: number },
  { user_id, state, comment }: StateChange,
): Promise<void> {
  const before = found(
    undefined,
    await tx
      .selectFrom('vulnerabilities')
      .select('state')
      .where('project_id', '=', vulnerability.project_id)
      .where('id', '=', vulnerability.id)
      .forUpdate()
      .executeTakeFirst(),
  );
  if (before.state === state && comment === null) return;
  await tx
    .updateTable('vulnerabilities')
    .set({ state, updated_at: new Date().toISOString() })
    .where('id', '=', vulnerability.id)
    .execute();
  await tx
    .insertInto('vulnerability_state_changes')
    .values({ vulnerability_id: vulnerability.id, user_id, from_state: before.state, to_state: state, comment })
    .execute();
}
