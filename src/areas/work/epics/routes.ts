/** Epics: goals of a group that issues of many projects work towards (labels-milestones-iterations-epics.md section 4). */
import { epicGroupRole, epicRemover, epicRole, epicVisible, groupVisible } from '../../../access/index.ts';
import { alsoUnder, checkUnmodified, del, get, nothing, one, pageOf, paging, post, put } from '../../../http/index.ts';
import { createEpic, updateEpic } from './actions.ts';
import { listEpics } from './list.ts';
import { epicListInput, epicListRules } from './list_parameters.ts';
import { editEpicInput, editEpicRules, epicChangesFrom, newEpicFrom, newEpicInput, newEpicRules } from './parameters.ts';
import { Epic } from './present.ts';
import { presentSingleEpic } from './queries.ts';

const path = '/groups/:id/epics';

const routes = [
  get(path, {
    summary: 'List the epics of a group and of the groups below it',
    access: groupVisible,
    plan: 'ultimate',
    input: { ...epicListInput, ...paging },
    rules: epicListRules,
    returns: pageOf(Epic),
    handle: ({ db, url, caller, group, input }) => listEpics({ db, url }, caller, group, input),
  }),
  get(`${path}/:epic_iid`, {
    summary: 'Show an epic',
    access: epicVisible,
    plan: 'ultimate',
    returns: one(Epic),
    handle: ({ db, url, caller, epic }) => presentSingleEpic({ db, url }, caller, epic),
  }),
  post(path, {
    summary: 'Add an epic',
    access: epicGroupRole('planner'),
    plan: 'ultimate',
    input: newEpicInput,
    rules: newEpicRules,
    rate: { setting: 'issues_create_limit', window_s: 60 },
    returns: one(Epic),
    handle: async ({ db, url, caller, group, plan, input }) => {
      const epic = newEpicFrom(group, input);
      const { id } = await db.transaction().execute((tx) => createEpic(tx, { caller, plan, url }, group, epic));
      return presentSingleEpic({ db, url }, caller, { id, group_id: group.id });
    },
  }),
  put(`${path}/:epic_iid`, {
    summary: 'Change an epic, close it or open it again',
    access: epicRole('planner'),
    plan: 'ultimate',
    input: editEpicInput,
    rules: editEpicRules,
    returns: one(Epic),
    handle: async ({ db, url, caller, group, epic, plan, input }) => {
      const changes = epicChangesFrom(group, input);
      await db.transaction().execute((tx) => updateEpic(tx, { caller, plan, url }, group, epic.id, changes));
      return presentSingleEpic({ db, url }, caller, epic);
    },
  }),
  del(`${path}/:epic_iid`, {
    summary: 'Remove an epic with all that is on it; its issues and children stay, and its number does not come back',
    access: epicRemover,
    plan: 'ultimate',
    returns: nothing,
    handle: async ({ db, epic, unmodified_since }) => {
      checkUnmodified(epic.updated_at, unmodified_since);
      await db.deleteFrom('epics').where('id', '=', epic.id).execute();
    },
  }),
];

export const epicRoutes = alsoUnder('/epics', '/-/epics', routes);
