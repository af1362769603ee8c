/** Members of groups and projects. Both kinds have the same endpoints. */
import { type Static, Type } from 'typebox';
import { type Changing, GroupLevel, ProjectLevel, visibleProject } from '../../../access/index.ts';
import { endReasons } from '../../../cron/index.ts';
import {
  allOptional,
  atLeastOneOf,
  badRequest,
  CommaList,
  type Conditions,
  capitalized,
  checked,
  conflict,
  DateOnly,
  del,
  forbidden,
  get,
  Id,
  invalid,
  mutuallyExclusive,
  notAllowed,
  notFound,
  nothing,
  nullable,
  one,
  optional,
  type Plan,
  pageOf,
  post,
  put,
  reaches,
  resource,
  type Services,
} from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { RoleId } from '../member_roles/queries.ts';
import { addMembers, changeMember, importMembers, type NewMembers } from './actions.ts';
import { refuseLocked } from './lock_checks.ts';
import { Member, MemberQueued, memberReply, presentMembers, queuedReply } from './present.ts';
import { isLocked, membersOf, narrowed, usersByIdOrName } from './queries.ts';
import { noSeatsText, textsOf } from './refusal_rules.ts';
import { removeMember } from './removal_actions.ts';
import { lastOwnerRefusal, mayManage, memberTexts, protectedRefusal, type Source } from './rules.ts';
import { asSubtree, changers, everyone, type Granted, sourceFor } from './source_access.ts';

/** The maximum number of users in one request. */
const maximumAtOnce = 100;

const filters = allOptional({
  query: Type.String({ description: 'Part of the name or username, or the full public email address' }),
  user_ids: Type.Array(Id),
  skip_users: Type.Array(Id),
});

const Outcome = resource('MembersOutcome', {
  status: Type.Enum(['success', 'error']),
  message: optional(
    Type.Union([Type.String(), Type.Record(Type.String(), Type.String())], { description: 'Reasons by username' }),
  ),
  queued_users: optional(
    Type.Record(Type.String(), Type.String(), { description: 'Users whose role an administrator must approve first' }),
  ),
});

const Expiry = () => checked(nullable(DateOnly), endReasons);
const LevelIn = { group: GroupLevel(), project: ProjectLevel() };

type Manager = Pick<Granted, 'source'> & Changing<Granted>;

/**
 * Adds users on behalf of the caller.
 * @throws ApiError 403 for a level above the caller's, 405 when an ancestor group locks memberships
 */
const addBy = ({ change }: Manager, plan: Plan, members: NewMembers) =>
  change(async (tx, { source, actor }) => {
    if (members.access_level > actor.access_level) throw forbidden();
    if (reaches(plan, 'premium') && (await isLocked(tx, source))) throw notAllowed();
    return { actor, refusals: await addMembers(tx, asSubtree(source), actor, members) };
  });

/** Adds one user. A refusal becomes an error response. */
async function addOne(services: Services & Conditions, manager: Manager, members: NewMembers) {
  const { source } = manager;
  const [user_id] = members.user_ids;
  const { actor, refusals } = await addBy(manager, services.plan, members);
  const refusal = refusals.get(user_id!);
  if (refusal === 'exists') throw conflict('Member already exists');
  if (refusal === 'protected' || refusal === 'last owner') throw protectedRefusal(refusal);
  if (refusal === 'queued') return queuedReply(services.db, user_id!);
  if (refusal === 'no seat') throw badRequest(noSeatsText(actor));
  if (refusal) throw invalid(refusal);
  return memberReply(services, source, user_id!, 'direct');
}

/** Adds several users. The response lists the reason for each user who could not be added. */
async function addSeveral(
  { plan }: Conditions,
  manager: Manager,
  members: NewMembers,
  names: ReadonlyMap<number, string>,
  unknown: readonly string[],
): Promise<Static<typeof Outcome>> {
  const { actor, refusals } = await addBy(manager, plan, members);
  const { refused, queued } = textsOf(refusals, names, actor);
  const failed = [...refused, ...unknown.map((name) => [name, '404 User Not Found'] as const)];
  return {
    ...(queued.length === 0 ? {} : { queued_users: Object.fromEntries(queued) }),
    ...(failed.length === 0 ? { status: 'success' } : { status: 'error', message: Object.fromEntries(failed) }),
  };
}

interface AddInput {
  user_id?: number[];
  username?: string[];
  access_level: number;
  member_role_id?: number | null;
  expires_at?: string | null;
}

async function add(services: Services & Conditions, manager: Manager, { user_id, username, ...grant }: AddInput) {
  const wanted: readonly (string | number)[] = [...new Set<string | number>(user_id ?? username)];
  if (wanted.length > maximumAtOnce)
    return { status: 'error' as const, message: `Too many users specified (limit is ${maximumAtOnce})` };
  const { users, unknown } = await usersByIdOrName(services.db, { ids: user_id, usernames: username });
  const names = new Map(users.map((user) => [user.id, user.username]));
  const members = { user_ids: [...names.keys()], ...grant };
  if (wanted.length > 1) return addSeveral(services, manager, { ...members, existing: 'change' }, names, unknown);
  if (users.length === 0) throw notFound('User');
  return addOne(services, manager, { ...members, existing: 'refuse' });
}

function routesOf(kind: Source['kind']) {
  const base = `/${kind}s/:id/members`;
  const Noun = capitalized(kind);
  const reader = sourceFor(kind, everyone);
  const manager = sourceFor(kind, changers);
  const list = (path: string, summary: string, reach: 'direct' | 'all') =>
    get(path, {
      operation: reach === 'all' ? `listAll${Noun}Members` : `list${Noun}Members`,
      summary,
      access: reader,
      input: { ...paging, ...filters },
      returns: pageOf(Member),
      handle: async ({ db, url, source, input }) => {
        const page = await paginate(db, narrowed(membersOf(db, source, reach), input), input, {
          id: 'membership.user_id',
        });
        return { ...page, items: await presentMembers(db, url, page.items) };
      },
    });
  const single = (path: string, summary: string, reach: 'direct' | 'all') =>
    get(path, {
      operation: reach === 'all' ? `getEffective${Noun}Member` : `get${Noun}Member`,
      summary,
      access: reader,
      input: { user_id: Id },
      returns: one(Member),
      handle: ({ source, input, ...services }) => memberReply(services, source, input.user_id, reach),
    });
  return [
    list(base, `List direct members of a ${kind}`, 'direct'),
    list(`${base}/all`, `List all members of a ${kind}, including inherited and invited ones`, 'all'),
    single(`${base}/:user_id`, `Show a direct member of a ${kind}`, 'direct'),
    single(`${base}/all/:user_id`, `Show a member of a ${kind}, including inherited and invited ones`, 'all'),
    post(base, {
      operation: `create${Noun}Members`,
      summary: `Add members to a ${kind}`,
      description:
        'At most 100 users at a time. With one user, a failure is the status of the response; with several, `message` gives the reason for each who was not added.',
      access: manager,
      input: {
        access_level: LevelIn[kind],
        member_role_id: RoleId(),
        user_id: optional(CommaList(Id)),
        username: optional(CommaList(Type.String())),
        expires_at: optional(Expiry()),
      },
      rules: [mutuallyExclusive('user_id', 'username'), atLeastOneOf('user_id', 'username')],
      returns: one(Type.Union([Member, MemberQueued, Outcome])),
      refusals: {
        400: memberTexts,
        403: lastOwnerRefusal,
        404: '404 User Not Found',
        405: '405 Method Not Allowed',
        409: 'Member already exists',
      },
      handle: ({ source, change, input, ...services }) => add(services, { source, change }, input),
    }),
    put(`${base}/:user_id`, {
      operation: `update${Noun}Member`,
      summary: `Update a member of a ${kind}`,
      access: manager,
      input: { user_id: Id, access_level: LevelIn[kind], member_role_id: RoleId(), expires_at: optional(Expiry()) },
      returns: one(Type.Union([Member, MemberQueued])),
      refusals: { 400: memberTexts, 403: lastOwnerRefusal },
      handle: async ({ source, change, input, ...services }) => {
        const outcome = await change((tx, { actor }) => changeMember(tx, asSubtree(source), actor, input));
        if (outcome === 'queued') return queuedReply(services.db, input.user_id);
        return memberReply(services, source, input.user_id, 'direct');
      },
    }),
    del(`${base}/:user_id`, {
      operation: `delete${Noun}Member`,
      summary: `Remove a member from a ${kind}, or leave it`,
      access: reader,
      input: {
        user_id: Id,
        skip_subresources: Type.Boolean({
          default: false,
          description: 'Whether to keep memberships in subgroups and projects',
        }),
        unassign_issuables: Type.Boolean({
          default: false,
          description:
            'Whether the member is also removed from the assignees and reviewers of issues and merge requests there',
        }),
      },
      conditional: true,
      returns: nothing,
      refusals: { 403: lastOwnerRefusal },
      handle: ({ change, input: { user_id, skip_subresources, unassign_issuables: unassigns }, unmodified_since }) =>
        change(async (tx, { caller, source, actor }) => {
          if (user_id !== actor.id && !mayManage(kind, actor)) throw forbidden();
          if (user_id !== actor.id) await refuseLocked(tx, caller);
          return removeMember(tx, asSubtree(source), actor, {
            user_id,
            below: !skip_subresources,
            unassigns,
            unmodified_since,
          });
        }),
    }),
  ];
}

const importing = post('/projects/:id/import_project_members/:project_id', {
  operation: 'importProjectMembers',
  summary: 'Import members from another project, with at most the access level of the caller',
  access: sourceFor('project', changers),
  input: { project_id: Type.String({ description: 'ID or full path of the other project' }) },
  returns: one(resource('MembersImport', { status: Type.Enum(['success']) })),
  refusals: { 404: '404 Project Not Found', 405: '405 Method Not Allowed' },
  handle: async ({ change, plan, input }) => {
    await change(async (tx, { caller, source, actor }) => {
      const from = await visibleProject(tx, caller, input.project_id);
      if (reaches(plan, 'premium') && (await isLocked(tx, source))) throw notAllowed();
      await importMembers(tx, source.id, actor, from.id);
    });
    return { status: 'success' as const };
  },
});

export const memberRoutes = [...routesOf('group'), ...routesOf('project'), importing];
