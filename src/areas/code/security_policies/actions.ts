/** Links projects and groups to the project with their policies (docs/reference/security_policies.md#link). */
import { sql } from 'kysely';
import type { Owner } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { badRequest } from '../../../http/index.ts';
import { readSoon } from './jobs.ts';
import { expectFile, forgetFile, wakeReached } from './reading_actions.ts';

export const elsewhereText = 'The policy project must be in the same top-level group';

const ownedBy = ({ project_id, group_id }: Owner) =>
  project_id === null ? sql<boolean>`group_id = ${group_id}` : sql<boolean>`project_id = ${project_id}`;

/** Whether a project is in the same top-level group, and another one than the one that is linked. */
async function mayHavePolicies(tx: Database, { project_id, group_id }: Owner, policy_project_id: number) {
  const top =
    project_id === null
      ? sql`(select traversal_ids[1] from namespaces where id = ${group_id})`
      : sql`(select traversal_ids[1] from projects own join namespaces on namespaces.id = own.namespace_id where own.id = ${project_id})`;
  const { rows } = await sql`
    select from projects join namespaces on namespaces.id = namespace_id
     where projects.id = ${policy_project_id} and traversal_ids[1] = ${top} and projects.id is distinct from ${project_id}`.execute(
    tx,
  );
  return rows.length > 0;
}

/**
 * Links a project or group to a policy project, instead of the one before.
 * @param tx the transaction of the change
 * @param policy_project_id a project whose code the caller may read
 * @throws ApiError 400 if the policy project is the project itself, or in another top-level group
 */
export async function linkPolicies(tx: Database, owner: Owner, policy_project_id: number): Promise<void> {
  if (!(await mayHavePolicies(tx, owner, policy_project_id))) throw badRequest(elsewhereText);
  const before = await tx
    .selectFrom('security_policy_links')
    .select(['id', 'policy_project_id'])
    .where(ownedBy(owner))
    .forUpdate()
    .executeTakeFirst();
  if (before?.policy_project_id === policy_project_id) return;
  await expectFile(tx, policy_project_id);
  if (before)
    await tx.updateTable('security_policy_links').set({ policy_project_id }).where('id', '=', before.id).execute();
  else
    await tx
      .insertInto('security_policy_links')
      .values({ ...owner, policy_project_id })
      .onConflict((conflict) =>
        conflict.column(owner.project_id === null ? 'group_id' : 'project_id').doUpdateSet({ policy_project_id }),
      )
      .execute();
  if (before) await forgetFile(tx, before.policy_project_id);
  await readSoon(tx, policy_project_id);
}

/** Ends the link of a project or group, if it has one of its own. */
export async function unlinkPolicies(tx: Database, owner: Owner): Promise<void> {
  const own = tx.selectFrom('security_policy_links').select('policy_project_id').where(ownedBy(owner));
  const link = await own.forUpdate().executeTakeFirst();
  if (!link) return;
  await wakeReached(tx, link.policy_project_id);
  await tx.deleteFrom('security_policy_links').where(ownedBy(owner)).execute();
  await forgetFile(tx, link.policy_project_id);
}
