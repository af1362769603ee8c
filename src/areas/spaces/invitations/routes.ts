/** Invitations to groups and projects by email (docs/reference/invitations.md). Both kinds have the same endpoints. */
import { type Static, Type } from 'typebox';
import { type Changing, groupLevels, levels } from '../../../access/index.ts';
import { endReasonsOf } from '../../../cron/index.ts';
import {
  ApiError,
  badParams,
  badRequest,
  CommaList,
  type Conditions,
  capitalized,
  checked,
  del,
  forbidden,
  get,
  Id,
  nothing,
  nullable,
  one,
  optional,
  pageOf,
  post,
  put,
  reaches,
  resource,
  Timestamp,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { RoleId } from '../member_roles/queries.ts';
import { isLocked } from '../members/queries.ts';
import type { Source } from '../members/rules.ts';
import { changers, type Granted, managers, sourceFor } from '../members/source_access.ts';
import { changeInvitation, invite, removeInvitation } from './actions.ts';
import { invitationFor, invitationsOf } from './queries.ts';
import { looksLikeAddress } from './rules.ts';

const Level = () => Type.Enum([0, ...groupLevels]);
const Texts = (description: string) => optional(Type.Record(Type.String(), Type.String(), { description }));

const InvitationOutcome = resource('InvitationOutcome', {
  status: Type.Enum(['success', 'error']),
  // Always an object, even if all have the same reason: clients expect one.
  message: Texts('Reasons for failed invitations, by email address or username'),
  queued_users: Texts('Users whose role an administrator must approve first, by username'),
});

const Invitation = resource('Invitation', {
  id: Id,
  invite_email: Type.String(),
  created_at: Timestamp,
  access_level: Type.Integer(),
  expires_at: nullable(Timestamp),
  user_name: Type.Null({ description: 'Always null: a pending invitation has no user' }),
  created_by_name: nullable(Type.String()),
});

type InvitationRow = Awaited<ReturnType<typeof invitationFor>>;

const present = ({
  id,
  invite_email,
  created_at,
  access_level,
  expires_at,
  created_by_name,
}: InvitationRow): Static<typeof Invitation> => ({
  id,
  invite_email,
  created_at,
  access_level,
  expires_at,
  created_by_name,
  user_name: null,
});

interface InviteInput {
  email?: string[];
  user_id?: string[];
  access_level: number;
  expires_at?: string | null;
  member_role_id?: number | null;
}

async function answer({ plan }: Conditions, { change }: Changing<Granted>, input: InviteInput) {
  const { email: emails = [], user_id: user_ids = [], expires_at = null, ...grant } = input;
  if (emails.length === 0 && user_ids.length === 0)
    throw badRequest('400 Bad request - Must provide either email or user_id as a parameter');
  if (!emails.every(looksLikeAddress)) throw badParams('email contains an invalid email address');
  const withMinimal = reaches(plan, 'premium');
  const wanted = { emails, user_ids, expires_at, ...grant };
  const { refused, queued } = await change(async (tx, { source, actor }) => {
    if (source.kind === 'project' && grant.access_level === levels.owner && actor.access_level < levels.owner)
      throw forbidden();
    const locked = withMinimal && (await isLocked(tx, source));
    return invite(tx, source, actor, wanted, { withMinimal, locked });
  });
  return {
    status: refused.length === 0 ? ('success' as const) : ('error' as const),
    ...(refused.length === 0 ? {} : { message: Object.fromEntries(refused) }),
    ...(queued.length === 0 ? {} : { queued_users: Object.fromEntries(queued) }),
  };
}

function routesOf(kind: Source['kind']) {
  const base = `/${kind}s/:id/invitations`;
  const Noun = capitalized(kind);
  const manager = sourceFor(kind, managers);
  const changer = sourceFor(kind, changers);
  return [
    get(base, {
      operation: `list${Noun}Invitations`,
      summary: `List pending invitations to a ${kind}, oldest first`,
      access: manager,
      input: { query: optional(Type.String({ description: 'The full email address' })), ...paging },
      returns: pageOf(Invitation),
      handle: async ({ db, source, input }) => {
        const all = invitationsOf(db, source).orderBy('invitations.id');
        const page = await paginate(
          db,
          input.query ? all.where('invitations.invite_email', '=', input.query) : all,
          input,
        );
        return mapPage(page, present);
      },
    }),
    post(base, {
      operation: `create${Noun}Invitations`,
      summary: `Invite people to a ${kind} by email; existing users become members at once`,
      description:
        'At most 100 people at a time. An invitation can be accepted for 90 days; `message` gives the reason for everyone who was not invited.',
      access: changer,
      input: {
        email: optional(CommaList(Type.String({ description: 'Email addresses' }))),
        // As text, so that the reasons show an unknown ID as it was given.
        user_id: optional(CommaList(Type.String({ pattern: '^[+-]?\\d+$', description: 'IDs of users' }))),
        access_level: Level(),
        expires_at: optional(nullable(Timestamp)),
        invite_source: optional(Type.String({ description: 'Origin of the invitation; has no effect' })),
        member_role_id: RoleId(),
      },
      returns: one(InvitationOutcome),
      refusals: {
        400: ['400 Bad request - Must provide either email or user_id as a parameter'],
      },
      handle: ({ change, input, ...services }) => answer(services, { change }, input),
    }),
    put(`${base}/:email`, {
      operation: `update${Noun}Invitation`,
      summary: `Update a pending invitation to a ${kind}`,
      access: changer,
      input: {
        email: Type.String(),
        access_level: optional(Level()),
        member_role_id: RoleId(),
        expires_at: optional(checked(nullable(Timestamp), endReasonsOf)),
      },
      returns: one(Invitation),
      refusals: { 400: ['400 Bad request', '<parameter>: <reason>'] },
      handle: async ({ plan, change, input: { email, ...changes } }) => {
        if (Object.values(changes).every((value) => value === undefined))
          throw new ApiError(400, { message: '400 Bad request' });
        const withMinimal = reaches(plan, 'premium');
        return change(async (tx, { source, actor }) => {
          await changeInvitation(tx, source, actor, email, { ...changes, withMinimal });
          return present(await invitationFor(tx, source, email));
        });
      },
    }),
    del(`${base}/:email`, {
      operation: `revoke${Noun}Invitation`,
      summary: `Revoke a pending invitation to a ${kind}`,
      access: manager,
      input: { email: Type.String() },
      conditional: true,
      returns: nothing,
      refusals: { 409: '409 Conflict' },
      handle: ({ db, source, change, input: { email }, unmodified_since }) =>
        removeInvitation(db, source, change, { email, unmodified_since }),
    }),
  ];
}

export const invitationRoutes = [...routesOf('group'), ...routesOf('project')];
