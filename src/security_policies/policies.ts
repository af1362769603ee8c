/** The shape of policies (docs/reference/security_policies.md#the-file). */
import {
  attribute,
  boolean,
  entry,
  type Members,
  mapped,
  oneOf,
  type Place,
  record,
  type Shape,
  textOfAtMost,
} from '../ci_configuration/shapes/shape.ts';
import { isMapping, type Value } from '../ci_configuration/values.ts';
import { type ApprovalDemand, actions, id } from './actions.ts';
import { ruleKinds } from './kinds/index.ts';
import { isGiven, listOf, numbered, word } from './lists.ts';

const maximumRules = 5;
const maximumBranches = 100;
/** The most projects, groups and frameworks that a scope names. */
const maximumScope = 1_000;
const maximumDescription_chars = 2_000;

/** A branch to which a rule does not apply: in all projects, or in one of them. */
interface BranchException {
  name: string;
  full_path: string | null;
}

const exception: Shape<BranchException> = (value, at) => {
  if (!isMapping(value)) {
    const name = word(value, at);
    return name === undefined ? undefined : { name, full_path: null };
  }
  const members = { name: attribute(word), full_path: attribute(word) };
  const read = record(members, ['name', 'full_path'])(value, at);
  return read && { name: read.name!, full_path: read.full_path! };
};

const branchMembers = {
  branches: attribute(listOf(word, maximumBranches)),
  branch_type: attribute(oneOf(['default', 'protected'])),
  branch_exceptions: attribute(listOf(exception, maximumBranches)),
};

/** Which target branches a rule is about; exactly one of the first two is there. */
export interface BranchChoice {
  /** Names, in which `*` stands for any characters; none: all protected branches. */
  branches?: readonly string[];
  branch_type?: 'default' | 'protected';
  branch_exceptions?: readonly BranchException[];
}

/** A rule, with the members of its type. */
export type Rule = BranchChoice & { type: string } & Readonly<Record<string, unknown>>;

const rule: Shape<Rule> = (value, at) => {
  if (!isMapping(value)) return at.fault('should be a hash');
  const type = value.get('type');
  const kind = typeof type === 'string' ? ruleKinds.get(type) : undefined;
  if (!kind) return at.attribute('type').fault(`should be one of: ${[...ruleKinds.keys()].join(', ')}`);
  const members: Members = { type: attribute(word), ...branchMembers, ...kind.members };
  const read = record(members, kind.required)(value, at);
  if (!read) return undefined;
  if (isGiven(value, 'branches') === isGiven(value, 'branch_type'))
    return at.fault('needs either branches or branch_type');
  return read as Rule;
};

/** Ids in a mapping each, as the file has them: `[{ id: 1 }]`. */
const ids: Shape<readonly number[]> = mapped(numbered(record({ id: attribute(id) }, ['id']), maximumScope), (read) =>
  read.map((each) => each.id!),
);

const chosen = record({ including: entry(ids), excluding: entry(ids) });

const scope = record({
  projects: entry(chosen),
  groups: entry(chosen),
  compliance_frameworks: entry(ids),
});

/** To which of the projects that a policy reaches it applies. */
export type Scope = NonNullable<ReturnType<typeof scope>>;

const settingNames = [
  'prevent_approval_by_author',
  'prevent_approval_by_commit_author',
  'remove_approvals_with_new_commit',
  'block_branch_modification',
  'prevent_pushing_and_force_pushing',
] as const;
export type PolicySetting = (typeof settingNames)[number];

const settings = record(Object.fromEntries(settingNames.map((name) => [name, attribute(boolean)])));

const policyMembers = {
  name: attribute(word),
  description: attribute(textOfAtMost(maximumDescription_chars)),
  enabled: attribute(boolean),
  rules: entry(numbered(rule, maximumRules)),
  actions: entry(actions),
  approval_settings: entry(settings),
  fallback_behavior: entry(record({ fail: attribute(oneOf(['closed', 'open'])) }, ['fail'])),
  policy_scope: entry(scope),
};

/** A policy of a file that is valid. */
export interface Policy {
  name: string;
  description: string | null;
  enabled: boolean;
  rules: readonly Rule[];
  demands: readonly ApprovalDemand[];
  /** Whether a bot says on merge requests what it asks for. */
  tells: boolean;
  settings: readonly PolicySetting[];
  /** Whether what cannot be evaluated needs the approvals. */
  fails_closed: boolean;
  scope: Scope;
}

const policyShape = record(policyMembers, ['name', 'enabled', 'rules']);

/** Reads a policy. */
export function policy(value: Value, at: Place): Policy | undefined {
  const read = policyShape(value, at);
  if (read?.name === undefined || read.enabled === undefined || read.rules === undefined) return undefined;
  if (read.rules.length === 0) return at.entry('rules').fault("can't be blank");
  const { name, enabled, rules, approval_settings = {} } = read;
  return {
    name,
    description: read.description ?? null,
    enabled,
    rules,
    demands: read.actions?.demands ?? [],
    tells: read.actions?.tells ?? false,
    settings: settingNames.filter((setting) => approval_settings[setting] === true),
    fails_closed: read.fallback_behavior?.fail !== 'open',
    scope: read.policy_scope ?? {},
  };
}
