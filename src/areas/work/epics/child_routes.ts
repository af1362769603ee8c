/** Child epics, in manual order. */
import { Type } from 'typebox';
import { epicKind, epicRole, epicVisible, isVisibleEpic, type MaybeCaller } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  ApiError,
  atLeastOneOf,
  checked,
  del,
  found,
  get,
  Id,
  one,
  optional,
  type Page,
  pageOf,
  post,
  put,
  type Services,
} from '../../../http/index.ts';
import { type Paging, paginate, paging } from '../../../lists/index.ts';
import { titleReasons } from '../../../texts/index.ts';
import { assignedText, noMatchText } from '../issuables/rules.ts';
import { createEpic } from './actions.ts';
import { adopt, type ParentRefusal, setParent } from './parent_actions.ts';
import { childrenIn, moveInEpic } from './position_actions.ts';
import { newPosition } from './position_parameters.ts';
import { Epic, type EpicReply, presentEpics, presentSingleEpic } from './present.ts';

const path = '/groups/:id/epics/:epic_iid/epics';

/** The children of an epic that the caller may read. */
const childrenOf = (db: Database, caller: MaybeCaller, epic: { id: number }) =>
  db
    .selectFrom('epics')
    .innerJoin('namespaces', 'namespaces.id', 'epics.group_id')
    .select(['epics.id', 'epics.group_id'])
    .where('epics.parent_id', '=', epic.id)
    .where(isVisibleEpic(caller));

async function pageOfChildren(
  { db, url }: Pick<Services, 'db' | 'url'>,
  caller: MaybeCaller,
  epic: { id: number; group_id: number },
  input: Paging,
): Promise<Page<EpicReply>> {
  const ordered = childrenOf(db, caller, epic).orderBy('epics.relative_position').orderBy('epics.id');
  const { items, ...page } = await paginate(db, ordered, input);
  const ids = items.map(({ id }) => id);
  return { ...page, items: await presentEpics({ db, url }, caller, ids, { relative_to: epic.group_id }) };
}

/** @throws ApiError */
function refuse(refusal: ParentRefusal | undefined): void {
  if (refusal) throw new ApiError(refusal.status, { message: refusal.text });
}

const childIn = async (db: Database, caller: MaybeCaller, epic: { id: number }, child_epic_id: number) =>
  found(undefined, await childrenOf(db, caller, epic).where('epics.id', '=', child_epic_id).executeTakeFirst());

const routes = [
  get(path, {
    operation: 'listChildEpics',
    summary: 'List the child epics of an epic',
    access: epicVisible,
    plan: 'ultimate',
    input: paging,
    returns: pageOf(Epic),
    handle: ({ db, url, caller, epic, input }) => pageOfChildren({ db, url }, caller, epic, input),
  }),
  post(path, {
    operation: 'createChildEpic',
    summary: 'Create a child epic',
    description: 'Epics are nested at most 7 levels deep.',
    access: epicRole('planner'),
    plan: 'ultimate',
    input: { title: checked(Type.String(), titleReasons), confidential: optional(Type.Boolean()) },
    rate: { setting: 'issues_create_limit', window_s: 60 },
    returns: one(Epic),
    refusals: { 422: 'This epic cannot be added. <reason>' },
    handle: async ({
      db,
      storages,
      url,
      caller,
      plan,
      group,
      epic,
      input: { title, confidential = epic.confidential },
    }) => {
      const { id } = await db.transaction().execute(async (tx) => {
        const added = await createEpic(tx, { caller, plan, storages, url }, group, { title, confidential });
        refuse(await setParent(tx, caller, added.id, epic.id));
        return added;
      });
      return presentSingleEpic({ db, url }, caller, { id, group_id: group.id });
    },
  }),
  post(`${path}/:child_epic_id`, {
    operation: 'addChildEpic',
    summary: 'Add an epic as a child',
    description: 'Epics are nested at most 7 levels deep.',
    access: epicRole('planner'),
    plan: 'ultimate',
    input: { child_epic_id: Id },
    returns: one(Epic),
    refusals: {
      404: noMatchText(epicKind),
      409: assignedText(epicKind),
      422: 'This epic cannot be added. <reason>',
    },
    handle: async ({ db, url, caller, epic, input }) => {
      await db.transaction().execute(async (tx) => refuse(await adopt(tx, caller, input.child_epic_id, epic.id)));
      return presentSingleEpic({ db, url }, caller, { id: input.child_epic_id, group_id: epic.group_id });
    },
  }),
  put(`${path}/:child_epic_id`, {
    operation: 'reorderChildEpic',
    summary: 'Reorder a child epic',
    access: epicRole('planner'),
    plan: 'ultimate',
    input: {
      child_epic_id: Id,
      ...newPosition('ID of the child epic'),
      ...paging,
    },
    rules: [atLeastOneOf('move_before_id', 'move_after_id')],
    returns: pageOf(Epic),
    refusals: { 400: 'Epic could not be moved!' },
    handle: async ({ db, url, caller, epic, input: { child_epic_id, ...input } }) => {
      const child = await childIn(db, caller, epic, child_epic_id);
      await moveInEpic(db, childrenIn(epic.id), epicKind, child.id, input);
      return pageOfChildren({ db, url }, caller, epic, input);
    },
  }),
  del(`${path}/:child_epic_id`, {
    operation: 'removeChildEpic',
    summary: 'Remove an epic from its parent',
    access: epicRole('planner'),
    plan: 'ultimate',
    input: { child_epic_id: Id },
    returns: one(Epic),
    handle: async ({ db, url, caller, epic, input }) => {
      const child = await childIn(db, caller, epic, input.child_epic_id);
      await db.transaction().execute((tx) => setParent(tx, caller, child.id, null));
      return presentSingleEpic({ db, url }, caller, child);
    },
  }),
];

export const epicChildRoutes = epicKind.endpoints(routes);
