/** How approval rules leave and arrive (docs/reference/relations_export.md#approval_rules). */
import { sql } from 'kysely';
import { isAmong } from '../../../../db/index.ts';
import {
  choice,
  columnOr,
  completeGroups,
  flag,
  integer,
  isText,
  late,
  type Members,
  parts,
  type RecordKind,
  type Relation,
  refuseStrange,
  required,
  requiredAccount,
  shown,
  text,
} from '../../../../relations/index.ts';
import { tooLong } from '../../../../texts/index.ts';

const members: Members = {
  name: required(
    'name',
    text((name) => (name.trim() === '' ? ["can't be blank"] : tooLong(name, 255))),
  ),
  rule_type: columnOr('rule_type', choice('regular', 'any_approver'), 'regular'),
  approvals_required: columnOr('approvals_required', integer(0, 100), 0),
};

const approver: RecordKind = {
  table: 'approval_rule_users',
  is_link: true,
  distinct: ['user_id'],
  members: { user_id: requiredAccount('user_id') },
  stays: {},
  derives: { columns: {}, derive: refuseStrange },
};

/** A group whose members can approve. */
const approvingGroup: RecordKind = {
  table: 'approval_rule_groups',
  is_link: true,
  distinct: ['group_id'],
  members: { group_id: shown(sql`approval_rule_groups.group_id`) },
  stays: {},
  derives: { columns: { group_id: 'bigint' }, derive: completeGroups },
};

/** A protected branch of a rule, by name. */
const branch: RecordKind = {
  table: 'approval_rule_protected_branches',
  is_link: true,
  distinct: ['protected_branch_id'],
  members: {
    branch_name: shown(
      sql`(select name from protected_branches where protected_branches.id = approval_rule_protected_branches.protected_branch_id)`,
    ),
  },
  stays: {},
  derives: {
    columns: { protected_branch_id: 'bigint' },
    derive: async (rows, { owner }, tx) => {
      const names = rows.map(({ value }) => (isText(value.branch_name) ? value.branch_name : ''));
      const found = await tx
        .selectFrom('protected_branches')
        .select(['id', 'name'])
        .where('project_id', '=', owner.id)
        .where(isAmong('name', names, 'text[]'))
        .execute();
      const ids = new Map(found.map(({ id, name }) => [name, id]));
      for (const [index, { row }] of rows.entries()) row.protected_branch_id = ids.get(names[index]!) ?? null;
      const missing = rows.filter(({ row }) => row.protected_branch_id === null);
      return new Map(missing.map((each) => [each, 'names a branch that is not protected here']));
    },
  },
};

const projectRule: RecordKind = {
  table: 'approval_rules',
  owner: { project: 'project_id' },
  title: 'name',
  members: {
    ...members,
    applies_to_all_protected_branches: columnOr('applies_to_all_protected_branches', flag, false),
    approval_project_rules_protected_branches: parts(branch, 'approval_rule_id'),
    approval_project_rules_users: parts(approver, 'approval_rule_id'),
    approval_project_rules_groups: parts(approvingGroup, 'approval_rule_id'),
  },
  stays: { approval_project_rule_id: 'only rules of merge requests have it' },
};

/** The approval rules of a project. */
export const approvalRules: Relation = { name: 'approval_rules', kind: projectRule, plan: 'premium' };

/** The project rule that a rule of a merge request was copied from, by name. */
const origin = late(
  'approval_project_rule_id',
  () => sql`(select origin.name from approval_rules origin where origin.id = approval_rules.approval_project_rule_id)`,
  async (tx, { owner }, waiting) => {
    const names = waiting.flatMap(({ wanted }) => (isText(wanted) ? wanted : []));
    const rules = await tx
      .selectFrom('approval_rules')
      .select(['id', 'name'])
      .where('project_id', '=', owner.id)
      .where(isAmong('name', names, 'text[]'))
      .execute();
    const ids = new Map<unknown, number>(rules.map(({ id, name }) => [name, id]));
    return new Map(waiting.flatMap(({ id, wanted }) => (ids.has(wanted) ? [[id, ids.get(wanted)!]] : [])));
  },
);

/** The approval rules of a merge request, including those copied from its project. */
export const mergeRequestRule: RecordKind = {
  table: 'approval_rules',
  distinct: ['name'],
  members: {
    ...members,
    approval_project_rule: origin,
    approval_rules_users: parts(approver, 'approval_rule_id'),
    approval_rules_groups: parts(approvingGroup, 'approval_rule_id'),
  },
  stays: { applies_to_all_protected_branches: 'only rules of projects have it' },
};
