/** Evaluates branch protections: matching branches, and permitted actions. Pure functions. */
import { type Static, Type } from 'typebox';
import { levels } from '../../../access/index.ts';
import { isAbout } from '../../../foundation/wildcards.ts';
import { allOptional } from '../../../http/index.ts';
import { tooLong } from '../../../texts/index.ts';

/** Levels of entries that members cannot have. */
const no_one = 0;
const administrators = 60;

/** The reasons for refusing the name of an imported branch or tag protection. */
export const nameReasons = (name: string): string[] => (name.trim() === '' ? ["can't be blank"] : tooLong(name, 255));

export type ProtectedAction = 'push' | 'merge' | 'unprotect';

/** The grantee of an entry: everyone from a level up, one user, or the members of a group. Exactly one member is not null. */
export interface Entry {
  action: ProtectedAction;
  access_level: number | null;
  user_id: number | null;
  group_id: number | null;
}

/** An entry with a flag whether the actor is a member of its group. */
export interface KnownEntry extends Entry {
  is_member: boolean;
}

/** A protection, with everything needed to decide what an actor may do. */
export interface ProtectionRule {
  name: string;
  /** The group that owns it; null for a protection of the project. */
  group_id: number | null;
  allow_force_push: boolean;
  entries: readonly KnownEntry[];
}

/** The caller (undefined without a token) and their level in the project (50 for administrators). */
export interface Actor {
  caller: { id: number; admin: boolean } | undefined;
  access_level: number;
}

/** The actions that an actor may perform on a branch. */
export interface BranchProtection {
  is_protected: boolean;
  developers_can_push: boolean;
  developers_can_merge: boolean;
  allows_force_push: boolean;
  may_push: boolean;
  may_merge: boolean;
}

/** Whether an entry admits the actor. A user or group member still needs the level that pushing requires. */
function admits(entry: KnownEntry, { caller, access_level }: Actor): boolean {
  if (!caller || entry.access_level === no_one) return false;
  if (entry.access_level === administrators) return caller.admin;
  if (entry.access_level !== null) return access_level >= entry.access_level;
  return access_level >= levels.developer && (entry.user_id === caller.id || entry.is_member);
}

/** Whether an actor who may manage the project may also change or remove a protection. Without entries, every such actor may. */
export function mayUnprotect(entries: readonly KnownEntry[], actor: Actor): boolean {
  const own = entries.filter(({ action }) => action === 'unprotect');
  return own.length === 0 || own.some((entry) => admits(entry, actor));
}

const Levels = Type.Array(Type.Object({ access_level: Type.Enum([no_one, 30, 40, administrators]) }), { maxItems: 4 });

/** The defaults of a group for protecting new default branches. Omitted members follow the level in `default_branch_protection`. */
export const ProtectionDefaults = Type.Object(
  allOptional({
    allowed_to_push: Levels,
    allow_force_push: Type.Boolean(),
    allowed_to_merge: Levels,
    code_owner_approval_required: Type.Boolean(),
    developer_can_initial_push: Type.Boolean(),
  }),
);
type ProtectionDefaults = Static<typeof ProtectionDefaults>;

/** The protection of a new project's default branch. */
export type DefaultProtection = Required<Omit<ProtectionDefaults, 'code_owner_approval_required'>> &
  Pick<ProtectionDefaults, 'code_owner_approval_required'>;

/**
 * @param level 0 none, 1 against force pushes, 2 fully, 3 against pushes of developers, 4 fully after the first push
 * @param own the members that the group sets itself
 */
export function defaultProtection(level: number, own: ProtectionDefaults | null): DefaultProtection {
  const developersPush = level < 2;
  const developersMerge = level < 2 || level === 3;
  return {
    allowed_to_push: [{ access_level: developersPush ? levels.developer : levels.maintainer }],
    allow_force_push: level === 0 || level === 3,
    allowed_to_merge: [{ access_level: developersMerge ? levels.developer : levels.maintainer }],
    developer_can_initial_push: level === 4,
    ...own,
  };
}

const haveDevelopers = (allowed: DefaultProtection['allowed_to_push']): boolean =>
  allowed.some(({ access_level }) => access_level === levels.developer);

/** Whether it restricts developers at all, so that the default branch is protected. */
export const isProtecting = (given: DefaultProtection): boolean =>
  !given.allow_force_push ||
  !haveDevelopers(given.allowed_to_push) ||
  !haveDevelopers(given.allowed_to_merge) ||
  given.code_owner_approval_required === true;

/** The entries of a protection for one action. */
export const entriesFrom = (action: 'push' | 'merge', given: DefaultProtection): Entry[] => {
  const allowed = new Set(given[`allowed_to_${action}`].map(({ access_level }) => access_level));
  return [...allowed].map((access_level) => ({ action, access_level, user_id: null, group_id: null }));
};

/**
 * The protection of each branch, for one actor. If several protections of a project match a branch, the most permissive wins, and likewise for protections of the group; of the two
 * results, the stricter one wins.
 * @param rules the protections of the project and of its group
 * @param first the protection of the first branch of a project that has no branch yet; otherwise undefined
 */
export function protectionBy(
  rules: readonly ProtectionRule[],
  actor: Actor,
  first: DefaultProtection | undefined,
): (branch: string) => BranchProtection {
  const mayPushAnywhere = actor.access_level >= levels.developer;
  const isFirst = first !== undefined && !haveDevelopers(first.allowed_to_push);
  const mayBegin =
    isFirst &&
    (first.developer_can_initial_push ||
      entriesFrom('push', first).some((entry) => admits({ ...entry, is_member: false }, actor)));
  return (branch) => {
    const own = rules.filter(({ name }) => isAbout(name, branch));
    const owners = [...Map.groupBy(own, ({ group_id }) => group_id).values()];
    const is_protected = own.length > 0 || isFirst;
    const all = (wanted: (rule: ProtectionRule) => boolean) =>
      owners.length > 0 && owners.every((protections) => protections.some(wanted));
    const may = (action: ProtectedAction) =>
      all(({ entries }) => entries.some((entry) => entry.action === action && admits(entry, actor)));
    const developersCan = (action: ProtectedAction) =>
      all(({ entries }) => entries.some((entry) => entry.action === action && entry.access_level === levels.developer));
    return {
      is_protected,
      developers_can_push: developersCan('push'),
      developers_can_merge: developersCan('merge'),
      allows_force_push: !is_protected || all(({ allow_force_push }) => allow_force_push),
      may_push: mayPushAnywhere && (!is_protected || mayBegin || may('push')),
      may_merge: mayPushAnywhere && (!is_protected || may('merge')),
    };
  };
}
