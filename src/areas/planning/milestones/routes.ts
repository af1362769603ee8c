/** Milestones: sets of issues with a due date. Projects and groups have the same routes. */
import { Type } from 'typebox';
import { groupFor, levels, type PlanningParent, planningRole } from '../../../access/index.ts';
import {
  allOptional,
  atLeastOneOf,
  badRequest,
  capitalized,
  checkUnmodified,
  DateOnly,
  del,
  forbidden,
  get,
  Id,
  mutuallyExclusive,
  nothing,
  nullable,
  one,
  pageOf,
  post,
  put,
  withStatus,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { addMilestone, changeMilestone, ownerOf, promoteMilestone, removeMilestone } from './actions.ts';
import { matchingFilters, milestoneListInput, milestonesMatching } from './filters.ts';
import { Milestone, presentMilestone } from './present.ts';
import { milestoneOf, milestoneRows } from './queries.ts';

const fields = allOptional({
  description: nullable(Type.String()),
  due_date: nullable(DateOnly),
  start_date: nullable(DateOnly),
});

function routesOf(kind: PlanningParent['kind']) {
  const base = `/${kind}s/:id/milestones`;
  const single = `${base}/:milestone_id`;
  const Noun = capitalized(kind);
  const reader = planningRole(kind, 'guest');
  const planner = planningRole(kind, 'planner');
  return [
    get(base, {
      operation: `list${Noun}Milestones`,
      summary: `List the milestones of a ${kind}, earliest due date first`,
      access: reader,
      input: { ...paging, ...milestoneListInput[kind] },
      rules: [mutuallyExclusive('include_ancestors', 'include_parent_milestones')],
      returns: pageOf(Milestone),
      handle: async ({ db, url, caller, parent, input }) => {
        const query = [...milestonesMatching(caller, parent, input), ...matchingFilters(input)]
          .reduce((rows, predicate) => rows.where(predicate), milestoneRows(db))
          .orderBy('milestones.due_date', (order) => order.asc().nullsLast())
          .orderBy('milestones.id');
        const page = await paginate(db, query, input);
        return mapPage(page, (row) => presentMilestone(url, row));
      },
    }),
    get(single, {
      operation: `get${Noun}Milestone`,
      summary: 'Get a milestone',
      access: reader,
      input: { milestone_id: Id },
      returns: one(Milestone),
      handle: async ({ db, url, parent, input }) =>
        presentMilestone(url, await milestoneOf(db, ownerOf(parent), input.milestone_id)),
    }),
    post(base, {
      operation: `create${Noun}Milestone`,
      summary: `Create a ${kind} milestone`,
      access: planner,
      input: { title: Type.String(), ...fields },
      returns: one(Milestone),
      refusals: { 400: 'Failed to create milestone {<reasons by parameter>}' },
      handle: async ({ db, url, caller, parent, input }) => {
        const id = await db.transaction().execute((tx) => addMilestone(tx, parent, caller.id, input));
        return presentMilestone(url, await milestoneOf(db, ownerOf(parent), id));
      },
    }),
    put(single, {
      operation: `update${Noun}Milestone`,
      summary: 'Update a milestone',
      access: planner,
      input: {
        milestone_id: Id,
        ...fields,
        ...allOptional({ title: Type.String(), state_event: Type.Enum(['close', 'activate']) }),
      },
      rules: [atLeastOneOf('title', 'description', 'start_date', 'due_date', 'state_event')],
      returns: one(Milestone),
      refusals: { 400: 'Failed to update milestone {<reasons by parameter>}' },
      handle: async ({ db, url, caller, parent, input: { milestone_id, ...changes } }) => {
        await db.transaction().execute((tx) => changeMilestone(tx, parent, caller.id, milestone_id, changes));
        return presentMilestone(url, await milestoneOf(db, ownerOf(parent), milestone_id));
      },
    }),
    del(single, {
      operation: `delete${Noun}Milestone`,
      summary: 'Delete a milestone',
      access: planner,
      input: { milestone_id: Id },
      conditional: true,
      returns: nothing,
      handle: async ({ db, caller, parent, input, unmodified_since }) => {
        const { id, updated_at } = await milestoneOf(db, ownerOf(parent), input.milestone_id);
        checkUnmodified(updated_at, unmodified_since);
        await db.transaction().execute((tx) => removeMilestone(tx, parent, caller.id, id));
      },
    }),
  ];
}

const promotion = post('/projects/:id/milestones/:milestone_id/promote', {
  operation: 'promoteProjectMilestone',
  summary: 'Promote a milestone to a group milestone',
  access: planningRole('project', 'reporter'),
  input: { milestone_id: Id },
  returns: withStatus(200, one(Milestone)),
  refusals: { 400: 'Project does not belong to a group.' },
  handle: async ({ db, url, caller, parent, input: { milestone_id } }) => {
    const group = await groupFor(db, caller, String(parent.namespace_id));
    if (!group) throw badRequest('Project does not belong to a group.');
    if (group.access_level < levels.reporter) throw forbidden();
    const target: PlanningParent = { kind: 'group', id: group.id, name: group.name, namespace_id: group.id };
    const id = await db.transaction().execute((tx) => promoteMilestone(tx, parent.id, milestone_id, target));
    return presentMilestone(url, await milestoneOf(db, ownerOf(target), id));
  },
});

export const milestoneRoutes = [...routesOf('project'), ...routesOf('group'), promotion];
