/** Access to the wikis of projects and groups (docs/reference/wikis.md#permissions). */
import type { Kysely } from 'kysely';
import type { DB } from '../db/index.ts';
import type { Access, Caller } from '../http/endpoint.ts';
import { forbidden } from '../http/errors.ts';
import { idIn } from '../http/ids.ts';
import {
  type Group,
  groupFor,
  groupRole,
  groupVisible,
  mayReadGroup,
  movedGroup,
  reasonForReadOnlyGroup,
  refuseReadOnlyGroup,
} from './groups.ts';
import type { MaybeCaller } from './instance.ts';
import { levels } from './levels.ts';
import type { Owner } from './owners.ts';
import {
  mayRead,
  mayUse,
  movedProject,
  type Project,
  projectFor,
  projectRole,
  projectVisible,
  reasonForReadOnly,
} from './projects.ts';

/** A project or group that has a wiki, or whose wiki is created with the first page. */
export interface WikiPlace extends Owner {
  full_path: string;
}

const ofProject = ({ id, full_path }: Project): WikiPlace => ({ project_id: id, group_id: null, full_path });
const ofGroup = ({ id, full_path }: Group): WikiPlace => ({ project_id: null, group_id: id, full_path });

/** Whether a caller who can see a project or group may read its wiki. Callers who see a private group only because of an object in it may not. */
const mayReadWiki = (place: Pick<Project, 'visibility' | 'access_level' | 'wiki_access_level'>): boolean =>
  mayUse(place, 'wiki') && (place.visibility !== 'private' || place.access_level >= levels.guest);

/** Grants a wiki to everyone who may read it, signed in or not. */
export const wikiReader = (kind: 'project' | 'group'): Access<{ caller: MaybeCaller; place: WikiPlace }> => ({
  rule: `${kind}:read_wiki`,
  anonymous: true,
  async check(call) {
    if (kind === 'project') {
      const { caller, project } = await projectVisible.check(call);
      if (!mayReadWiki(project)) throw forbidden();
      return { caller, place: ofProject(project) };
    }
    const { caller, group } = await groupVisible.check(call);
    if (!mayReadWiki(group)) throw forbidden();
    return { caller, place: ofGroup(group) };
  },
});

/** Grants a wiki to members of its project or group from `role` on, for changes. */
export function wikiRole(
  kind: 'project' | 'group',
  role: 'developer' | 'maintainer',
): Access<{ caller: Caller; place: WikiPlace }> {
  if (kind === 'project') {
    const rule = projectRole(role, { feature: 'wiki' });
    return {
      ...rule,
      async check(call) {
        const { caller, project } = await rule.check(call);
        return { caller, place: ofProject(project) };
      },
    };
  }
  const rule = groupRole(role);
  return {
    ...rule,
    async check(call) {
      const { caller, group } = await rule.check(call);
      if (!mayUse(group, 'wiki')) throw forbidden();
      refuseReadOnlyGroup(group);
      return { caller, place: ofGroup(group) };
    },
  };
}

/** The rights of a git client in the wiki of a project or group that it can see. */
export interface WikiRights {
  place: WikiPlace;
  may_read: boolean;
  may_write: boolean;
  /** The reason why the wiki accepts no changes, as a sentence. */
  read_only: string | undefined;
}

const rightsIn = (place: Project | Group) => ({
  may_read: mayReadWiki(place),
  may_write: mayReadWiki(place) && place.access_level >= levels.developer,
});

const rightsInProject = (project: Project): WikiRights => ({
  ...rightsIn(project),
  place: ofProject(project),
  read_only: project.read_only ? reasonForReadOnly(project) : undefined,
});

const rightsInGroup = (group: Group): WikiRights => ({
  ...rightsIn(group),
  place: ofGroup(group),
  read_only: reasonForReadOnlyGroup(group),
});

/**
 * The rights in the wiki of a project or group.
 * @param named an ID or a full path
 * @returns undefined when there is no such project or group, or the caller cannot see it
 */
async function rightsAt(
  db: Kysely<DB>,
  caller: MaybeCaller,
  named: { project?: string; group?: string },
): Promise<WikiRights | undefined> {
  const project = named.project === undefined ? undefined : await projectFor(db, caller, named.project);
  if (project) return mayRead(caller, project) ? rightsInProject(project) : undefined;
  const group = named.group === undefined ? undefined : await groupFor(db, caller, named.group);
  return group && (await mayReadGroup(db, caller, group)) ? rightsInGroup(group) : undefined;
}

/** The rights that a caller has now in a wiki that was granted before; undefined as `wikiAt`. */
export const wikiRights = (
  db: Kysely<DB>,
  caller: MaybeCaller,
  { project_id, group_id }: Owner,
): Promise<WikiRights | undefined> =>
  rightsAt(db, caller, project_id === null ? { group: String(group_id) } : { project: String(project_id) });

/**
 * The wiki of the project or group with a full path, or of one that had it before.
 * @returns undefined when there is no such project or group, or the caller cannot see it
 */
export async function wikiAt(
  db: Kysely<DB>,
  caller: MaybeCaller,
  path: string,
): Promise<(WikiRights & { has_moved: boolean }) | undefined> {
  // The name would be read as an ID.
  if (idIn(path) !== undefined) return undefined;
  const here = await rightsAt(db, caller, { project: path, group: path });
  if (here) return { ...here, has_moved: false };
  const project = await movedProject(db, caller, path);
  if (project) return { ...rightsInProject(project), has_moved: true };
  const group = await movedGroup(db, caller, path);
  return group && { ...rightsInGroup(group), has_moved: true };
}
