/** Milestones: what is to be ready by a day. Projects and groups have them, with the same routes. */
import { Type } from 'typebox';
import { groupFor, levels, type PlanningPlace, planningRole } from '../../../access/index.ts';
import {
  allOptional,
  atLeastOneOf,
  badRequest,
  checkUnmodified,
  DateOnly,
  del,
  forbidden,
  get,
  Id,
  listOf,
  mutuallyExclusive,
  nothing,
  nullable,
  one,
  pageOf,
  pageOfArray,
  paginate,
  paging,
  post,
  put,
  withStatus,
} from '../../../http/index.ts';
import { addMilestone, changeMilestone, ownerOf, promoteMilestone, removeMilestone } from './actions.ts';
import { BurndownEvent, burndownEvents } from './burndown_queries.ts';
import { matchingFilters, milestoneListInput, milestonesMatching } from './filters.ts';
import { Milestone, presentMilestone } from './present.ts';
import { milestoneOf, milestoneRows } from './queries.ts';

const fields = allOptional({
  description: nullable(Type.String()),
  due_date: nullable(DateOnly),
  start_date: nullable(DateOnly),
});

function routesOf(kind: PlanningPlace['kind']) {
  const base = `/${kind}s/:id/milestones`;
  const single = `${base}/:milestone_id`;
  const reader = planningRole(kind, 'guest');
  const planner = planningRole(kind, 'planner');
  return [
    get(base, {
      summary: `List the milestones of a ${kind}, the most urgent first`,
      access: reader,
      input: { ...paging, ...milestoneListInput[kind] },
      rules: [mutuallyExclusive('include_ancestors', 'include_parent_milestones')],
      returns: pageOf(Milestone),
      handle: async ({ db, url, caller, place, input }) => {
        const query = [...milestonesMatching(caller, place, input), ...matchingFilters(input)]
          .reduce((rows, predicate) => rows.where(predicate), milestoneRows(db))
          .orderBy('milestones.due_date', (order) => order.asc().nullsLast())
          .orderBy('milestones.id');
        const page = await paginate(db, query, input);
        return { ...page, items: page.items.map((row) => presentMilestone(url, row)) };
      },
    }),
    get(single, {
      summary: 'Show one milestone',
      access: reader,
      input: { milestone_id: Id },
      returns: one(Milestone),
      handle: async ({ db, url, place, input }) =>
        presentMilestone(url, await milestoneOf(db, ownerOf(place), input.milestone_id)),
    }),
    post(base, {
      summary: `Add a milestone to a ${kind}`,
      access: planner,
      input: { title: Type.String(), ...fields },
      returns: one(Milestone),
      handle: async ({ db, url, caller, place, input }) => {
        const id = await db.transaction().execute((tx) => addMilestone(tx, place, caller.id, input));
        return presentMilestone(url, await milestoneOf(db, ownerOf(place), id));
      },
    }),
    put(single, {
      summary: 'Change a milestone, close it or open it again',
      access: planner,
      input: {
        milestone_id: Id,
        ...fields,
        ...allOptional({ title: Type.String(), state_event: Type.Enum(['close', 'activate']) }),
      },
      rules: [atLeastOneOf('title', 'description', 'start_date', 'due_date', 'state_event')],
      returns: one(Milestone),
      handle: async ({ db, url, caller, place, input: { milestone_id, ...changes } }) => {
        await db.transaction().execute((tx) => changeMilestone(tx, place, caller.id, milestone_id, changes));
        return presentMilestone(url, await milestoneOf(db, ownerOf(place), milestone_id));
      },
    }),
    del(single, {
      summary: 'Remove a milestone; its issues have none afterwards',
      access: planner,
      input: { milestone_id: Id },
      returns: nothing,
      handle: async ({ db, caller, place, input, unmodified_since }) => {
        const { id, updated_at } = await milestoneOf(db, ownerOf(place), input.milestone_id);
        checkUnmodified(updated_at, unmodified_since);
        await db.transaction().execute((tx) => removeMilestone(tx, place, caller.id, id));
      },
    }),
    get(`${single}/merge_requests`, {
      summary: 'List the merge requests of a milestone',
      access: reader,
      input: { ...paging, milestone_id: Id },
      returns: pageOf(Type.Object({})),
      handle: async ({ db, place, input }) => {
        await milestoneOf(db, ownerOf(place), input.milestone_id);
        return pageOfArray([], input);
      },
    }),
    get(`${single}/burndown_events`, {
      summary: 'List when the issues of a milestone were opened, closed and opened again',
      access: reader,
      plan: 'premium',
      input: { milestone_id: Id },
      returns: listOf(BurndownEvent),
      handle: async ({ db, caller, place, input }) =>
        burndownEvents(db, caller, await milestoneOf(db, ownerOf(place), input.milestone_id)),
    }),
  ];
}

const promotion = post('/projects/:id/milestones/:milestone_id/promote', {
  summary: "Make a milestone of a project one of its group, together with those of the same title in the group's other projects",
  access: planningRole('project', 'reporter'),
  input: { milestone_id: Id },
  returns: withStatus(200, nothing),
  handle: async ({ db, caller, place, input: { milestone_id } }) => {
    const group = await groupFor(db, caller, String(place.namespace_id));
    if (!group) throw badRequest('Project does not belong to a group.');
    if (group.access_level < levels.reporter) throw forbidden();
    const target: PlanningPlace = { kind: 'group', id: group.id, name: group.name, namespace_id: group.id };
    await db.transaction().execute((tx) => promoteMilestone(tx, place.id, milestone_id, target));
  },
});

export const milestoneRoutes = [...routesOf('project'), ...routesOf('group'), promotion];
