/** To which projects policies apply, and to which branches their rules (docs/reference/security_policies.md#scope). Pure functions. */
import { isAbout } from '../../../foundation/wildcards.ts';
import type { BranchChoice, Policy, PolicySetting, Rule, Scope } from '../../../security_policies/index.ts';

/** Where the file is in a policy project. */
export const policyPath = '.gitlab/security-policies/policy.yml';

/** A project as scopes and rules see it. */
export interface Place {
  project_id: number;
  full_path: string;
  default_branch: string;
  /** The groups that contain it, from the top. */
  group_ids: readonly number[];
  framework_ids: readonly number[];
}

/** A project with policies, in the state that is in force. */
export interface Source {
  project_id: number;
  full_path: string;
  policies: readonly Policy[];
}

/** A project, and the policy projects that it is linked to, itself or through its groups. */
export interface Reached extends Place {
  sources: readonly Source[];
}

/** A policy that applies to a project. */
export interface PolicyInForce {
  policy: Policy;
  source: Pick<Source, 'project_id' | 'full_path'>;
}

const none: readonly number[] = [];

/** Whether a policy applies to a project. What a scope does not name does not limit it. */
export function isInScope({ projects, groups, compliance_frameworks = none }: Scope, place: Place): boolean {
  const { project_id, group_ids, framework_ids } = place;
  const isIn = (wanted: readonly number[] = none) => wanted.length === 0 || wanted.includes(project_id);
  const isBelow = (wanted: readonly number[]) => wanted.some((id) => group_ids.includes(id));
  if (compliance_frameworks.length > 0 && !compliance_frameworks.some((id) => framework_ids.includes(id))) return false;
  if (projects?.excluding?.includes(project_id) || isBelow(groups?.excluding ?? none)) return false;
  const wantedGroups = groups?.including ?? none;
  return isIn(projects?.including) && (wantedGroups.length === 0 || isBelow(wantedGroups));
}

/** The policies that apply to a project. */
export const policiesFor = (reached: Reached | null): PolicyInForce[] =>
  reached === null
    ? []
    : reached.sources.flatMap(({ policies, ...source }) =>
        policies
          .filter(({ enabled, scope }) => enabled && isInScope(scope, reached))
          .map((policy) => ({ policy, source })),
      );

/** A branch as rules see it. */
export interface Branch {
  name: string;
  is_protected: boolean;
}

function isChosen({ branches, branch_type }: BranchChoice, branch: Branch, { default_branch }: Place): boolean {
  if (branch_type === 'default') return branch.name === default_branch;
  if (branch_type === 'protected' || branches?.length === 0) return branch.is_protected;
  return branches?.some((pattern) => isAbout(pattern, branch.name)) ?? false;
}

const isExcepted = ({ branch_exceptions = [] }: BranchChoice, branch: Branch, place: Place): boolean =>
  branch_exceptions.some(
    ({ name, full_path }) =>
      isAbout(name, branch.name) && (full_path === null || full_path.toLowerCase() === place.full_path.toLowerCase()),
  );

/** The rules of a policy that are about a branch of a project. */
export const rulesAbout = ({ rules }: Policy, branch: Branch, place: Place): Rule[] =>
  rules.filter((rule) => isChosen(rule, branch, place) && !isExcepted(rule, branch, place));

/** The policies that decide on a setting for a branch of a project. */
export const settingPolicies = (reached: Reached | null, setting: PolicySetting, branch: Branch): Policy[] =>
  policiesFor(reached)
    .map(({ policy }) => policy)
    .filter((policy) => policy.settings.includes(setting) && rulesAbout(policy, branch, reached!).length > 0);

/** Why a push is refused. */
const pushText = (branch: string, policy: string): string =>
  `Push to branch '${branch}' does not follow the policy '${policy}'`;

/** Why a protection stays. */
export const protectionText = (branch: string, policy: string): string =>
  `Branch '${branch}' stays as it is, by the policy '${policy}'`;

/**
 * Why a policy refuses a push to a protected branch.
 * @param deletes whether the push deletes the branch
 */
export function policyRefusal(reached: Reached, name: string, deletes: boolean): string[] {
  const branch = { name, is_protected: true };
  const [pushed] = settingPolicies(reached, 'prevent_pushing_and_force_pushing', branch);
  if (pushed) return [pushText(name, pushed.name)];
  const [blocked] = deletes ? settingPolicies(reached, 'block_branch_modification', branch) : [];
  return blocked ? [protectionText(name, blocked.name)] : [];
}

/** What policies may answer to a change of a branch, for the documentation of its endpoints. */
export const policyTexts: readonly string[] = [
  pushText('<branch>', '<policy>'),
  protectionText('<branch>', '<policy>'),
];
