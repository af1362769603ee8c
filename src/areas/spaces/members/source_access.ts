/** Access rules that grant a group or project as a source of members, so that both kinds share their endpoints. */
import {
  type Changing,
  type Eligibility,
  groupRole,
  projectRole,
  type Subtree,
  withChange,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Access, Caller } from '../../../http/index.ts';
import { unlessLocked } from './lock_checks.ts';
import { sourceOf } from './queries.ts';
import type { Actor, Source } from './rules.ts';

/** A source of members, and the caller. */
export interface Granted {
  caller: Caller;
  source: Source;
  /** The caller with their access level and permissions in the source. */
  actor: Actor;
}

/** The columns that name the source. */
export const asSubtree = ({ kind, id }: Source): Subtree => (kind === 'group' ? { group_id: id } : { project_id: id });

/** Signed-in callers who can see the source. */
export const everyone = { group: groupRole('guest'), project: projectRole('guest', { archived: true }) };
/** Callers who manage its members. */
export const managers = {
  group: groupRole('owner', { permission: 'admin_group_member' }),
  project: projectRole('maintainer', { archived: true }),
};

/** Callers who change memberships: only administrators while the memberships are locked. */
export const changers = { group: unlessLocked(managers.group), project: unlessLocked(managers.project) };

/**
 * Turns an access rule of groups or projects into one that grants a source of members. The actor's level and permissions may change until the tree is locked, so
 * only a change gets them.
 */
export const sourceFor = (
  kind: Source['kind'],
  who: typeof everyone,
): Access<Omit<Granted, 'actor'> & Changing<Granted>> =>
  withChange(grantedIn(kind, who), ({ source }) => asSubtree(source));

function grantedIn(kind: Source['kind'], who: typeof everyone): Access<Granted> {
  const [group, project] = [who.group, who.project];
  const granted = async (db: Database, caller: Caller, place: Subtree, { access_level, permissions }: Eligibility) => ({
    caller,
    source: await sourceOf(db, place),
    actor: { id: caller.id, access_level, permissions },
  });
  return kind === 'group'
    ? {
        ...group,
        check: async (call) => {
          const { caller, group: place } = await group.check(call);
          return granted(call.db, caller, { group_id: place.id }, place);
        },
      }
    : {
        ...project,
        check: async (call) => {
          const { caller, project: place } = await project.check(call);
          return granted(call.db, caller, { project_id: place.id }, place);
        },
      };
}
