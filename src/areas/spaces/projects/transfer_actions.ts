/** Transferring projects to another namespace. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  endGrantsAfterMove,
  groupLevel,
  isListedGroup,
  isVisibleGroup,
  lesserVisibility,
  levels,
  refreshAuthorizations,
  type VisibilityName,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { ApiError, type Caller, conflict, found, invalidAs, notFound } from '../../../http/index.ts';
import { recordEvent } from '../../activity/events/index.ts';
import { leaveFrameworks } from '../../code/compliance_frameworks/index.ts';
import { endPoliciesAfterMove } from '../../code/security_policies/index.ts';
import { lockTarget, tellOfProjects } from '../../people/namespaces/index.ts';
import { leaveFormerGroups } from '../../planning/references/index.ts';
import { dropForeignRoles } from '../member_roles/transfer_actions.ts';
import { limitReason, refuseTaken } from './actions.ts';
import { namespaceFor } from './creation_actions.ts';
import { mayCreateIn } from './rules.ts';

const notAllowedThere = "You don't have permission to transfer projects into that namespace.";
const failed = (reason: string) => invalidAs('Failed to transfer project', { new_namespace: [reason] });

/**
 * Transfers a project. One that is more visible than its new group gets the group's visibility. The old path redirects to the new one.
 * @param tx a transaction
 * @param namespace ID or full path
 * @throws ApiError 404 for a namespace that does not exist or is not visible to the caller, 400 with the reason when the project cannot be transferred there
 */
export async function transferProject(
  tx: Database,
  caller: Caller,
  project_id: number,
  namespace: number | string,
): Promise<void> {
  const target = await namespaceFor(tx, caller, namespace);
  if (!target || !(await mayKnow(tx, caller, target))) throw notFound('Namespace');
  if (!mayCreateIn(caller, target)) throw failed(notAllowedThere);
  const from = await namespaceIdOf(tx, project_id);
  const place = await lockTarget(tx, { from, to: target.id });
  const project = await tx
    .selectFrom('projects')
    .select(['name', 'path', 'full_path', 'namespace_id', 'visibility'])
    .where('id', '=', project_id)
    .executeTakeFirst();
  const { name, path, full_path: old_full_path, namespace_id, visibility } = found('Project', project);
  if (namespace_id !== from) throw conflict('Another request has just transferred the project.');
  if (namespace_id === place.id) throw failed('Project is already in this namespace.');
  if (await limitReason(tx, place.id)) throw failed(notAllowedThere);
  const full_path = `${place.full_path}/${path}`;
  try {
    await refuseTaken(tx, place.id, { name, full_path });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw failed('Project with same name or path in target namespace already exists');
  }
  const allowed = place.kind === 'user' ? visibility : lesserVisibility(visibility as VisibilityName, place.visibility);
  await tx
    .updateTable('projects')
    .set({ namespace_id: place.id, full_path, visibility: allowed, updated_at: sql`now()` })
    .where('id', '=', project_id)
    .execute();
  await leaveFormerGroups(tx, { project_id }, from, place.id);
  await dropForeignRoles(tx, { project_id });
  await leaveFrameworks(tx, { project_id });
  await refreshAuthorizations(tx, { project_id });
  await endGrantsAfterMove(tx, { project_id }, from);
  await endPoliciesAfterMove(tx, { project_id, group_id: null });
  await recordEvent(tx, {
    project_id,
    author_id: caller.id,
    action: 'transferred',
    target_type: 'Project',
    target_id: project_id,
  });
  await tellOfProjects(tx, 'project_transfer', sql`projects.id = ${project_id}`, old_full_path);
}

/** Whether the target is visible to the caller. Namespaces of users are visible to everyone. */
async function mayKnow(tx: Database, caller: Caller, { id, kind }: { id: number; kind: string }): Promise<boolean> {
  if (kind === 'user') return true;
  const query = tx.selectFrom('namespaces').select('id').where('id', '=', id).where(isVisibleGroup(caller));
  return (await query.executeTakeFirst()) !== undefined;
}

async function namespaceIdOf(tx: Database, project_id: number): Promise<number> {
  const row = await tx.selectFrom('projects').select('namespace_id').where('id', '=', project_id).executeTakeFirst();
  return found('Project', row).namespace_id;
}

/** A predicate on rows of `namespaces`: the caller may create projects in the group, as `mayCreateIn` decides for one. */
export const takesProjectsOf = (caller: Caller): RawBuilder<SqlBool> => sql`
  (namespaces.kind = 'group' and not ${isListedGroup('archived')} and not ${isListedGroup('marked_for_deletion')}
   and case namespaces.project_creation_level
     when 'developer' then ${groupLevel(caller)} >= ${sql.lit(levels.developer)}
     when 'maintainer' then ${groupLevel(caller)} >= ${sql.lit(levels.maintainer)}
     when 'owner' then ${groupLevel(caller)} >= ${sql.lit(levels.owner)}
     when 'administrator' then ${sql.lit(caller.admin)}
     else false end)`;
