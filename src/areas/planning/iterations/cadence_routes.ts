/**
 * Cadences: the schedule of a group's iterations. These endpoints are an addition to API v4
 * (docs/decisions/0014-iteration-cadences-have-endpoints.md).
 */
import { Type } from 'typebox';
import { groupRole, planningRole } from '../../../access/index.ts';
import { columnsOf, type Database } from '../../../db/index.ts';
import {
  allOptional,
  atLeastOneOf,
  checkUnmodified,
  DateOnly,
  del,
  deleteFound,
  found,
  get,
  Id,
  nothing,
  nullable,
  one,
  optional,
  pageOf,
  post,
  put,
} from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { addCadence, addIteration, changeCadence, missing } from './actions.ts';
import { Iteration, IterationCadence, presentIteration } from './present.ts';
import { iterationRows } from './queries.ts';

const changes = allOptional({
  title: Type.String(),
  description: nullable(Type.String()),
  active: Type.Boolean(),
  automatic: Type.Boolean(),
  start_date: nullable(DateOnly),
  duration_in_weeks: nullable(Type.Integer({ minimum: 1, maximum: 4 })),
  iterations_in_advance: nullable(Type.Integer({ minimum: 1, maximum: 10 })),
  roll_over: Type.Boolean(),
});

const cadencesOf = (db: Database, group_id: number) =>
  db.selectFrom('iteration_cadences').select(columnsOf(IterationCadence)).where('group_id', '=', group_id);

/** @throws ApiError 404 */
const cadenceOf = async (db: Database, group_id: number, id: number) =>
  found(missing, await cadencesOf(db, group_id).where('id', '=', id).executeTakeFirst());

const list = '/groups/:id/iteration_cadences';
const single = `${list}/:cadence_id`;
const reader = groupRole('guest');
// Unlike `groupRole`, it refuses changes in archived groups and those marked for deletion.
const planner = planningRole('group', 'planner');
const plan = 'premium';

export const iterationCadenceRoutes = [
  get(list, {
    operation: 'listIterationCadences',
    summary: 'List the iteration cadences of a group, oldest first',
    access: reader,
    plan,
    input: paging,
    returns: pageOf(IterationCadence),
    handle: ({ db, group, input }) => paginate(db, cadencesOf(db, group.id).orderBy('id'), input),
  }),
  get(single, {
    operation: 'getIterationCadence',
    summary: 'Get an iteration cadence',
    access: reader,
    plan,
    input: { cadence_id: Id },
    returns: one(IterationCadence),
    refusals: { 404: '404 Iteration Cadence Not Found' },
    handle: ({ db, group, input }) => cadenceOf(db, group.id, input.cadence_id),
  }),
  post(list, {
    operation: 'createIterationCadence',
    summary: 'Create an iteration cadence',
    access: planner,
    plan,
    input: { ...changes, title: Type.String() },
    returns: one(IterationCadence),
    refusals: { 400: '<parameter>: <reason>' },
    handle: async ({ db, parent, input }) => {
      const id = await db.transaction().execute((tx) => addCadence(tx, parent.id, input));
      return cadenceOf(db, parent.id, id);
    },
  }),
  put(single, {
    operation: 'updateIterationCadence',
    summary: 'Update an iteration cadence and its upcoming iterations',
    access: planner,
    plan,
    input: { cadence_id: Id, ...changes },
    rules: [atLeastOneOf(...Object.keys(changes))],
    returns: one(IterationCadence),
    refusals: { 400: '<parameter>: <reason>', 404: '404 Iteration Cadence Not Found' },
    handle: async ({ db, parent, input: { cadence_id, ...changed } }) => {
      await db.transaction().execute((tx) => changeCadence(tx, parent.id, cadence_id, changed));
      return cadenceOf(db, parent.id, cadence_id);
    },
  }),
  del(single, {
    operation: 'deleteIterationCadence',
    summary: 'Delete an iteration cadence and its iterations',
    access: planner,
    plan,
    input: { cadence_id: Id },
    conditional: true,
    returns: nothing,
    refusals: { 404: '404 Iteration Cadence Not Found' },
    handle: async ({ db, parent, input, unmodified_since }) => {
      const { id, updated_at } = await cadenceOf(db, parent.id, input.cadence_id);
      checkUnmodified(updated_at, unmodified_since);
      await deleteFound(db, 'iteration_cadences', id, 'Iteration Cadence');
    },
  }),
  post(`${single}/iterations`, {
    operation: 'createIteration',
    summary: 'Create an iteration in a manual cadence',
    access: planner,
    plan,
    input: {
      cadence_id: Id,
      title: optional(nullable(Type.String())),
      description: optional(nullable(Type.String())),
      start_date: DateOnly,
      due_date: DateOnly,
    },
    returns: one(Iteration),
    refusals: {
      400: '<parameter>: <reason>',
      404: '404 Iteration Cadence Not Found',
    },
    handle: async ({ db, url, parent, input: { cadence_id, ...iteration } }) => {
      const id = await db.transaction().execute((tx) => addIteration(tx, parent.id, cadence_id, iteration));
      return presentIteration(url, await iterationRows(db).where('iterations.id', '=', id).executeTakeFirstOrThrow());
    },
  }),
];
