/** The addresses of users, groups, projects and jobs, of their members and of their uploads. */
import { pagePath } from '../foundation/addresses.ts';

export const userPage = pagePath('/:username');
export const jobPage = pagePath('/:project/-/jobs/:job_id');
export const groupPage = pagePath('/groups/:group');
export const projectPage = pagePath('/:project');

export const groupMembersPage = pagePath('/groups/:group/-/group_members');
export const projectMembersPage = pagePath('/:project/-/project_members');

/** Any page of a project or group, by what is behind `/-/`. */
export const pageBelow = {
  project: pagePath('/:project/-/:rest'),
  group: pagePath('/groups/:group/-/:rest'),
} as const;

/** The page that asks people whether work from other servers is theirs. */
export const proposalsPage = '/-/user_settings/placeholder_proposals';

/** The address of the uploads of a project or group; their secret and name follow. The id may be a parameter of a route. */
export const uploadsPath = (place: 'project' | 'group', id: number | string): string => `/-/${place}/${id}/uploads`;
