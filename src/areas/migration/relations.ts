/** What leaves with projects and groups, and arrives with them, in the order of docs/reference/relations_export.md. */
import type { Relation } from '../../relations/index.ts';
import { iterationCadences } from '../planning/iterations/index.ts';
import { groupLabels, projectLabels } from '../planning/labels/index.ts';
import { milestones } from '../planning/milestones/index.ts';
import { epics } from '../work/epics/index.ts';
import { issues } from '../work/issues/index.ts';

/** The described relations of projects. */
export const projectTrees: readonly Relation[] = [projectLabels, milestones, issues];

/** The described relations of groups. */
export const groupTrees: readonly Relation[] = [groupLabels, milestones, epics, iterationCadences];
