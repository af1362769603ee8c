/** The rights to upload, download and manage the files of a project or group. */
import {
  type Group,
  groupRole,
  groupVisible,
  levels,
  type MaybeCaller,
  type Owner,
  projectRole,
  projectVisible,
  refuseReadOnlyGroup,
} from '../../../access/index.ts';
import { type Access, type Caller, forbidden, isReading } from '../../../http/index.ts';
import type { UploadOwner } from './rules.ts';

export const ofProject = ({ id }: { id: number }): Owner => ({ project_id: id, group_id: null });
export const ofGroup = ({ id }: { id: number }): Owner => ({ project_id: null, group_id: id });

/** Whether a caller who can see a group may read its uploads: in a private group, members from Guest up. */
export const mayReadGroupUploads = ({
  visibility,
  access_level,
}: Pick<Group, 'visibility' | 'access_level'>): boolean => visibility !== 'private' || access_level >= levels.guest;

/**
 * Grants a project or group to members from `role` up; `guest` grants it to every signed-in caller who may read its
 * uploads.
 */
export function uploadRole(place: UploadOwner, role: 'guest' | 'maintainer'): Access<{ caller: Caller; owner: Owner }> {
  if (place === 'project') {
    const rule = projectRole(role);
    return {
      ...rule,
      check: async (call) => {
        const { caller, project } = await rule.check(call);
        return { caller, owner: ofProject(project) };
      },
    };
  }
  const rule = groupRole(role);
  return {
    ...rule,
    check: async (call) => {
      const { caller, group } = await rule.check(call);
      if (!mayReadGroupUploads(group)) throw forbidden();
      if (!isReading(call.method)) refuseReadOnlyGroup(group);
      return { caller, owner: ofGroup(group) };
    },
  };
}

/** Grants a project or group to everyone who may read its uploads, signed in or not. */
export function uploadReader(place: UploadOwner): Access<{ caller: MaybeCaller; owner: Owner }> {
  if (place === 'project')
    return {
      ...projectVisible,
      check: async (call) => {
        const { caller, project } = await projectVisible.check(call);
        return { caller, owner: ofProject(project) };
      },
    };
  return {
    rule: 'group:read_uploads',
    anonymous: true,
    check: async (call) => {
      const { caller, group } = await groupVisible.check(call);
      if (!mayReadGroupUploads(group)) throw forbidden();
      return { caller, owner: ofGroup(group) };
    },
  };
}
