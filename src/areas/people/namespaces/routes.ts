/** Namespaces: every user and every group has one, which contains projects (docs/reference/namespaces.md). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import {
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
  nullable,
  one,
  optional,
  pageOf,
  resource,
  type Services,
  since,
} from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { countsOf } from './count_queries.ts';
import { type NamespaceRow, namespaceBasicFields, presentNamespaceBasic } from './present.ts';
import { freePath, namespaceAvatar } from './queries.ts';

const Namespace = resource('Namespace', {
  ...namespaceBasicFields,
  members_count_with_descendants: optional(Type.Integer({ description: 'For groups, shown to their owners' })),
  projects_count: optional(Type.Integer({ description: 'For top-level namespaces, shown to their owners' })),
  billable_members_count: since(
    'premium',
    optional(
      Type.Integer({
        description: 'For top-level groups, shown to their owners: members who take a seat of the license',
      }),
    ),
  ),
  seats_in_use: since('premium', optional(Type.Integer({ description: 'Equal to `billable_members_count`' }))),
  max_seats_used: since(
    'premium',
    optional(Type.Integer({ description: 'The highest `seats_in_use` so far, as counted daily' })),
  ),
  root_repository_size: optional(
    Type.Integer({
      description: 'For top-level namespaces, shown to their owners: bytes of all repositories, as last measured',
    }),
  ),
  plan: since('premium', optional(Type.String({ description: 'Shown to owners: the plan of the current license' }))),
  trial: since(
    'premium',
    optional(Type.Boolean({ description: 'Shown to owners: whether the current license is a trial' })),
  ),
  trial_ends_on: since('premium', optional(nullable(DateOnly))),
  end_date: since('premium', optional(nullable(DateOnly))),
});

interface ListedRow extends NamespaceRow {
  is_owned: boolean;
  plan: string;
  trial: boolean;
  trial_ends_on: string | null;
  end_date: string | null;
}

/** Whether the caller owns the namespace in each row; administrators own all. */
const isOwned = (caller: Caller) =>
  sql<boolean>`(owner_id is not distinct from ${caller.id} or (kind = 'group' and ${groupLevel(caller)} >= ${sql.lit(levels.owner)}) or ${caller.admin})`;

/** The namespaces that the caller can see. */
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
    .select(sql<string | null>`(select expires_at from current_license)`.as('end_date'))
    .where(caller.admin ? sql<boolean>`true` : ownedOrJoined(caller, levels.minimal))
    .$castTo<ListedRow>();

/**
 * A predicate: the caller's own namespace and the groups that they are a member of. As two lists, because PostgreSQL
 * would check every namespace for "one or the other".
 */
const ownedOrJoined = (caller: Caller, level: number) => sql<boolean>`namespaces.id in (
  select namespaces.id from namespaces where namespaces.owner_id = ${caller.id}
  union all
  select namespaces.id from namespaces where ${isMemberOfGroup(caller, level)})`;

/** @param rows of `namespacesOf` */
async function present({ db, url }: Pick<Services, 'db' | 'url'>, rows: readonly ListedRow[]) {
  const owned = rows.filter((row) => row.is_owned);
  const counted = await countsOf(db, owned);
  const counts = new Map(owned.map(({ id }, index) => [id, counted[index]]));
  return rows.map(({ is_owned, plan, trial, trial_ends_on, end_date, ...basic }) => ({
    ...presentNamespaceBasic(url, basic),
    ...counts.get(basic.id),
    ...(is_owned ? { plan, trial, trial_ends_on, end_date } : {}),
  }));
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
        full_path_search: Type.Boolean({
          description: 'Whether `search` matches the full path instead of the last part of it',
        }),
      }),
    },
    returns: pageOf(Namespace),
    handle: async ({ caller, input, ...services }) => {
      const { db } = services;
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
      return { ...page, items: await present(services, page.items) };
    },
  }),
  get('/namespaces/:id', {
    operation: 'getNamespace',
    summary: 'Show a namespace, by ID or full path',
    access: signedIn,
    input: { id: IdOrName('ID or full path') },
    returns: one(Namespace),
    refusals: { 404: '404 Namespace Not Found' },
    handle: async ({ caller, input: { id }, ...services }) => {
      const query = namespacesOf(services.db, caller);
      const named =
        typeof id === 'number' ? query.where('namespaces.id', '=', id) : query.where('namespaces.full_path', '=', id);
      const [shown] = await present(services, [found('Namespace', await named.executeTakeFirst())]);
      return shown!;
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
      return free === path
        ? { exists: false, suggests: [] }
        : { exists: true, suggests: free === undefined ? [] : [free] };
    },
  }),
];
