/** Access requests: people who ask to become members of a group or project. Both kinds have the same routes. */
import { Type } from 'typebox';
import type { Database } from '../../../db/index.ts';
import {
  del,
  forbidden,
  get,
  Id,
  notAllowed,
  nothing,
  one,
  optional,
  pageOf,
  paginate,
  paging,
  post,
  put,
  reaches,
  resource,
  Timestamp,
  withStatus,
} from '../../../http/index.ts';
import { presentUserBasic, UserBasic, userBasicColumns } from '../../people/users/index.ts';
import {
  everyone,
  isDirect,
  isLocked,
  Member,
  MemberQueued,
  managers,
  mayManage,
  memberReply,
  queuedReply,
  type Source,
  sourceFor,
} from '../members/index.ts';
import { approveRequest, dropRequest, requestAccess } from './actions.ts';

const AccessRequest = resource('AccessRequest', {
  ...UserBasic.properties,
  requested_at: Timestamp,
  created_at: optional(Timestamp),
});

const requestsOf = (db: Database, source: Source) =>
  db
    .selectFrom('access_requests')
    .innerJoin('users', 'users.id', 'access_requests.user_id')
    .select(userBasicColumns)
    .select('access_requests.requested_at')
    .where(isDirect(source));

const LevelIn = {
  group: Type.Enum([5, 10, 15, 20, 30, 40, 50], { default: 30 }),
  project: Type.Enum([10, 15, 20, 30, 40, 50], { default: 30 }),
};

function routesOf(kind: Source['kind']) {
  const base = `/${kind}s/:id/access_requests`;
  const reader = sourceFor(kind, everyone);
  const manager = sourceFor(kind, managers);
  return [
    get(base, {
      summary: `List who asks to become a member of the ${kind}, the first first`,
      access: manager,
      input: paging,
      returns: pageOf(AccessRequest),
      handle: async ({ db, url, source, input }) => {
        const page = await paginate(db, requestsOf(db, source).orderBy('access_requests.id'), input);
        return {
          ...page,
          items: page.items.map(({ requested_at, ...user }) => ({ ...presentUserBasic(url, user), requested_at })),
        };
      },
    }),
    post(base, {
      summary: `Ask to become a member of the ${kind}`,
      access: reader,
      returns: one(AccessRequest),
      handle: async ({ db, url, caller, source }) => {
        await requestAccess(db, caller, source);
        const { requested_at, ...user } = await requestsOf(db, source)
          .where('users.id', '=', caller.id)
          .executeTakeFirstOrThrow();
        return { ...presentUserBasic(url, user), requested_at, created_at: requested_at };
      },
    }),
    put(`${base}/:user_id/approve`, {
      summary: 'Make somebody a member who asks for it',
      access: manager,
      input: { user_id: Id, access_level: LevelIn[kind] },
      returns: withStatus(201, one(Type.Union([Member, MemberQueued]))),
      handle: async ({ source, actor, input, ...services }) => {
        if (reaches(services.plan, 'premium') && (await isLocked(services.db, source))) throw notAllowed();
        const outcome = await services.db.transaction().execute((tx) => approveRequest(tx, source, actor, input));
        if (outcome === 'queued') return queuedReply(services.db, input.user_id);
        return memberReply(services, source, input.user_id, 'direct');
      },
    }),
    del(`${base}/:user_id`, {
      summary: 'Turn a request down; everybody may take his own back',
      access: reader,
      input: { user_id: Id },
      returns: nothing,
      handle: ({ db, source, actor, input: { user_id } }) => {
        if (user_id !== actor.id && !mayManage(kind, actor)) throw forbidden();
        return dropRequest(db, source, user_id);
      },
    }),
  ];
}

export const accessRequestRoutes = [...routesOf('group'), ...routesOf('project')];
