/**
 * The sections of projects and groups with their pages, shown above each page (docs/reference/pages.md#groups-and-projects).
 */
import { inAddress } from '../../../foundation/addresses.ts';
import type { IconName, Operation, PageCall, Place, Section } from '../../../pages/index.ts';
import { countInWords, type SectionCounts, sectionCounts } from './count_queries.ts';
import { sectionPages } from './map_rules.ts';

interface PlacedPage {
  name: string;
  label: string;
  /** Its address below the project or group. */
  address: string;
  /** The operation that callers need to be allowed to run to see the page. */
  operation: Operation;
}

interface PlacedSection {
  label: string;
  icon: IconName;
  /** What is counted beside its name. */
  count?: keyof SectionCounts;
  /** The first page that the caller may see is the address of the section. */
  pages: readonly PlacedPage[];
  /** Whether its pages have a map of their own beside them, so that the section only leads to the first one. */
  has_map?: true;
}

const sections: Readonly<Record<Place['kind'], readonly PlacedSection[]>> = {
  project: [
    {
      label: 'Code',
      icon: 'code',
      pages: [
        { name: 'code', label: 'Files', address: '', operation: 'getProject' },
        { name: 'commits', label: 'Commits', address: '/-/commits', operation: 'listBranches' },
        { name: 'branches', label: 'Branches', address: '/-/branches', operation: 'listBranches' },
        { name: 'tags', label: 'Tags', address: '/-/tags', operation: 'listBranches' },
        { name: 'compare', label: 'Compare', address: '/-/compare', operation: 'listBranches' },
        { name: 'activity', label: 'Activity', address: '/-/activity', operation: 'listProjectEvents' },
        { name: 'snippets', label: 'Snippets', address: '/-/snippets', operation: 'listProjectSnippets' },
      ],
    },
    {
      label: 'Issues',
      icon: 'issue',
      count: 'issues',
      pages: [
        { name: 'issues', label: 'List', address: '/-/issues', operation: 'listProjectIssues' },
        { name: 'boards', label: 'Boards', address: '/-/boards', operation: 'listProjectBoards' },
        { name: 'milestones', label: 'Milestones', address: '/-/milestones', operation: 'listProjectMilestones' },
        { name: 'labels', label: 'Labels', address: '/-/labels', operation: 'listProjectLabels' },
      ],
    },
    {
      label: 'Merge requests',
      icon: 'merge_request',
      count: 'merge_requests',
      pages: [
        {
          name: 'merge_requests',
          label: 'List',
          address: '/-/merge_requests',
          operation: 'listProjectMergeRequests',
        },
      ],
    },
    {
      label: 'Build',
      icon: 'flow',
      pages: [
        { name: 'pipelines', label: 'Pipelines', address: '/-/pipelines', operation: 'listPipelines' },
        { name: 'jobs', label: 'Jobs', address: '/-/jobs', operation: 'listJobs' },
        {
          name: 'pipeline_schedules',
          label: 'Schedules',
          address: '/-/pipeline_schedules',
          operation: 'listPipelineSchedules',
        },
        {
          name: 'ci_lint',
          label: 'Configuration',
          address: '/-/ci/lint',
          operation: 'lintProjectCiConfiguration',
        },
        { name: 'environments', label: 'Environments', address: '/-/environments', operation: 'listEnvironments' },
        { name: 'releases', label: 'Releases', address: '/-/releases', operation: 'listReleases' },
        { name: 'feature_flags', label: 'Feature flags', address: '/-/feature_flags', operation: 'listFeatureFlags' },
      ],
    },
    {
      label: 'Errors',
      icon: 'bug',
      count: 'errors',
      pages: [
        { name: 'errors', label: 'Errors', address: '/-/error_tracking', operation: 'listErrors' },
        {
          name: 'error_releases',
          label: 'Releases',
          address: '/-/error_tracking/releases',
          operation: 'listErrorTrackingReleasesHealth',
        },
      ],
    },
    {
      label: 'Security',
      icon: 'shield',
      pages: [
        {
          name: 'vulnerabilities',
          label: 'Vulnerabilities',
          address: '/-/security/vulnerabilities',
          operation: 'listProjectVulnerabilities',
        },
        {
          name: 'dependencies',
          label: 'Dependencies',
          address: '/-/dependencies',
          operation: 'listProjectDependencies',
        },
        {
          name: 'compliance',
          label: 'Compliance',
          address: '/-/security/compliance',
          operation: 'getProjectComplianceStatus',
        },
      ],
    },
    {
      label: 'Wiki',
      icon: 'book',
      pages: [{ name: 'wikis', label: 'Wiki', address: '/-/wikis', operation: 'listProjectWikiPages' }],
    },
    {
      label: 'Members',
      icon: 'group',
      pages: [
        {
          name: 'members',
          label: 'Members',
          address: '/-/project_members',
          operation: 'listInvitedGroupsOfProject',
        },
      ],
    },
    { label: 'Settings', icon: 'gear', pages: sectionPages('project'), has_map: true },
  ],
  group: [
    {
      label: 'Projects',
      icon: 'folder',
      pages: [
        { name: 'group', label: 'Projects', address: '', operation: 'getGroup' },
        { name: 'releases', label: 'Releases', address: '/-/releases', operation: 'listGroupReleases' },
      ],
    },
    {
      label: 'Issues',
      icon: 'issue',
      pages: [
        { name: 'issues', label: 'List', address: '/-/issues', operation: 'listGroupIssues' },
        { name: 'boards', label: 'Boards', address: '/-/boards', operation: 'listGroupBoards' },
        { name: 'epics', label: 'Epics', address: '/-/epics', operation: 'listEpics' },
        { name: 'milestones', label: 'Milestones', address: '/-/milestones', operation: 'listGroupMilestones' },
        { name: 'iterations', label: 'Iterations', address: '/-/iterations', operation: 'listGroupIterations' },
        { name: 'labels', label: 'Labels', address: '/-/labels', operation: 'listGroupLabels' },
      ],
    },
    {
      label: 'Merge requests',
      icon: 'merge_request',
      pages: [
        {
          name: 'merge_requests',
          label: 'List',
          address: '/-/merge_requests',
          operation: 'listGroupMergeRequests',
        },
      ],
    },
    {
      label: 'Security',
      icon: 'shield',
      pages: [
        { name: 'dependencies', label: 'Dependencies', address: '/-/dependencies', operation: 'listGroupDependencies' },
        {
          name: 'compliance',
          label: 'Compliance',
          address: '/-/security/compliance',
          operation: 'listComplianceStatus',
        },
      ],
    },
    {
      label: 'Wiki',
      icon: 'book',
      pages: [{ name: 'wikis', label: 'Wiki', address: '/-/wikis', operation: 'listGroupWikiPages' }],
    },
    {
      label: 'Members',
      icon: 'group',
      pages: [
        { name: 'members', label: 'Members', address: '/-/group_members', operation: 'listInvitedGroupsOfGroup' },
      ],
    },
    { label: 'Settings', icon: 'gear', pages: sectionPages('group'), has_map: true },
  ],
};

/** The sections that have a page which the caller may open. */
export async function sectionsOf({ services: { db }, may }: PageCall, { id, kind }: Place): Promise<Section[]> {
  const counting = kind === 'project' ? sectionCounts(db, id) : undefined;
  const start = `${kind === 'group' ? '/groups' : ''}/${inAddress(id)}`;
  const asked = new Map<Operation, Promise<boolean>>();
  const isAllowed = (operation: Operation) => {
    const answer = asked.get(operation) ?? may(operation, { id });
    asked.set(operation, answer);
    return answer;
  };
  const shown = sections[kind].map(async ({ label, icon, count, pages, has_map }) => {
    const allowed = await Promise.all(pages.map(({ operation }) => isAllowed(operation)));
    const all = pages.filter((_, index) => allowed[index]);
    const open = has_map ? all.slice(0, 1) : all;
    const counts = await counting;
    return {
      label,
      icon,
      ...(count && counts ? { count: countInWords(counts[count]) } : {}),
      pages: open.map(({ name, label, address }) => ({ name, label, path: start + address })),
    };
  });
  return (await Promise.all(shown)).filter(({ pages }) => pages.length > 0);
}
