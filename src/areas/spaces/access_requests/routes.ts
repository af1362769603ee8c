/** Access requests to groups and projects (docs/reference/access_requests.md). Both kinds have the same endpoints. */
import { Type } from 'typebox';
import { GroupLevel, levels, ProjectLevel } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  capitalized,
  del,
  forbidden,
  get,
  Id,
  notAllowed,
  nothing,
  one,
  optional,
  pageOf,
  post,
  put,
  reaches,
  resource,
  Timestamp,
  withStatus,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { presentUserBasic, UserBasic, userBasicColumns } from '../../people/users/index.ts';
import { Member, MemberQueued, memberReply, queuedReply } from '../members/present.ts';
import { isDirect, isLocked } from '../members/queries.ts';
import { mayManage, memberTexts, type Source } from '../members/rules.ts';
import { changers, everyone, managers, sourceFor } from '../members/source_access.ts';
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
  group: GroupLevel({ default: levels.developer }),
  project: ProjectLevel({ default: levels.developer }),
};

function routesOf(kind: Source['kind']) {
  const base = `/${kind}s/:id/access_requests`;
  const Noun = capitalized(kind);
  const reader = sourceFor(kind, everyone);
  const manager = sourceFor(kind, managers);
  const changer = sourceFor(kind, changers);
  return [
    get(base, {
      operation: `list${Noun}AccessRequests`,
      summary: `List access requests to a ${kind}, oldest first`,
      access: manager,
      input: paging,
      returns: pageOf(AccessRequest),
      handle: async ({ db, url, source, input }) => {
        const page = await paginate(db, requestsOf(db, source).orderBy('access_requests.id'), input);
        return mapPage(page, ({ requested_at, ...user }) => ({ ...presentUserBasic(url, user), requested_at }));
      },
    }),
    post(base, {
      operation: `create${Noun}AccessRequest`,
      summary: `Request access to a ${kind}`,
      access: reader,
      returns: one(AccessRequest),
      refusals: { 400: 'user_id: already exists in source' },
      handle: async ({ db, url, caller, source, change }) => {
        await change((tx, here) => requestAccess(tx, here.caller, here.source));
        const { requested_at, ...user } = await requestsOf(db, source)
          .where('users.id', '=', caller.id)
          .executeTakeFirstOrThrow();
        return { ...presentUserBasic(url, user), requested_at, created_at: requested_at };
      },
    }),
    put(`${base}/:user_id/approve`, {
      operation: `approve${Noun}AccessRequest`,
      audits: ['member_created'],
      summary: `Approve an access request to a ${kind}`,
      access: changer,
      input: { user_id: Id, access_level: LevelIn[kind] },
      returns: withStatus(201, one(Type.Union([Member, MemberQueued]))),
      refusals: { 400: memberTexts, 405: '405 Method Not Allowed' },
      handle: async ({ source, change, input, ...services }) => {
        const outcome = await change(async (tx, here) => {
          if (reaches(services.plan, 'premium') && (await isLocked(tx, here.source))) throw notAllowed();
          return approveRequest(tx, here.source, here.actor, input);
        });
        if (outcome === 'queued') return queuedReply(services.db, input.user_id);
        return memberReply(services, source, input.user_id, 'direct');
      },
    }),
    del(`${base}/:user_id`, {
      operation: `deny${Noun}AccessRequest`,
      summary: `Deny an access request to a ${kind}, or withdraw your own`,
      access: reader,
      input: { user_id: Id },
      returns: nothing,
      handle: ({ change, input: { user_id } }) =>
        change((tx, { source, actor }) => {
          if (user_id !== actor.id && !mayManage(kind, actor)) throw forbidden();
          return dropRequest(tx, source, user_id);
        }),
    }),
  ];
}

export const accessRequestRoutes = [...routesOf('group'), ...routesOf('project')];
