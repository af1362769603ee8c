/** Rules of memberships. Pure functions. */
import { type Eligibility, holds, levels } from '../../../access/index.ts';
import { type ApiError, forbidden } from '../../../http/index.ts';

/** A group or project with members. */
export interface Source {
  kind: 'group' | 'project';
  id: number;
  /** A namespace of its tree. */
  namespace_id: number;
  /** Ancestor groups, top-level group first, without the source itself. */
  above: number[];
  /** The user whose namespace the project is in. They are its owner without a membership. */
  personal_owner_id: number | null;
}

/** The user who changes a membership, with their access level and permissions there. */
export interface Actor extends Eligibility {
  id: number;
}

const names: Record<number, string> = {
  [levels.minimal]: 'Minimal Access',
  [levels.guest]: 'Guest',
  [levels.planner]: 'Planner',
  [levels.reporter]: 'Reporter',
  [levels.developer]: 'Developer',
  [levels.maintainer]: 'Maintainer',
  [levels.owner]: 'Owner',
};

/** The name of an access level. */
export const roleName = (access_level: number): string => names[access_level]!;

/** An inherited membership. */
export interface Inherited {
  access_level: number;
  group_name: string;
}

/**
 * Reasons why a user cannot have a level, empty if they can. A membership below an inherited one would have no effect.
 * @param inherited the user's highest membership in ancestor groups
 * @param withMinimal whether the plan has minimal access
 */
export function levelReasons(
  source: Pick<Source, 'kind' | 'above'>,
  access_level: number,
  inherited: Inherited | undefined,
  withMinimal: boolean,
): string[] {
  const isTopLevelGroup = source.kind === 'group' && source.above.length === 0;
  if (access_level === levels.minimal && !(isTopLevelGroup && withMinimal)) return ['is not included in the list'];
  if (!inherited || inherited.access_level <= access_level) return [];
  const name = roleName(inherited.access_level);
  return [`should be greater than or equal to ${name} inherited membership from group ${inherited.group_name}`];
}

/** The reason why a member with a custom role cannot get another level. */
export const roleKeepsLevel = 'cannot be changed since member is associated with a custom role';

/** Whether a user may manage members: owners of a group and holders of `admin_group_member`, maintainers of a project. */
export const mayManage = (kind: Source['kind'], who: Eligibility): boolean =>
  kind === 'group' ? holds(who, 'admin_group_member', kind) : who.access_level >= levels.maintainer;

/** Whether a member has a higher level or more permissions than the actor. */
export const isAbove = (
  actor: Eligibility,
  kind: Source['kind'],
  { access_level, permissions }: Eligibility,
): boolean => access_level > actor.access_level || permissions.some((permission) => !holds(actor, permission, kind));

/** Why a membership may not be updated or deleted: this actor may not do so, or a group would lose its last owner. */
export type Protection = 'protected' | 'last owner';

/** The reason for the last owner. */
export const lastOwnerText =
  'A group must keep an owner who is a person, is not blocked, and whose membership does not end';

/**
 * Why a membership may not be updated or deleted, undefined if it may: the owner of a namespace stays owner of its projects, a group keeps an owner, and no member
 * decides on members above themselves.
 * @param to the new level and end; undefined to delete the membership
 * @param hasOtherOwner whether the group has another owner who will stay
 */
export function protectionOf(
  source: Source,
  actor: Actor,
  member: Eligibility & { user_id: number; user_type: string; expires_at: string | null },
  to: { access_level: number; expires_at: string | null } | undefined,
  hasOtherOwner: boolean,
): Protection | undefined {
  if (member.user_id === source.personal_owner_id) return 'protected';
  if (member.user_id !== actor.id && isAbove(actor, source.kind, member)) return 'protected';
  const isOwner = source.kind === 'group' && member.access_level === levels.owner && member.user_type === 'human';
  const stays = to?.access_level === levels.owner && (to.expires_at === null || member.expires_at !== null);
  return isOwner && !stays && !hasOtherOwner ? 'last owner' : undefined;
}

/** The refusal for a protected membership. */
export const protectedRefusal = (protection: Protection): ApiError =>
  protection === 'last owner' ? forbidden(lastOwnerText) : forbidden();

/** The refusal of every endpoint that takes a role from a user, as endpoints declare it. */
export const lastOwnerRefusal = `403 Forbidden - ${lastOwnerText}`;

/** The refusals of every endpoint that gives a role to a user, as endpoints declare them. */
export const memberTexts = [
  '<parameter>: <reason>',
  'There are not enough available seats to invite this many users.<advice>',
];
