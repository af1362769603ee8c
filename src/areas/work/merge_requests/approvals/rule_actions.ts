/** Changes approval rules (docs/reference/approvals.md#rules). */
import { sql } from 'kysely';
import { isVisibleGroup, knownIn } from '../../../../access/index.ts';
import { type Database, isAmong, isUniqueViolation } from '../../../../db/index.ts';
import { type Caller, found, invalid } from '../../../../http/index.ts';
import { retryWaiting } from '../../../code/commit_statuses/index.ts';

/** The owner of a rule: a project, or one of its merge requests. */
export interface RuleOwner {
  project_id: number;
  merge_request_id?: number;
}

/** The values of a rule. Omitted members keep their values. */
export interface RuleChanges {
  name?: string | undefined;
  approvals_required?: number | undefined;
  applies_to_all_protected_branches?: boolean | undefined;
  user_ids?: readonly number[] | undefined;
  usernames?: readonly string[] | undefined;
  group_ids?: readonly number[] | undefined;
  protected_branch_ids?: readonly number[] | undefined;
  /** Whether groups that the caller cannot see are removed; otherwise they stay. */
  remove_hidden_groups?: boolean | undefined;
}

export interface NewRule extends RuleChanges {
  name: string;
  approvals_required: number;
  rule_type: 'regular' | 'any_approver';
  approval_project_rule_id?: number;
}

/** The most rules of a project, and of a merge request. */
const maximumRules = 100;
const taken = 'has already been taken';
const anyTaken = 'any-approver for the project already exists';

const columnsOf = ({ project_id, merge_request_id }: RuleOwner) =>
  merge_request_id === undefined ? { project_id } : { merge_request_id };

/** A predicate on rows of `approval_rules`. */
export const ownedBy = ({ project_id, merge_request_id }: RuleOwner) =>
  merge_request_id === undefined
    ? sql<boolean>`approval_rules.project_id = ${project_id}`
    : sql<boolean>`approval_rules.merge_request_id = ${merge_request_id}`;

const refused = (error: unknown): unknown => {
  if (isUniqueViolation(error, 'approval_rules_any_approver_key')) return invalid({ rule_type: [anyTaken] });
  return isUniqueViolation(error, 'approval_rules_name_key') ? invalid({ name: [taken] }) : error;
};

/** The groups among the given ones that the caller can see. */
async function visibleGroups(tx: Database, caller: Caller, group_ids: readonly number[]): Promise<Set<number>> {
  const rows = tx
    .selectFrom('namespaces')
    .select('id')
    .where('kind', '=', 'group')
    .where(isAmong('id', group_ids, 'bigint[]'));
  return new Set((await rows.where(isVisibleGroup(caller)).execute()).map(({ id }) => id));
}

/**
 * @throws ApiError 400 for users who are not members, for groups that the caller cannot see and that have no relation to the project, and for branches that are not protected
 */
async function checkNamed(
  tx: Database,
  { project_id }: RuleOwner,
  caller: Caller,
  changes: RuleChanges,
): Promise<number[] | undefined> {
  const { usernames = [], group_ids = [], protected_branch_ids = [] } = changes;
  const named =
    usernames.length === 0
      ? []
      : await tx.selectFrom('users').select(['id', 'username']).where('username', 'in', usernames).execute();
  if (named.length < new Set(usernames.map((name) => name.toLowerCase())).size)
    throw invalid({ usernames: ['do not all exist'] });
  const user_ids = [...new Set([...(changes.user_ids ?? []), ...named.map(({ id }) => id)])];
  const { users, groups } = await knownIn(tx, project_id, { user_ids, group_ids });
  const strangers = user_ids.filter((id) => !users.has(id));
  if (strangers.length > 0) throw invalid({ users: [`are not members of the project: ${strangers.join(', ')}`] });
  const visible = await visibleGroups(tx, caller, group_ids);
  const strange = group_ids.filter((id) => !groups.has(id) && !visible.has(id));
  if (strange.length > 0) throw invalid({ groups: [`do not exist: ${strange.join(', ')}`] });
  const own = sql<boolean>`project_id = ${project_id} and id = any(${[...protected_branch_ids]}::bigint[])`;
  const branches = await tx.selectFrom('protected_branches').select('id').where(own).execute();
  if (branches.length < new Set(protected_branch_ids).size)
    throw invalid({ protected_branches: ['are not all protected branches of the project'] });
  return changes.user_ids || changes.usernames ? user_ids : undefined;
}

const replace = (tx: Database, table: string, column: string, rule_id: number, ids: readonly number[]) =>
  sql`
  with gone as (
    delete from ${sql.table(table)} where approval_rule_id = ${rule_id} and ${sql.ref(column)} <> all(${[...ids]}::bigint[])
  )
  insert into ${sql.table(table)} (approval_rule_id, ${sql.ref(column)})
  select ${rule_id}::bigint, unnest(${[...new Set(ids)]}::bigint[]) on conflict do nothing`.execute(tx);

async function hiddenGroups(tx: Database, caller: Caller, rule_id: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select namespaces.id from approval_rule_groups join namespaces on namespaces.id = group_id
     where approval_rule_id = ${rule_id} and ${isVisibleGroup(caller)} is not true`.execute(tx);
  return rows.map(({ id }) => id);
}

async function writeNamed(
  tx: Database,
  owner: RuleOwner,
  caller: Caller,
  rule_id: number,
  changes: RuleChanges,
): Promise<void> {
  const user_ids = await checkNamed(tx, owner, caller, changes);
  if (user_ids) await replace(tx, 'approval_rule_users', 'user_id', rule_id, user_ids);
  const { group_ids, protected_branch_ids, remove_hidden_groups = false } = changes;
  const hidden = group_ids && !remove_hidden_groups ? await hiddenGroups(tx, caller, rule_id) : [];
  if (group_ids) await replace(tx, 'approval_rule_groups', 'group_id', rule_id, [...group_ids, ...hidden]);
  else if (remove_hidden_groups) {
    const gone = await hiddenGroups(tx, caller, rule_id);
    await sql`delete from approval_rule_groups where approval_rule_id = ${rule_id} and group_id = any(${gone}::bigint[])`.execute(
      tx,
    );
  }
  if (protected_branch_ids)
    await replace(tx, 'approval_rule_protected_branches', 'protected_branch_id', rule_id, protected_branch_ids);
}

/**
 * Adds a rule.
 * @param tx the transaction of the change
 * @returns its id
 * @throws ApiError 400 by field
 */
export async function addApprovalRule(tx: Database, owner: RuleOwner, caller: Caller, rule: NewRule): Promise<number> {
  const { name, approvals_required, rule_type, applies_to_all_protected_branches, approval_project_rule_id } = rule;
  const { rows } = await sql`select from approval_rules where ${ownedBy(owner)} limit ${sql.lit(maximumRules)}`.execute(
    tx,
  );
  if (rows.length === maximumRules) throw invalid({ approval_rules: [`are limited to ${maximumRules}`] });
  const { id } = await tx
    .insertInto('approval_rules')
    .values({
      ...columnsOf(owner),
      name,
      approvals_required,
      rule_type,
      applies_to_all_protected_branches,
      approval_project_rule_id,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
    .catch((error: unknown) => {
      throw refused(error);
    });
  await writeNamed(tx, owner, caller, id, rule);
  await retryWaiting(tx, owner);
  return id;
}

/**
 * Adds a rule to a merge request as a copy of a rule of its project.
 * @param tx the transaction of the change
 * @returns its id
 * @throws ApiError 404 if the project has no such rule, 400 by field
 */
export async function copyApprovalRule(
  tx: Database,
  owner: RuleOwner,
  caller: Caller,
  { source_id, approvals_required }: { source_id: number; approvals_required: number },
): Promise<number> {
  const source = tx.selectFrom('approval_rules').select(['name', 'rule_type']).where('id', '=', source_id);
  const row = found(undefined, await source.where('project_id', '=', owner.project_id).executeTakeFirst());
  const copy = { name: row.name, rule_type: row.rule_type as NewRule['rule_type'], approvals_required };
  const id = await addApprovalRule(tx, owner, caller, { ...copy, approval_project_rule_id: source_id });
  await sql`
    with users as (
      insert into approval_rule_users (approval_rule_id, user_id)
      select ${id}::bigint, user_id from approval_rule_users where approval_rule_id = ${source_id}
    )
    insert into approval_rule_groups (approval_rule_id, group_id)
    select ${id}::bigint, group_id from approval_rule_groups where approval_rule_id = ${source_id}`.execute(tx);
  return id;
}

/**
 * Changes a rule.
 * @throws ApiError 404 if it does not exist, 400 by field
 */
export async function changeApprovalRule(
  tx: Database,
  owner: RuleOwner,
  caller: Caller,
  id: number,
  changes: RuleChanges,
): Promise<void> {
  const { name, approvals_required, applies_to_all_protected_branches } = changes;
  const rule = await tx
    .selectFrom('approval_rules')
    .select('id')
    .where(ownedBy(owner))
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  found(undefined, rule);
  const columns = { name, approvals_required, applies_to_all_protected_branches };
  if (Object.values(columns).some((value) => value !== undefined))
    await tx
      .updateTable('approval_rules')
      .set(columns)
      .where('id', '=', id)
      .execute()
      .catch((error: unknown) => {
        throw refused(error);
      });
  await writeNamed(tx, owner, caller, id, changes);
  await retryWaiting(tx, owner);
}

/** @throws ApiError 404 if it does not exist */
export async function removeApprovalRule(tx: Database, owner: RuleOwner, id: number): Promise<void> {
  const removed = await tx
    .deleteFrom('approval_rules')
    .where(ownedBy(owner))
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  found(undefined, removed);
  await retryWaiting(tx, owner);
}

/** Sets the number of approvals by any approvers that a project requires; 0 removes the rule. */
export async function requireApprovals(tx: Database, project_id: number, approvals_required: number): Promise<void> {
  if (approvals_required === 0)
    await tx
      .deleteFrom('approval_rules')
      .where('project_id', '=', project_id)
      .where('rule_type', '=', 'any_approver')
      .execute();
  else
    await sql`
      insert into approval_rules (project_id, name, rule_type, approvals_required) values (${project_id}, 'All Members', 'any_approver', ${approvals_required})
      on conflict (project_id, merge_request_id) where rule_type = 'any_approver' do update set approvals_required = excluded.approvals_required`.execute(
      tx,
    );
}
