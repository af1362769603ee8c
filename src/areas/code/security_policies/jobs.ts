/** Background jobs that read the files of policies. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { Id } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import type { PushFollower } from '../../../services/index.ts';
import { readPolicyFile } from './reading_actions.ts';

/** Enqueued by `readSoon`. */
export const readSecurityPolicies = job('read_security_policies', {
  input: { project_id: Id },
  retries: 10,
  run: ({ input, signal, ...services }) => readPolicyFile(services, input.project_id, signal),
});

/**
 * Schedules that the file of a project is read, if something is linked to the project.
 * @param tx the transaction that changes the default branch, or links something
 */
export async function readSoon(tx: Database, project_id: number): Promise<void> {
  const { rows } = await sql`select from security_policy_files where project_id = ${project_id}`.execute(tx);
  if (rows.length > 0) await readSecurityPolicies.enqueue(tx, { project_id }, { key: String(project_id) });
}

/** Has the file read when the default branch has moved or was replaced. */
export const policyFollower: PushFollower = {
  follow:
    async (_services, { owner, moved }) =>
    async (tx, default_branch) => {
      if (moved.length === 0 || moved.some(({ ref }) => ref === `refs/heads/${default_branch}`))
        await readSoon(tx, owner.id);
    },
};
