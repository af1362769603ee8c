/** Milestones in event lists. */
import { sql } from 'kysely';
import { isUsable } from '../../../access/index.ts';
import type { EventTarget } from '../../activity/events/index.ts';

export const eventMilestones: EventTarget = {
  types: ['Milestone'],
  isVisible: (caller) => sql`(${isUsable(caller, 'issues')} or ${isUsable(caller, 'merge_requests')})`,
  title: sql`(select milestones.title from milestones where milestones.id = events.target_id)`,
  number: sql`(select milestones.iid from milestones where milestones.id = events.target_id)`,
};
