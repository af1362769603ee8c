/** Namespaces: every user and every group has one, which contains projects (docs/reference/namespaces.md). */
import { type RawBuilder, sql } from 'kysely';
import { Type } from 'typebox';
import {
  countsToday,
  groupLevel,
  isMemberOfGroup,
  levels,
  licensedTrial,
  planInForce,
  signedIn,
  visibleGroup,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  allOptional,
  type Caller,
  containing,
  DateOnly,
  found,
  get,
  Id,
  IdOrName,
  mapPage,
  nullable,
  one,
  optional,
  pageOf,
  paginate,
  paging,
  resource,
  since,
} from '../../../http/index.ts';
import { isBillable } from '../../instance/licenses/index.ts';
import { type NamespaceRow, namespaceBasicFields, presentNamespaceBasic } from './present.ts';
import { freePath, namespaceAvatar } from './queries.ts';

const Namespace = resource('Namespace', {
  ...namespaceBasicFields,
  members_count_with_descendants: optional(Type.Integer({ description: 'For groups, visible to their owners' })),
  projects_count: optional(Type.Integer({ description: 'For top-level namespaces, visible to their owners' })),
  billable_members_count: since(
    'premium',
    optional(
      Type.Integer({ description: 'For top-level groups, visible to their owners: members who take a seat of the license' }),
    ),
  ),
  plan: since('premium', optional(Type.String({ description: 'Visible to owners: the plan of the current license' }))),
  trial: since('premium', optional(Type.Boolean({ description: 'Visible to owners: whether the current license is a trial' }))),
  trial_ends_on: since('premium', optional(nullable(DateOnly))),
});

interface CountedRow extends NamespaceRow {
  is_owned: boolean;
  plan: string;
  trial: boolean;
  trial_ends_on: string | null;
  members_count: number | null;
  billable_members_count: number | null;
  projects_count: number | null;
}

// Both counts begin with the groups below, which have an index. As a join that begins with the members or projects, all of these would be read for each.
/** How many users are members of a group or of something in it. */
const membersBelow = (counted: RawBuilder<boolean>) => sql`(
  select count(*) from users
   where ${counted} and id in (
     select joined.user_id
       from namespaces place
            cross join lateral (
              select user_id from members where members.group_id = place.id and ${countsToday('members')}
              union all
              select user_id from projects join members on members.project_id = projects.id
               where projects.namespace_id = place.id and ${countsToday('members')}) joined
      where place.traversal_ids @> array[namespaces.id]))`;

const projectsBelow = sql`(
  select coalesce(sum((select count(*) from projects where projects.namespace_id = place.id)), 0)
    from namespaces place where place.traversal_ids @> array[namespaces.id])`;

/** Whether the caller owns the namespace in each row; administrators own all. */
const isOwned = (caller: Caller) =>
  sql<boolean>`(owner_id is not distinct from ${caller.id} or (kind = 'group' and ${groupLevel(caller)} >= ${sql.lit(levels.owner)}) or ${caller.admin})`;

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
    .select([namespaceAvatar().as('avatar_path'), isOwned(caller).as('is_owned')])
    .select([planInForce.as('plan'), licensedTrial.isTrial.as('trial'), licensedTrial.endsOn.as('trial_ends_on')])
    .select([
      sql<number>`case when kind = 'group' and ${isOwned(caller)} then ${membersBelow(sql`true`)} end`.as('members_count'),
      sql<number>`case when kind = 'group' and parent_id is null and ${isOwned(caller)} then ${membersBelow(isBillable)} end`.as(
        'billable_members_count',
      ),
      sql<number>`case when parent_id is null and ${isOwned(caller)} then ${projectsBelow} end`.as('projects_count'),
    ])
    .where(caller.admin ? sql<boolean>`true` : ownedOrJoined(caller, levels.minimal))
    .$castTo<CountedRow>();

/** A predicate: the caller's own namespace and the groups that they are a member of. */
const ownedOrJoined = (caller: Caller, level: number) =>
  sql<boolean>`(namespaces.owner_id = ${caller.id} or ${isMemberOfGroup(caller, level)})`;

function present(url: string, row: CountedRow) {
  const { members_count, billable_members_count, projects_count, is_owned, plan, trial, trial_ends_on, ...basic } = row;
  return {
    ...presentNamespaceBasic(url, basic),
    ...(members_count === null ? {} : { members_count_with_descendants: members_count }),
    ...(billable_members_count === null ? {} : { billable_members_count }),
    ...(projects_count === null ? {} : { projects_count }),
    ...(is_owned ? { plan, trial, trial_ends_on } : {}),
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
