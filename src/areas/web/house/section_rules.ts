/**
 * The sections of projects and groups, shown as tabs above their pages (docs/reference/pages.md#groups-and-projects).
 */
import { inAddress } from '../../../foundation/addresses.ts';
import type { Operation, PageCall, Place, Tab } from '../../../pages/index.ts';

interface Section {
  name: string;
  label: string;
  /** Its address, with `:place` for the project or group. */
  address: string;
  /** The operation that callers need to be allowed to run to see the section. */
  operation: Operation;
}

const sections: Readonly<Record<Place['kind'], readonly Section[]>> = {
  project: [
    { name: 'code', label: 'Code', address: '/:place', operation: 'getProject' },
    { name: 'commits', label: 'Commits', address: '/:place/-/commits', operation: 'listCommits' },
    { name: 'branches', label: 'Branches', address: '/:place/-/branches', operation: 'listBranches' },
    { name: 'tags', label: 'Tags', address: '/:place/-/tags', operation: 'listTags' },
    { name: 'issues', label: 'Issues', address: '/:place/-/issues', operation: 'listProjectIssues' },
    { name: 'boards', label: 'Boards', address: '/:place/-/boards', operation: 'listProjectBoards' },
    {
      name: 'merge_requests',
      label: 'Merge requests',
      address: '/:place/-/merge_requests',
      operation: 'listProjectMergeRequests',
    },
    { name: 'pipelines', label: 'Pipelines', address: '/:place/-/pipelines', operation: 'listPipelines' },
    { name: 'releases', label: 'Releases', address: '/:place/-/releases', operation: 'listReleases' },
    { name: 'environments', label: 'Environments', address: '/:place/-/environments', operation: 'listEnvironments' },
    { name: 'feature_flags', label: 'Flags', address: '/:place/-/feature_flags', operation: 'listFeatureFlags' },
    { name: 'wikis', label: 'Wiki', address: '/:place/-/wikis', operation: 'listProjectWikiPages' },
    {
      name: 'members',
      label: 'Members',
      address: '/:place/-/project_members',
      operation: 'listInvitedGroupsOfProject',
    },
  ],
  group: [
    { name: 'group', label: 'Projects', address: '/groups/:place', operation: 'getGroup' },
    { name: 'epics', label: 'Epics', address: '/groups/:place/-/epics', operation: 'listEpics' },
    { name: 'boards', label: 'Boards', address: '/groups/:place/-/boards', operation: 'listGroupBoards' },
    { name: 'wikis', label: 'Wiki', address: '/groups/:place/-/wikis', operation: 'listGroupWikiPages' },
    {
      name: 'members',
      label: 'Members',
      address: '/groups/:place/-/group_members',
      operation: 'listInvitedGroupsOfGroup',
    },
  ],
};

/** The tabs that the caller may open. */
export async function tabsOf({ may }: PageCall, { id, kind }: Place): Promise<Tab[]> {
  const shown = sections[kind].map(async ({ name, label, address, operation }) =>
    (await may(operation, { id })) ? [{ name, label, path: address.replace(':place', inAddress(id)) }] : [],
  );
  return (await Promise.all(shown)).flat();
}
