/** The pages of users, groups and projects, and of their members. */
import { pagePath } from '../foundation/addresses.ts';

export const userPage = pagePath('/:username');
export const groupPage = pagePath('/groups/:group');
export const projectPage = pagePath('/:project');

export const groupMembersPage = pagePath('/groups/:group/-/group_members');
export const projectMembersPage = pagePath('/:project/-/project_members');
