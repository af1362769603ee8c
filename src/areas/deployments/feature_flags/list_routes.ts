/** User lists: lists of user ids of an application, which several feature flags can reference (docs/reference/feature_flags.md#user-lists). */
import { type Static, Type } from 'typebox';
import type { Project } from '../../../access/index.ts';
import { pagePath } from '../../../foundation/addresses.ts';
import {
  checkUnmodified,
  containing,
  del,
  get,
  Id,
  Iid,
  nothing,
  one,
  optional,
  pageOf,
  post,
  put,
  resource,
  Timestamp,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { flagsRole } from './access.ts';
import { addList, changeList, deleteList, refusedTexts } from './actions.ts';
import { type ListRow, listNumbered, listsOf } from './queries.ts';

const userListPage = pagePath('/:project/-/feature_flags_user_lists/:iid');

const UserList = resource('FeatureFlagUserList', {
  id: Id,
  iid: Iid,
  project_id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  name: Type.String(),
  user_xids: Type.String(),
  path: Type.String({ description: 'Its address, as clients of the public server read it' }),
  edit_path: Type.String(),
});

const present =
  (project: Project) =>
  (list: ListRow): Static<typeof UserList> => {
    const path = userListPage(project.full_path, list.iid);
    return { ...list, path, edit_path: `${path}/edit` };
  };

const access = flagsRole('developer');
const path = '/projects/:id/feature_flags_user_lists';

const Name = () => Type.String({ description: 'At most 255 characters; unique in the project' });
const Ids = () => Type.String({ description: 'Ids of users of the application, separated by commas' });
const refused = [refusedTexts.taken, 'Name <reason>', 'User xids <reason>'];

export const featureFlagListRoutes = [
  get(path, {
    operation: 'listFeatureFlagUserLists',
    summary: 'List the user lists of a project, by number',
    access,
    input: { ...paging, search: optional(Type.String({ description: 'Text in the name' })) },
    returns: pageOf(UserList),
    handle: async ({ db, project, input }) => {
      const lists = listsOf(db, project.id).orderBy('iid').orderBy('id');
      const wanted = input.search ? lists.where('name', 'ilike', containing(input.search)) : lists;
      return mapPage(await paginate(db, wanted, input), present(project));
    },
  }),
  post(path, {
    operation: 'createFeatureFlagUserList',
    summary: 'Create a user list',
    access,
    input: { name: Name(), user_xids: Ids() },
    returns: one(UserList),
    refusals: { 400: [...refused, refusedTexts.tooManyLists] },
    handle: async ({ db, project, input }) => present(project)(await addList(db, project, input)),
  }),
  get(`${path}/:iid`, {
    operation: 'getFeatureFlagUserList',
    summary: 'Show a user list',
    access,
    input: { iid: Iid },
    returns: one(UserList),
    handle: async ({ db, project, input }) => present(project)(await listNumbered(db, project.id, input.iid)),
  }),
  put(`${path}/:iid`, {
    operation: 'updateFeatureFlagUserList',
    summary: 'Update a user list',
    access,
    input: { iid: Iid, name: optional(Name()), user_xids: optional(Ids()) },
    returns: one(UserList),
    refusals: { 400: [...refused, refusedTexts.tooLarge] },
    handle: async ({ db, project, input: { iid, ...given } }) =>
      present(project)(await changeList(db, project, iid, given)),
  }),
  del(`${path}/:iid`, {
    operation: 'deleteFeatureFlagUserList',
    summary: 'Delete a user list that no strategy uses',
    access,
    input: { iid: Iid },
    conditional: true,
    returns: nothing,
    refusals: { 409: refusedTexts.inUse },
    handle: ({ db, project, input, unmodified_since }) =>
      deleteList(db, project, input.iid, ({ updated_at }) => checkUnmodified(updated_at, unmodified_since)),
  }),
];
