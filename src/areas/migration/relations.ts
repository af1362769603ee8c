/**
 * The relations that are exported and imported with projects and groups, in the order of
 * docs/reference/relations_export.md.
 */
import { epicKind, issueKind, snippetKind } from '../../access/index.ts';
import { type ExportedRelation, leaving, leavingSelf, parts, type Relation } from '../../relations/index.ts';
import { commitStatusPipelines } from '../code/commit_statuses/index.ts';
import { complianceFrameworks, projectFrameworks } from '../code/compliance_frameworks/index.ts';
import { protectedBranches } from '../code/protected_branches/index.ts';
import { protectedTags } from '../code/protected_tags/index.ts';
import { pushRules } from '../code/push_rules/index.ts';
import { snippetsWith } from '../code/snippets/index.ts';
import { awardsOf, notesWithAwards } from '../conversation/award_emoji/index.ts';
import { commitNotes } from '../conversation/commit_comments/index.ts';
import { deployments, environments } from '../deployments/environments/index.ts';
import { featureFlags, featureFlagUserLists } from '../deployments/feature_flags/index.ts';
import { freezePeriods } from '../deployments/freeze_periods/index.ts';
import { protectedEnvironments } from '../deployments/protected_environments/index.ts';
import { customAttributes } from '../people/custom_attributes/index.ts';
import { iterationCadences } from '../planning/iterations/index.ts';
import { groupLabels, projectLabels } from '../planning/labels/index.ts';
import { milestones } from '../planning/milestones/index.ts';
import { groupBadges, projectBadges } from '../spaces/badges/index.ts';
import { groupLinks } from '../spaces/group_links/index.ts';
import { groupSelf, namespaceSettings } from '../spaces/groups/index.ts';
import { projectFeatures, projectSelf } from '../spaces/projects/index.ts';
import { boards } from '../work/boards/index.ts';
import { epics } from '../work/epics/index.ts';
import { linksOf } from '../work/issuables/index.ts';
import { issues } from '../work/issues/index.ts';
import {
  approvalRules,
  groupApprovalSettings,
  mergeRequestBlocks,
  mergeRequests,
} from '../work/merge_requests/index.ts';
import { releases } from '../work/releases/index.ts';
import { contributionsTo } from './contribution_relation.ts';
import { leftInGroup, leftInProject } from './left_relation.ts';

const snippets = snippetsWith({
  award_emoji: parts(awardsOf(snippetKind), 'snippet_id'),
  notes: parts(notesWithAwards(snippetKind), 'snippet_id'),
});

/** The relations imported into projects as lines of JSON. */
export const projectTrees: readonly Relation[] = [
  projectLabels,
  milestones,
  issues,
  mergeRequests,
  snippets,
  commitNotes,
  protectedBranches,
  protectedTags,
  pushRules,
  approvalRules,
  commitStatusPipelines,
  freezePeriods,
  featureFlagUserLists,
  featureFlags,
  projectBadges,
  releases,
  boards,
  groupLinks,
  environments,
  protectedEnvironments,
  deployments,
  customAttributes,
  projectFrameworks,
  linksOf(issueKind, 'issue_links'),
  mergeRequestBlocks,
];

/** The relations imported into groups as lines of JSON. */
export const groupTrees: readonly Relation[] = [
  groupLabels,
  milestones,
  epics,
  iterationCadences,
  boards,
  pushRules,
  groupLinks,
  groupBadges,
  protectedBranches,
  protectedEnvironments,
  groupApprovalSettings,
  customAttributes,
  complianceFrameworks,
  { ...linksOf(epicKind, 'epic_links'), plan: 'premium' },
];

/** The relations of projects that are lines of JSON. */
export const projectRelations: readonly ExportedRelation[] = [
  leavingSelf(projectSelf),
  ...[contributionsTo(projectTrees), ...projectTrees, projectFeatures, leftInProject].map(leaving),
];

/** The relations of groups that are lines of JSON. */
export const groupRelations: readonly ExportedRelation[] = [
  leavingSelf(groupSelf),
  ...[contributionsTo(groupTrees), ...groupTrees, namespaceSettings, leftInGroup].map(leaving),
];
