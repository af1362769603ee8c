/** The effective approval settings of projects and groups, including those of ancestor groups (docs/reference/approvals.md#settings). */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../../db/index.ts';

/** Each setting with its stricter value, which a group enforces on everything below it; null if there is none. */
const strictness = {
  reset_approvals_on_push: true,
  disable_overriding_approvers_per_merge_request: true,
  merge_requests_author_approval: false,
  merge_requests_disable_committers_approval: true,
  require_password_to_approve: true,
  selective_code_owner_removals: null,
} as const;

export type ApprovalSetting = keyof typeof strictness;
export const approvalSettings = Object.keys(strictness) as ApprovalSetting[];

/** The default of a group: the value that restricts nothing. */
export const isAllowedByDefault = (setting: ApprovalSetting): boolean => strictness[setting] === false;

/** A predicate on rows of `namespaces` as `place`: the group itself or an ancestor enforces the stricter value. */
const isImposed = (setting: ApprovalSetting, above: RawBuilder<unknown>): RawBuilder<boolean> => {
  const strict = strictness[setting];
  if (strict === null) return sql`false`;
  return sql`exists (select from group_approval_settings imposing
                      where imposing.group_id = any(${above}::bigint[]) and imposing.${sql.ref(setting)} = ${sql.lit(strict)})`;
};

const groupsAbove = sql`(select place.traversal_ids from namespaces place where place.id = projects.namespace_id)`;

/** The effective value for a row of `projects`: its own, or the stricter value enforced by an ancestor group. */
export const settingInForce = (setting: ApprovalSetting): RawBuilder<boolean> => {
  const own = sql.ref(`projects.${setting}`);
  const imposed = isImposed(setting, groupsAbove);
  if (setting === 'selective_code_owner_removals')
    return sql`(${own} and not ${settingInForce('reset_approvals_on_push')})`;
  return strictness[setting] ? sql`(${own} or ${imposed})` : sql`(${own} and not ${imposed})`;
};

/** A setting: its value, and whether an ancestor group decides it. */
export interface SettingState {
  value: boolean;
  is_locked: boolean;
}
export type SettingStates = Record<ApprovalSetting, SettingState>;

type Row = Record<ApprovalSetting | `locked_${ApprovalSetting}`, boolean>;

const statesIn = (row: Row): SettingStates =>
  Object.fromEntries(
    approvalSettings.map((setting) => [setting, { value: row[setting], is_locked: row[`locked_${setting}`] }]),
  ) as unknown as SettingStates;

/** The settings of a project. */
export async function projectSettings(db: Database, id: number): Promise<SettingStates> {
  const columns = approvalSettings.flatMap((setting) => [
    sql`${settingInForce(setting)} as ${sql.ref(setting)}`,
    sql`${isImposed(setting, groupsAbove)} as ${sql.ref(`locked_${setting}`)}`,
  ]);
  const { rows } = await sql<Row>`select ${sql.join(columns)} from projects where id = ${id}`.execute(db);
  return statesIn(rows[0]!);
}

/** The settings of a group. */
export async function groupSettings(db: Database, id: number): Promise<SettingStates> {
  const above = sql`trim_array(namespaces.traversal_ids, 1)`;
  const columns = approvalSettings.flatMap((setting) => {
    const strict = strictness[setting];
    const own = sql`coalesce(own.${sql.ref(setting)}, ${sql.lit(strict === false)})`;
    const imposed = isImposed(setting, above);
    const value = strict === null ? own : strict ? sql`(${own} or ${imposed})` : sql`(${own} and not ${imposed})`;
    return [sql`${value} as ${sql.ref(setting)}`, sql`${imposed} as ${sql.ref(`locked_${setting}`)}`];
  });
  const { rows } = await sql<Row>`
    select ${sql.join(columns)}
      from namespaces left join group_approval_settings own on own.group_id = namespaces.id
     where namespaces.id = ${id}`.execute(db);
  return statesIn(rows[0]!);
}
