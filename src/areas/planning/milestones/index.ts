/** The interface of milestones to other districts. */
export { eventMilestones } from './event_queries.ts';
export { milestoneEvent, sampleMilestone } from './hook_actions.ts';
export { Milestone, type MilestoneRow, presentMilestone } from './present.ts';
export {
  isMilestoneFor,
  milestoneFor,
  milestoneJson,
  milestoneOf,
  milestoneRows,
  milestonesById,
  milestoneTitled,
} from './queries.ts';
export { milestoneReference, milestones } from './relation.ts';
