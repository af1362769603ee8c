/** Epics: goals of a group that span the issues of many projects (docs/reference/epics.md). */
import { epicGroupRole, epicKind, epicRemover, epicRole, epicVisible, groupVisible } from '../../../access/index.ts';
import { checkUnmodified, del, deleteFound, get, nothing, one, pageOf, post, put } from '../../../http/index.ts';
import { paging } from '../../../lists/index.ts';
import { createEpic, updateEpic } from './actions.ts';
import { epicListInput, epicListRules } from './list_parameters.ts';
import { listEpics } from './list_queries.ts';
import {
  editEpicInput,
  editEpicRules,
  epicChangesFrom,
  newEpicFrom,
  newEpicInput,
  newEpicRules,
} from './parameters.ts';
import { Epic, presentSingleEpic } from './present.ts';

const path = '/groups/:id/epics';

const routes = [
  get(path, {
    operation: 'listEpics',
    summary: 'List the epics of a group and its subgroups',
    access: groupVisible,
    input: { ...epicListInput, ...paging },
    rules: epicListRules,
    returns: pageOf(Epic),
    handle: ({ caller, plan, group, input, ...services }) =>
      listEpics(services, { caller, plan, scope: { group }, filters: input }, input),
  }),
  get(`${path}/:epic_iid`, {
    operation: 'getEpic',
    summary: 'Get an epic',
    access: epicVisible,
    returns: one(Epic),
    handle: ({ db, url, caller, epic }) => presentSingleEpic({ db, url }, caller, epic),
  }),
  post(path, {
    operation: 'createEpic',
    summary: 'Create an epic',
    access: epicGroupRole('planner'),
    input: newEpicInput,
    rules: newEpicRules,
    rate: { setting: 'issues_create_limit', window_s: 60 },
    returns: one(Epic),
    refusals: { 400: '<parameter>: <reason>' },
    handle: async ({ db, storages, url, caller, group, plan, input }) => {
      const epic = newEpicFrom(group, input);
      const { id } = await db
        .transaction()
        .execute((tx) => createEpic(tx, { caller, plan, storages, url }, group, epic));
      return presentSingleEpic({ db, url }, caller, { id, group_id: group.id });
    },
  }),
  put(`${path}/:epic_iid`, {
    operation: 'updateEpic',
    summary: 'Update an epic',
    access: epicRole('planner'),
    input: editEpicInput,
    rules: editEpicRules,
    returns: one(Epic),
    refusals: { 400: '<parameter>: <reason>' },
    handle: async ({ db, storages, url, caller, group, epic, plan, input }) => {
      const changes = epicChangesFrom(group, input);
      await db.transaction().execute((tx) => updateEpic(tx, { caller, plan, storages, url }, group, epic, changes));
      return presentSingleEpic({ db, url }, caller, epic);
    },
  }),
  del(`${path}/:epic_iid`, {
    operation: 'deleteEpic',
    summary: 'Delete an epic',
    access: epicRemover,
    conditional: true,
    returns: nothing,
    handle: async ({ db, epic, unmodified_since }) => {
      checkUnmodified(epic.updated_at, unmodified_since);
      await deleteFound(db, 'epics', epic.id);
    },
  }),
];

export const epicRoutes = epicKind.endpoints(routes);
