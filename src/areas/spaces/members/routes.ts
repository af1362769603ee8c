/** Members of groups and projects. Both kinds have the same endpoints. */
import { type Static, Type } from 'typebox';
import { GroupLevel, ProjectLevel, visibleProject } from '../../../access/index.ts';
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
  pageOf,
  paginate,
  paging,
  post,
  put,
  reaches,
  resource,
  type Services,
  since,
} from '../../../http/index.ts';
import { addMembers, changeMember, importMembers, type NewMembers } from './actions.ts';
import { Member, MemberQueued, memberReply, presentMembers, queuedReply } from './present.ts';
import { isLocked, membersOf, narrowed, usersByIdOrName } from './queries.ts';
import { noSeatsText, textsOf } from './refusal_rules.ts';
import { removeMember } from './removal_actions.ts';
import { expiryReasons, mayManage, memberTexts, type Source } from './rules.ts';
import { asSubtree, everyone, type Granted, managers, sourceFor } from './source_access.ts';

/** The most users that one request adds. */
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

const Expiry = () => checked(nullable(DateOnly), expiryReasons);
const LevelIn = { group: GroupLevel(), project: ProjectLevel() };

const RoleId = () =>
  since(
    'ultimate',
    optional(
      nullable(Type.Integer({ description: 'Custom role with that base level; null removes the role, leaving it out keeps it' })),
    ),
  );

/** Adds one user. A refusal becomes the response. */
async function addOne(services: Services, { source, actor }: Granted, members: NewMembers) {
  const [user_id] = members.user_ids;
  const refusals = await services.db.transaction().execute((tx) => addMembers(tx, asSubtree(source), actor, members));
  const refusal = refusals.get(user_id!);
  if (refusal === 'exists') throw conflict('Member already exists');
  if (refusal === 'protected') throw forbidden();
  if (refusal === 'queued') return queuedReply(services.db, user_id!);
  if (refusal === 'no seat') throw badRequest(noSeatsText(actor));
  if (refusal) throw invalid(refusal);
  return memberReply(services, source, user_id!, 'direct');
}

/** Adds several users. The response gives the reason for each who could not be added. */
async function addSeveral(
  { db }: Services,
  { source, actor }: Granted,
  members: NewMembers,
  names: ReadonlyMap<number, string>,
  unknown: readonly string[],
): Promise<Static<typeof Outcome>> {
  const refusals = await db.transaction().execute((tx) => addMembers(tx, asSubtree(source), actor, members));
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

async function add(services: Services & Conditions, granted: Granted, { user_id, username, ...grant }: AddInput) {
  const { access_level } = grant;
  if (access_level > granted.actor.access_level) throw forbidden();
  if (reaches(services.plan, 'premium') && (await isLocked(services.db, granted.source))) throw notAllowed();
  const wanted: readonly (string | number)[] = [...new Set<string | number>(user_id ?? username)];
  if (wanted.length > maximumAtOnce)
    return { status: 'error' as const, message: `Too many users specified (limit is ${maximumAtOnce})` };
  const { users, unknown } = await usersByIdOrName(services.db, { ids: user_id, usernames: username });
  const names = new Map(users.map((user) => [user.id, user.username]));
  const members = { user_ids: [...names.keys()], ...grant };
  if (wanted.length > 1) return addSeveral(services, granted, { ...members, existing: 'change' }, names, unknown);
  if (users.length === 0) throw notFound('User');
  return addOne(services, granted, { ...members, existing: 'refuse' });
}

function routesOf(kind: Source['kind']) {
  const base = `/${kind}s/:id/members`;
  const Noun = capitalized(kind);
  const reader = sourceFor(kind, everyone);
  const manager = sourceFor(kind, managers);
  const list = (path: string, summary: string, reach: 'direct' | 'all') =>
    get(path, {
      operation: reach === 'all' ? `listAll${Noun}Members` : `list${Noun}Members`,
      summary,
      access: reader,
      input: { ...paging, ...filters },
      returns: pageOf(Member),
      handle: async ({ db, url, source, input }) => {
        const page = await paginate(db, narrowed(membersOf(db, source, reach), input), input);
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
        404: '404 User Not Found',
        405: '405 Method Not Allowed',
        409: 'Member already exists',
      },
      handle: ({ caller, source, actor, input, ...services }) => add(services, { caller, source, actor }, input),
    }),
    put(`${base}/:user_id`, {
      operation: `update${Noun}Member`,
      summary: `Update a member of a ${kind}`,
      access: manager,
      input: { user_id: Id, access_level: LevelIn[kind], member_role_id: RoleId(), expires_at: optional(Expiry()) },
      returns: one(Type.Union([Member, MemberQueued])),
      refusals: { 400: memberTexts },
      handle: async ({ source, actor, input, ...services }) => {
        if (input.access_level > actor.access_level) throw forbidden();
        const outcome = await services.db.transaction().execute((tx) => changeMember(tx, asSubtree(source), actor, input));
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
        skip_subresources: Type.Boolean({ default: false, description: 'Whether to keep memberships in subgroups and projects' }),
      },
      conditional: true,
      returns: nothing,
      handle: async ({ db, source, actor, input: { user_id, skip_subresources }, unmodified_since }) => {
        if (user_id !== actor.id && !mayManage(kind, actor)) throw forbidden();
        const leaving = { user_id, below: !skip_subresources, unmodified_since };
        await db.transaction().execute((tx) => removeMember(tx, asSubtree(source), actor, leaving));
      },
    }),
  ];
}

const importing = post('/projects/:id/import_project_members/:project_id', {
  operation: 'importProjectMembers',
  summary: 'Import members from another project, with at most the access level of the caller',
  access: sourceFor('project', managers),
  input: { project_id: Type.String({ description: 'Id or full path of the other project' }) },
  returns: one(resource('MembersImport', { status: Type.Enum(['success']) })),
  refusals: { 404: '404 Project Not Found', 405: '405 Method Not Allowed' },
  handle: async ({ caller, source, actor, input, ...services }) => {
    const from = await visibleProject(services.db, caller, input.project_id);
    if (reaches(services.plan, 'premium') && (await isLocked(services.db, source))) throw notAllowed();
    await services.db.transaction().execute((tx) => importMembers(tx, source.id, actor, from.id));
    return { status: 'success' as const };
  },
});

export const memberRoutes = [...routesOf('group'), ...routesOf('project'), importing];
