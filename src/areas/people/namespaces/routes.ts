/** Namespaces: every user and every group has one, which contains projects (docs/reference/namespaces.md). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { countsToday, groupLevel, isMemberOfGroup, levels, signedIn, visibleGroup } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  allOptional,
  type Caller,
  containing,
  found,
  get,
  Id,
  IdOrName,
  mapPage,
  one,
  optional,
  pageOf,
  paginate,
  paging,
  resource,
} from '../../../http/index.ts';
import { type NamespaceRow, namespaceBasicFields, presentNamespaceBasic } from './present.ts';
import { freePath, namespaceAvatar } from './queries.ts';

const Namespace = resource('Namespace', {
  ...namespaceBasicFields,
  members_count_with_descendants: optional(Type.Integer({ description: 'For groups, visible to their owners' })),
  projects_count: optional(Type.Integer({ description: 'For top-level namespaces, visible to their owners' })),
});

interface CountedRow extends NamespaceRow {
  members_count: number | null;
  projects_count: number | null;
}

const membersBelow = sql`(
  select count(distinct members.user_id) from members
    left join projects on projects.id = members.project_id
    join namespaces place on place.id = coalesce(members.group_id, projects.namespace_id)
   where place.traversal_ids @> array[namespaces.id] and ${countsToday('members')})`;

const projectsBelow = sql`(
  select count(*) from projects join namespaces place on place.id = projects.namespace_id where place.traversal_ids @> array[namespaces.id])`;

/** The namespaces that the caller can see, with the counts for their owners. */
const namespacesOf = (db: Database, caller: Caller) =>
  db
    .selectFrom('namespaces')
    .select([
      'namespaces.id',
      'namespaces.name',
      'namespaces.path',
      'namespaces.kind',
      'namespaces.full_path',
      'namespaces.parent_id',
    ])
    .select(namespaceAvatar().as('avatar_path'))
    .select([
      sql<number>`case when kind = 'group' and ${groupLevel(caller)} >= ${sql.lit(levels.owner)} then ${membersBelow} end`.as(
        'members_count',
      ),
      sql<number>`case when parent_id is null and (owner_id = ${caller.id} or ${groupLevel(caller)} >= ${sql.lit(levels.owner)})
                       then ${projectsBelow} end`.as('projects_count'),
    ])
    .where(caller.admin ? sql<boolean>`true` : ownedOrJoined(caller, levels.minimal))
    .$castTo<CountedRow>();

/** A predicate: the caller's own namespace and the groups that they are a member of. */
const ownedOrJoined = (caller: Caller, level: number) =>
  sql<boolean>`(namespaces.owner_id = ${caller.id} or ${isMemberOfGroup(caller, level)})`;

function present(url: string, { members_count, projects_count, ...row }: CountedRow) {
  return {
    ...presentNamespaceBasic(url, row),
    ...(members_count === null ? {} : { members_count_with_descendants: members_count }),
    ...(projects_count === null ? {} : { projects_count }),
  };
}

export const namespaceRoutes = [
  get('/namespaces', {
    operation: 'listNamespaces',
    summary: "List the caller's namespace and the groups that they are a member of; administrators see all namespaces",
    access: signedIn,
    input: {
      ...paging,
      ...allOptional({
        search: Type.String({ description: 'Part of the name or path' }),
        owned_only: Type.Boolean(),
        top_level_only: Type.Boolean(),
        full_path_search: Type.Boolean({ description: 'Whether `search` matches the full path instead of the last part of it' }),
      }),
    },
    returns: pageOf(Namespace),
    handle: async ({ db, url, caller, input }) => {
      const { search, owned_only, top_level_only, full_path_search } = input;
      let query = namespacesOf(db, caller).orderBy('namespaces.id');
      if (owned_only) query = query.where(ownedOrJoined(caller, levels.owner));
      if (top_level_only) query = query.where('namespaces.parent_id', 'is', null);
      if (search) {
        const path = sql<string>`${sql.ref(full_path_search ? 'namespaces.full_path' : 'namespaces.path')}::text`;
        query = query.where((q) =>
          q.or([q('namespaces.name', 'ilike', containing(search)), q(path, 'ilike', containing(search))]),
        );
      }
      const page = await paginate(db, query, input);
      return mapPage(page, (row) => present(url, row));
    },
  }),
  get('/namespaces/:id', {
    operation: 'getNamespace',
    summary: 'Show a namespace, by ID or full path',
    access: signedIn,
    input: { id: IdOrName('ID or full path') },
    returns: one(Namespace),
    refusals: { 404: '404 Namespace Not Found' },
    handle: async ({ db, url, caller, input: { id } }) => {
      const query = namespacesOf(db, caller);
      const named = typeof id === 'number' ? query.where('namespaces.id', '=', id) : query.where('namespaces.full_path', '=', id);
      return present(url, found('Namespace', await named.executeTakeFirst()));
    },
  }),
  get('/namespaces/:path/exists', {
    operation: 'checkNamespacePath',
    summary: 'Check whether a path is taken, and suggest a free one',
    access: signedIn,
    input: { path: Type.String(), parent_id: optional(Id) },
    returns: one(resource('NamespaceExistence', { exists: Type.Boolean(), suggests: Type.Array(Type.String()) })),
    refusals: { 404: '404 Group Not Found' },
    handle: async ({ db, caller, input: { path, parent_id } }) => {
      const parent = parent_id === undefined ? undefined : await visibleGroup(db, caller, String(parent_id));
      const free = await freePath(db, path, parent);
      return free === path ? { exists: false, suggests: [] } : { exists: true, suggests: free === undefined ? [] : [free] };
    },
  }),
];
