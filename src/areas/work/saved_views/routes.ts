/** Filters of lists that people keep under a name; only pages show them (docs/reference/work_pages.md#saved-views). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { signedIn, visibleGroup, visibleProject } from '../../../access/index.ts';
import { type Database, isUniqueViolation } from '../../../db/index.ts';
import {
  allOptional,
  type Caller,
  checked,
  conflict,
  del,
  found,
  get,
  Id,
  invalid,
  listOf,
  NotBlank,
  nothing,
  one,
  post,
  resource,
} from '../../../http/index.ts';
import { tooLong } from '../../../texts/index.ts';

/** A view as pages are told of it. */
export const SavedView = resource('SavedView', {
  id: Id,
  name: Type.String(),
  query: Type.String({ description: 'That of the address of the list' }),
});

/** The most views that a person keeps. */
const mostViews = 50;

const List = Type.Enum(['issues', 'merge_requests']);
const places = allOptional({
  project_id: Type.String({ description: 'Full path; without it and `group_id`: the list of everything' }),
  group_id: Type.String({ description: 'Full path' }),
});

interface Place {
  project_id?: string;
  group_id?: string;
}

/** The ids of the project or group. @throws ApiError 404 if it is hidden from the caller */
async function placeOf(db: Database, caller: Caller, { project_id, group_id }: Place) {
  return {
    project_id: project_id === undefined ? null : (await visibleProject(db, caller, project_id)).id,
    group_id: project_id !== undefined || group_id === undefined ? null : (await visibleGroup(db, caller, group_id)).id,
  };
}

/** A predicate on views: that they are of a place. They are the caller's own, so that it says nothing about the place. */
function isAt({ project_id, group_id }: Place) {
  if (project_id !== undefined)
    return sql<boolean>`project_id = (select id from projects where full_path = ${project_id}::citext)`;
  if (group_id !== undefined)
    return sql<boolean>`group_id = (select id from namespaces where full_path = ${group_id}::citext)`;
  return sql<boolean>`num_nonnulls(project_id, group_id) = 0`;
}

const viewsOf = (db: Database, caller: Caller) => db.selectFrom('saved_views').where('user_id', '=', caller.id);

export const savedViewRoutes = [
  get('/user/saved_views', {
    operation: 'listSavedViews',
    summary: "List the caller's views of a list, by name",
    access: signedIn,
    input: { list: List, ...places },
    returns: listOf(SavedView),
    handle: ({ db, caller, input: { list, ...place } }) =>
      viewsOf(db, caller)
        .select(['id', 'name', 'query'])
        .where('list', '=', list)
        .where(isAt(place))
        .orderBy('name')
        .execute(),
  }),
  post('/user/saved_views', {
    operation: 'createSavedView',
    summary: 'Keep the filters of a list',
    access: signedIn,
    input: {
      list: List,
      ...places,
      name: checked(NotBlank({ description: 'At most 100 characters' }), (name) => tooLong(name, 100)),
      query: checked(Type.String(), (query) => tooLong(query, 2000)),
    },
    returns: one(SavedView),
    refusals: {
      400: [`base: Maximum number of views (${mostViews}) exceeded`, '<parameter>: <reason>'],
      404: '404 <noun> Not Found',
      409: 'There is a view with this name already',
    },
    handle: async ({ db, caller, input: { list, name, query, ...place } }) => {
      const values = { ...(await placeOf(db, caller, place)), user_id: caller.id, list, name, query };
      const { count } = await viewsOf(db, caller)
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow();
      if (Number(count) >= mostViews) throw invalid({ base: [`Maximum number of views (${mostViews}) exceeded`] });
      try {
        const added = db.insertInto('saved_views').values(values).returning(['id', 'name', 'query']);
        return await added.executeTakeFirstOrThrow();
      } catch (error) {
        throw isUniqueViolation(error) ? conflict('There is a view with this name already') : error;
      }
    },
  }),
  del('/user/saved_views/:view_id', {
    operation: 'deleteSavedView',
    summary: 'Delete a view',
    access: signedIn,
    input: { view_id: Id },
    returns: nothing,
    refusals: { 404: '404 View Not Found' },
    handle: async ({ db, caller, input }) => {
      const deleted = db.deleteFrom('saved_views').where('user_id', '=', caller.id).where('id', '=', input.view_id);
      found('View', await deleted.returning('id').executeTakeFirst());
    },
  }),
];
