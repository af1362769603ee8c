/** What a protection of branches means: which branches it is about, and who may do what to them. Pure functions. */
import { levels } from '../../../access/index.ts';

/** The levels that an entry can name besides those of members. */
const nobody = 0;
const administrators = 60;

export type ProtectedAction = 'push' | 'merge' | 'unprotect';

/** Who may do something: everybody from a level on, one user, or the members of a group. Exactly one is not null. */
export interface Entry {
  action: ProtectedAction;
  access_level: number | null;
  user_id: number | null;
  group_id: number | null;
}

/** An entry, and whether whoever acts is a member of its group. */
export interface KnownEntry extends Entry {
  is_member: boolean;
}

/** One protection with everything that is to be known of it to decide what somebody may do. */
export interface ProtectionRule {
  name: string;
  allow_force_push: boolean;
  entries: readonly KnownEntry[];
}

/** Whoever acts: undefined without a token; with the level in the project, which is 50 for administrators. */
export interface Actor {
  caller: { id: number; admin: boolean } | undefined;
  access_level: number;
}

/** What holds for one branch, and for whoever acts on it. */
export interface BranchProtection {
  is_protected: boolean;
  developers_can_push: boolean;
  developers_can_merge: boolean;
  allows_force_push: boolean;
  may_push: boolean;
  may_merge: boolean;
}

/**
 * Whether a protection is about a branch: `*` stands for any characters, also none and slashes.
 * Pieces between the stars are looked for one after the other, because a regular expression takes exponential time for some names.
 */
export function isAbout(name: string, branch: string): boolean {
  const [start = '', ...pieces] = name.split('*');
  if (pieces.length === 0) return name === branch;
  const end = pieces.pop()!;
  if (!branch.startsWith(start) || branch.length < start.length + end.length || !branch.endsWith(end)) return false;
  const middle = branch.slice(start.length, branch.length - end.length);
  let at = 0;
  for (const piece of pieces) {
    const found = middle.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return true;
}

/** Whether an entry lets somebody act. A user or a member of a group still needs the level from which one may push at all. */
function admits(entry: KnownEntry, { caller, access_level }: Actor): boolean {
  if (!caller || entry.access_level === nobody) return false;
  if (entry.access_level === administrators) return caller.admin;
  if (entry.access_level !== null) return access_level >= entry.access_level;
  return access_level >= levels.developer && (entry.user_id === caller.id || entry.is_member);
}

/** Whether somebody who may manage the project may also change or end a protection; without entries nobody is kept from it. */
export function mayUnprotect(entries: readonly KnownEntry[], actor: Actor): boolean {
  const own = entries.filter(({ action }) => action === 'unprotect');
  return own.length === 0 || own.some((entry) => admits(entry, actor));
}

/** What `default_branch_protection` says of the default branch of new projects, spelled out. */
export interface DefaultProtection {
  allowed_to_push: { access_level: number }[];
  allow_force_push: boolean;
  allowed_to_merge: { access_level: number }[];
  developer_can_initial_push: boolean;
}

/** @param level 0 none, 1 against force pushes, 2 fully, 3 against pushes of developers, 4 fully after the first push */
export function defaultProtection(level: number): DefaultProtection {
  const developersPush = level < 2;
  const developersMerge = level < 2 || level === 3;
  return {
    allowed_to_push: [{ access_level: developersPush ? levels.developer : levels.maintainer }],
    allow_force_push: level === 0 || level === 3,
    allowed_to_merge: [{ access_level: developersMerge ? levels.developer : levels.maintainer }],
    developer_can_initial_push: level === 4,
  };
}

/** Whether developers may make the first branch of a repository, which is protected by this level as soon as it is there. */
const mayPushFirst = (level: number): boolean => level < 2 || level === 4;

/**
 * What holds for branches, and for whoever acts on them. Of several protections that are about a branch the most generous decides.
 * @param rules the protections of the project
 * @param first_level of a project without any branch, the level that will protect its first one; otherwise undefined
 */
export function protectionBy(
  rules: readonly ProtectionRule[],
  actor: Actor,
  first_level: number | undefined,
): (branch: string) => BranchProtection {
  const mayPushAnywhere = actor.access_level >= levels.developer;
  const isFirst = first_level !== undefined && first_level > 1;
  const mayBegin = isFirst && actor.access_level >= (mayPushFirst(first_level) ? levels.developer : levels.maintainer);
  return (branch) => {
    const own = rules.filter(({ name }) => isAbout(name, branch));
    const entries = own.flatMap((rule) => rule.entries);
    const is_protected = own.length > 0 || isFirst;
    const may = (action: ProtectedAction) => entries.some((entry) => entry.action === action && admits(entry, actor));
    const developersCan = (action: ProtectedAction) =>
      entries.some((entry) => entry.action === action && entry.access_level === levels.developer);
    return {
      is_protected,
      developers_can_push: developersCan('push'),
      developers_can_merge: developersCan('merge'),
      allows_force_push: !is_protected || own.some(({ allow_force_push }) => allow_force_push),
      may_push: mayPushAnywhere && (!is_protected || mayBegin || may('push')),
      may_merge: mayPushAnywhere && (!is_protected || may('merge')),
    };
  };
}
