/** What other areas may use of milestones. */
export { Milestone, type MilestoneRow, presentMilestone } from './present.ts';
export { milestoneFor, milestoneJson, milestoneOf, milestoneRows, milestonesById, milestoneTitled } from './queries.ts';
