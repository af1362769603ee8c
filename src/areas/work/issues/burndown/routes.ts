/** The burndown charts of milestones. */
import { planningRole } from '../../../../access/index.ts';
import { capitalized, get, Id, listOf } from '../../../../http/index.ts';
import { milestoneOf } from '../../../planning/milestones/index.ts';
import { BurndownEvent, burndownEvents } from './queries.ts';

const routeOf = (kind: 'project' | 'group') =>
  get(`/${kind}s/:id/milestones/:milestone_id/burndown_events`, {
    operation: `list${capitalized(kind)}MilestoneBurndownEvents`,
    summary: 'List the burndown events of a milestone',
    access: planningRole(kind, 'guest'),
    plan: 'premium',
    input: { milestone_id: Id },
    returns: listOf(BurndownEvent),
    handle: async ({ db, caller, parent, input }) => {
      const owner = kind === 'project' ? { project_id: parent.id } : { group_id: parent.id };
      return burndownEvents(db, caller, await milestoneOf(db, owner, input.milestone_id));
    },
  });

export const burndownRoutes = [routeOf('project'), routeOf('group')];
