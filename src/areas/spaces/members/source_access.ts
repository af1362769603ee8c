/** Access rules that grant a group or a project as a source of members, so that both kinds have the same endpoints. */
import { groupRole, projectRole, type Standing, type Subtree } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Access, Caller } from '../../../http/index.ts';
import { sourceOf } from './queries.ts';
import type { Actor, Source } from './rules.ts';

/** A group or project as a source of members, and who asks for it. */
export interface Granted {
  caller: Caller;
  source: Source;
  /** The caller with what he may do in the source. */
  actor: Actor;
}

/** The source as columns name it. */
export const placeOf = ({ kind, id }: Source): Subtree => (kind === 'group' ? { group_id: id } : { project_id: id });

/** Everybody signed in who may know of it. */
export const everyone = { group: groupRole('guest'), project: projectRole('guest', { archived: true }) };
/** Those who decide about its members. */
export const managers = {
  group: groupRole('owner', { permission: 'admin_group_member' }),
  project: projectRole('maintainer', { archived: true }),
};

/** An access rule of groups or projects, which grants them as a source of members. */
export function sourceFor(kind: Source['kind'], who: typeof everyone): Access<Granted> {
  const [group, project] = [who.group, who.project];
  const granted = async (db: Database, caller: Caller, place: Subtree, { access_level, permissions }: Standing) => ({
    caller,
    source: await sourceOf(db, place),
    actor: { id: caller.id, access_level, permissions },
  });
  return kind === 'group'
    ? {
        rule: group.rule,
        check: async (call) => {
          const { caller, group: place } = await group.check(call);
          return granted(call.db, caller, { group_id: place.id }, place);
        },
      }
    : {
        rule: project.rule,
        check: async (call) => {
          const { caller, project: place } = await project.check(call);
          return granted(call.db, caller, { project_id: place.id }, place);
        },
      };
}
