/** What leaves with projects and groups, and arrives with them, in the order of docs/reference/relations_export.md. */
import { epicKind, issueKind } from '../../access/index.ts';
import { type ExportedRelation, leaving, type Relation } from '../../relations/index.ts';
import { commitStatusPipelines } from '../code/commit_statuses/index.ts';
import { protectedBranches } from '../code/protected_branches/index.ts';
import { protectedTags } from '../code/protected_tags/index.ts';
import { pushRules } from '../code/push_rules/index.ts';
import { freezePeriods } from '../deployments/freeze_periods/index.ts';
import { iterationCadences } from '../planning/iterations/index.ts';
import { groupLabels, projectLabels } from '../planning/labels/index.ts';
import { milestones } from '../planning/milestones/index.ts';
import { epics } from '../work/epics/index.ts';
import { linksOf } from '../work/issuables/index.ts';
import { issues } from '../work/issues/index.ts';
import { approvalRules, mergeRequests } from '../work/merge_requests/index.ts';

/** The described relations of projects. */
export const projectTrees: readonly Relation[] = [
  projectLabels,
  milestones,
  issues,
  mergeRequests,
  protectedBranches,
  protectedTags,
  pushRules,
  approvalRules,
  commitStatusPipelines,
  freezePeriods,
  linksOf(issueKind, 'issue_links'),
];

/** The described relations of groups. */
export const groupTrees: readonly Relation[] = [
  groupLabels,
  milestones,
  epics,
  iterationCadences,
  pushRules,
  { ...linksOf(epicKind, 'epic_links'), plan: 'premium' },
];

/** The relations of projects that are lines of JSON. */
export const projectRelations: readonly ExportedRelation[] = projectTrees.map(leaving);

/** The relations of groups that are lines of JSON. */
export const groupRelations: readonly ExportedRelation[] = groupTrees.map(leaving);
