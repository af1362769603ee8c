/** The meaning of protections of environments. Pure functions. */
import { levels } from '../../../access/index.ts';

export const tiers = ['production', 'staging', 'testing', 'development', 'other'] as const;
export type Tier = (typeof tiers)[number];

/** Administrators, whose level no member has. */
const administrators = 60;

/** Exactly one of the three is not null. */
export interface Grantee {
  access_level: number | null;
  user_id: number | null;
  group_id: number | null;
}

/** A rule of a protection: who may deploy, or whose approvals are needed. */
export interface ProtectionRule extends Grantee {
  id: number;
  purpose: 'deploy' | 'approve';
  required_approvals: number;
  /** The user or group by name; null for a level. */
  name: string | null;
  /** Whether the actor is a member of its group, and the group has a relation to the project or group of the protection. */
  is_member: boolean;
  /** Whether the protection is that of a group, whose rules may name groups below it that the project does not know. */
  is_inherited: boolean;
}

/** Who acts, and their level in the project, which is 50 for administrators. */
export interface Actor {
  caller: { id: number; admin: boolean };
  access_level: number;
}

/** Whether a rule names the actor. One that names a user or an invited group has no effect for those who have left the project. */
export function isNamed(rule: ProtectionRule, { caller, access_level }: Actor): boolean {
  if (rule.access_level === administrators) return caller.admin;
  if (rule.access_level !== null) return access_level >= rule.access_level;
  const isInProject = access_level >= levels.guest;
  return rule.user_id === caller.id ? isInProject : rule.is_member && (isInProject || rule.is_inherited);
}

/** Whether each of the protections lets the actor deploy. */
export const mayDeploy = (protections: readonly (readonly ProtectionRule[])[], actor: Actor): boolean =>
  protections.every((rules) => rules.some((rule) => rule.purpose === 'deploy' && isNamed(rule, actor)));
