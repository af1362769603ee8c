/** Changes the approval settings of projects and groups. */
import { sql } from 'kysely';
import { type Database, stamped } from '../../../../db/index.ts';
import { invalid } from '../../../../http/index.ts';
import { mergeWhenReady, retryWaiting } from '../../../code/commit_statuses/index.ts';
import {
  type ApprovalSetting,
  approvalSettings,
  groupSettings,
  projectSettings,
  type SettingStates,
} from './setting_queries.ts';

export const selectiveText = 'can only be enabled without reset_approvals_on_push';
export const lockedText = 'cannot be changed';

export type SettingChanges = Partial<Record<ApprovalSetting, boolean | undefined>>;

/**
 * The changes, without values that are set already.
 * @param nameOf returns the parameter of a setting in the request
 * @throws ApiError 400 for a setting that an ancestor group decides
 */
function changesTo(states: SettingStates, given: SettingChanges, nameOf: (setting: ApprovalSetting) => string) {
  const changed = approvalSettings.filter(
    (setting) => given[setting] !== undefined && given[setting] !== states[setting].value,
  );
  const locked = changed.filter((setting) => states[setting].is_locked);
  if (locked.length > 0) throw invalid(Object.fromEntries(locked.map((setting) => [nameOf(setting), [lockedText]])));
  return Object.fromEntries(changed.map((setting) => [setting, given[setting]!])) as Partial<
    Record<ApprovalSetting, boolean>
  >;
}

const sameName = (setting: ApprovalSetting): string => setting;

/**
 * Changes the settings of a project, and rechecks auto-merges that wait for approvals. Enabling the full reset disables the selective one, unless the request sets that too.
 * @throws ApiError 400 if both resets would be enabled, and for a setting that an ancestor group decides
 */
export async function changeProjectSettings(
  tx: Database,
  id: number,
  given: SettingChanges,
  nameOf = sameName,
): Promise<void> {
  await tx.selectFrom('projects').select('id').where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
  const before = await projectSettings(tx, id);
  const changes = changesTo(before, given, nameOf);
  const resets = changes.reset_approvals_on_push ?? before.reset_approvals_on_push.value;
  if (resets && given.selective_code_owner_removals)
    throw invalid({ [nameOf('selective_code_owner_removals')]: [selectiveText] });
  const columns = { ...changes, ...(resets ? { selective_code_owner_removals: false } : {}) };
  await tx.updateTable('projects').set(stamped(columns)).where('id', '=', id).execute();
  await retryWaiting(tx, { project_id: id });
}

/** The most auto-merges that are rechecked at once; others are rechecked by later events. */
const maximumWoken = 1000;

/** Rechecks auto-merges that wait for approvals in the projects below a group. */
async function retryWaitingIn(tx: Database, group_id: number): Promise<void> {
  const { rows } = await sql<{ sha: string }>`
    select distinct head_commit_id as sha
      from merge_requests join projects on projects.id = merge_requests.project_id join namespaces on namespaces.id = projects.namespace_id
     where auto_merge_user_id is not null and merge_requests.state = 'opened' and head_commit_id is not null
       and namespaces.traversal_ids @> ${[group_id]}::bigint[]
     limit ${sql.lit(maximumWoken)}`.execute(tx);
  await mergeWhenReady.enqueueEach(tx, rows);
}

/**
 * Changes the settings of a group.
 * @throws ApiError 400 for a setting that an ancestor group decides
 */
export async function changeGroupSettings(
  tx: Database,
  id: number,
  given: SettingChanges,
  nameOf = sameName,
): Promise<void> {
  await tx.selectFrom('namespaces').select('id').where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
  const changes = changesTo(await groupSettings(tx, id), given, nameOf);
  if (Object.keys(changes).length === 0) return;
  await tx
    .insertInto('group_approval_settings')
    .values({ group_id: id, ...changes })
    .onConflict((conflict) => conflict.column('group_id').doUpdateSet(changes))
    .execute();
  await retryWaitingIn(tx, id);
}
