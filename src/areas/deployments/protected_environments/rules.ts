/** Evaluates protections of environments. Pure functions. */
import { levels } from '../../../access/index.ts';

export const tiers = ['production', 'staging', 'testing', 'development', 'other'] as const;
export type Tier = (typeof tiers)[number];

/** The level of administrators; no member has it. */
const administrators = 60;

/** Exactly one of the three is not null. */
export interface Grantee {
  access_level: number | null;
  user_id: number | null;
  group_id: number | null;
}

/** A rule of a protection: a permission to deploy, or required approvals. */
export interface ProtectionRule extends Grantee {
  id: number;
  purpose: 'deploy' | 'approve';
  required_approvals: number;
  /** The user or group by name; null for a level. */
  name: string | null;
  /** Whether the actor is a member of the rule's group, and the group has a relation to the project or group of the protection. */
  is_member: boolean;
  /** Whether a group owns the protection. Its rules may name subgroups that the project has no relation to. */
  is_inherited: boolean;
}

/** The acting user, and their level in the project (50 for administrators). */
export interface Actor {
  caller: { id: number; admin: boolean };
  access_level: number;
}

/** Whether a rule names the actor. A rule for a user or an invited group does not apply to users who have left the project. */
export function isNamed(rule: ProtectionRule, { caller, access_level }: Actor): boolean {
  if (rule.access_level === administrators) return caller.admin;
  if (rule.access_level !== null) return access_level >= rule.access_level;
  const isInProject = access_level >= levels.guest;
  return rule.user_id === caller.id ? isInProject : rule.is_member && (isInProject || rule.is_inherited);
}

/** Whether every protection lets the actor deploy. */
export const mayDeploy = (protections: readonly (readonly ProtectionRule[])[], actor: Actor): boolean =>
  protections.every((rules) => rules.some((rule) => rule.purpose === 'deploy' && isNamed(rule, actor)));
