/** The meaning of protections of environments. Pure functions. */
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
  /** Whether the actor is a member of its group. */
  is_member: boolean;
}

/** Who acts, and their level in the project, which is 50 for administrators. */
export interface Actor {
  caller: { id: number; admin: boolean };
  access_level: number;
}

/** Whether a rule names the actor. */
export function isNamed(rule: ProtectionRule, { caller, access_level }: Actor): boolean {
  if (rule.access_level === administrators) return caller.admin;
  if (rule.access_level !== null) return access_level >= rule.access_level;
  return rule.user_id === caller.id || rule.is_member;
}

/** Whether each of the protections lets the actor deploy. */
export const mayDeploy = (protections: readonly (readonly ProtectionRule[])[], actor: Actor): boolean =>
  protections.every((rules) => rules.some((rule) => rule.purpose === 'deploy' && isNamed(rule, actor)));
