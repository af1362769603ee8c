/** Who may be a member at which level. Pure functions. */
import { holds, levels, type Standing } from '../../../access/index.ts';

/** A group or project, as far as its members are concerned. */
export interface Source {
  kind: 'group' | 'project';
  id: number;
  /** A namespace of its tree. */
  namespace_id: number;
  /** The groups whose members are members here, too, from the top down; without the source itself. */
  above: number[];
  /** The user whose namespace the project is in. He is its owner without a row. */
  personal_owner_id: number | null;
}

/** Who changes a membership, with his access level there and what roles add to it. */
export interface Actor extends Standing {
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

/** How an access level is called. */
export const roleName = (access_level: number): string => names[access_level]!;

/** What a user holds from above. */
export interface Inherited {
  access_level: number;
  group_name: string;
}

/**
 * Why a user cannot be a member at a level, empty when he can. A membership below what he has from above would have no effect.
 * @param inherited the user's highest membership in the groups above
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

/** Why the level of a member cannot be another one, as long as he has a role. */
export const roleKeepsLevel = 'cannot be changed since member is associated with a custom role';

/** Whether somebody may decide who else is a member: owners of a group and those whom a role makes their like, maintainers of a project. */
export const mayManage = (kind: Source['kind'], who: Standing): boolean =>
  kind === 'group' ? holds(who, 'admin_group_member', kind) : who.access_level >= levels.maintainer;

/** Whether somebody has more than the actor, by his level or by his role. */
export const isAbove = (actor: Standing, kind: Source['kind'], { access_level, permissions }: Standing): boolean =>
  access_level > actor.access_level || permissions.some((permission) => !holds(actor, permission, kind));

/**
 * Whether a membership may not be changed or ended: the owner of a namespace stays owner of his projects, a group keeps an owner, and nobody decides about those
 * above him.
 * @param to the level that the member would have; undefined: none
 * @param hasOtherOwner whether the group would still have an owner without this one
 */
export function isProtected(
  source: Source,
  actor: Actor,
  member: Standing & { user_id: number },
  to: number | undefined,
  hasOtherOwner: boolean,
): boolean {
  if (member.user_id === source.personal_owner_id) return true;
  if (member.user_id !== actor.id && isAbove(actor, source.kind, member)) return true;
  return source.kind === 'group' && member.access_level === levels.owner && to !== levels.owner && !hasOtherOwner;
}

/** Why a membership cannot end on a day, empty when it can: from that day on it would not count. */
export const expiryReasons = (expires_at: string | null): string[] =>
  expires_at !== null && expires_at <= new Date().toISOString().slice(0, 10) ? ['cannot be a date in the past'] : [];
