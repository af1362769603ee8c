/** Approval rules in replies (docs/reference/approvals.md#rules). */
import { sql } from 'kysely';
import { type Static, Type } from 'typebox';
import {
  countsToday,
  groupPage,
  isApprover,
  isVisibleGroup,
  levels,
  type MaybeCaller,
} from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { Id, nullable, resource, type Services } from '../../../../http/index.ts';
import { presentUserBasic, UserBasic, type UserBasicRow, userBasicJson } from '../../../people/users/index.ts';

const Place = Type.Object({
  id: Id,
  name: Type.String(),
  path: Type.String(),
  full_path: Type.String(),
  visibility: Type.String(),
  web_url: Type.String(),
});
const ProtectedName = Type.Object({ id: Id, name: Type.String(), code_owner_approval_required: Type.Boolean() });

const common = {
  id: Id,
  name: Type.String(),
  rule_type: Type.Enum(['regular', 'any_approver']),
  report_type: Type.Null({ description: 'Always null: there are no reports' }),
  eligible_approvers: Type.Array(UserBasic, { description: 'Whose approvals it counts, at most 100 of them' }),
  approvals_required: Type.Integer(),
  users: Type.Array(UserBasic),
  groups: Type.Array(Place, { description: 'Without those that are hidden from the caller' }),
  contains_hidden_groups: Type.Boolean(),
};

export const ProjectApprovalRule = resource('ProjectApprovalRule', {
  ...common,
  applies_to_all_protected_branches: Type.Boolean(),
  protected_branches: Type.Array(ProtectedName, {
    description: 'The target branches that it is for; without any, all',
  }),
});

export const MergeRequestApprovalRule = resource('MergeRequestApprovalRule', {
  ...common,
  source_rule: nullable(Type.Object({ id: Id, approvals_required: Type.Integer() })),
  section: Type.Null({ description: 'Always null: rules of code owners are not stored' }),
});

/** The most people shown. */
const maximumShown = 100;

const isNamed = sql`users.id in (
  select user_id from approval_rule_users where approval_rule_id = approval_rules.id
   union select user_id from approval_rule_groups named join group_authorizations using (group_id)
          where named.approval_rule_id = approval_rules.id and access_level >= ${levels.guest} and ${countsToday()})`;

/** The groups of a rule that the caller can see, or those that the caller cannot see. */
const groups = (caller: MaybeCaller, isSeen: boolean) => sql`
  from approval_rule_groups named join namespaces on namespaces.id = named.group_id
 where named.approval_rule_id = approval_rules.id and ${isVisibleGroup(caller)} is ${isSeen ? sql`true` : sql`not true`}`;

interface GroupRow {
  id: number;
  name: string;
  path: string;
  full_path: string;
  visibility: string;
}

/** Rules in the form for replies, oldest first. */
export const ruleRows = (db: Database, caller: MaybeCaller) =>
  db
    .selectFrom('approval_rules')
    .select([
      ...(['approval_rules.id', 'approval_rules.name', 'approval_rules.approvals_required'] as const),
      'approval_rules.applies_to_all_protected_branches',
      sql<'regular' | 'any_approver'>`approval_rules.rule_type`.as('rule_type'),
      sql<
        UserBasicRow[]
      >`array(select ${userBasicJson('users')} from approval_rule_users named join users on users.id = named.user_id
                                 where named.approval_rule_id = approval_rules.id order by users.id)`.as('users'),
      sql<UserBasicRow[]>`array(
        select ${userBasicJson('users')} from users, projects
         where projects.id = coalesce(approval_rules.project_id, (select project_id from merge_requests where id = approval_rules.merge_request_id))
           and ${isNamed} and ${isApprover} order by users.id limit ${sql.lit(maximumShown)})`.as('eligible'),
      sql<GroupRow[]>`array(
        select json_build_object('id', namespaces.id, 'name', namespaces.name, 'path', namespaces.path, 'full_path', namespaces.full_path,
                                 'visibility', namespaces.visibility) ${groups(caller, true)} order by namespaces.id)`.as(
        'groups',
      ),
      sql<boolean>`exists (select ${groups(caller, false)})`.as('contains_hidden_groups'),
      sql<{ id: number; name: string; code_owner_approval_required: boolean }[]>`array(
        select json_build_object('id', branch.id, 'name', branch.name, 'code_owner_approval_required', branch.code_owner_approval_required)
          from approval_rule_protected_branches named join protected_branches branch on branch.id = named.protected_branch_id
         where named.approval_rule_id = approval_rules.id order by branch.name)`.as('protected_branches'),
      sql<{ id: number; approvals_required: number } | null>`(
        select json_build_object('id', origin.id, 'approvals_required', origin.approvals_required)
          from approval_rules origin where origin.id = approval_rules.approval_project_rule_id)`.as('source_rule'),
    ])
    .orderBy('approval_rules.id');
export type RuleRow = Awaited<ReturnType<ReturnType<typeof ruleRows>['executeTakeFirstOrThrow']>>;

function commonOf(url: string, row: RuleRow) {
  const { id, name, rule_type, approvals_required, contains_hidden_groups } = row;
  return {
    id,
    name,
    rule_type,
    approvals_required,
    contains_hidden_groups,
    report_type: null,
    eligible_approvers: row.eligible.map((user) => presentUserBasic(url, user)),
    users: row.users.map((user) => presentUserBasic(url, user)),
    groups: row.groups.map((group) => ({ ...group, web_url: url + groupPage(group.full_path) })),
  };
}

/** @param services with the server's external address */
export const presentProjectRule = (
  { url }: Pick<Services, 'url'>,
  row: RuleRow,
): Static<typeof ProjectApprovalRule> => ({
  ...commonOf(url, row),
  applies_to_all_protected_branches: row.applies_to_all_protected_branches,
  protected_branches: row.protected_branches,
});

/** @param services with the server's external address */
export const presentMergeRequestRule = (
  { url }: Pick<Services, 'url'>,
  row: RuleRow,
): Static<typeof MergeRequestApprovalRule> => ({
  ...commonOf(url, row),
  source_rule: row.source_rule,
  section: null,
});
