/** Streaming destinations of audit events: addresses that are sent each event (docs/reference/audit_events.md#streaming). */
import { Type } from 'typebox';
import { admin, type Group, groupRole, type Owner } from '../../../access/index.ts';
import {
  type Access,
  type AnyEndpoint,
  allOptional,
  type Caller,
  CommaList,
  checked,
  del,
  deleteFound,
  found,
  get,
  Id,
  invalid,
  nothing,
  one,
  optional,
  pageOf,
  post,
  put,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { refusedTexts } from '../hooks/actions.ts';
import { CustomHeaders, SigningToken, Url } from '../hooks/parameters.ts';
import { destinationsOf } from '../hooks/queries.ts';
import { addDestination, changeDestination, tooManyText } from './actions.ts';
import { presentDestination, StreamingDestination } from './present.ts';
import { filterReasons, nameReasons, verificationReasons } from './rules.ts';

const ofServer: Access<{ caller: Caller; owner: Owner }> = {
  ...admin,
  check: async (call) => ({ ...(await admin.check(call)), owner: { project_id: null, group_id: null } }),
};

const notTopLevel = 'is only for top-level groups';

/** Grants owners of a top-level group. */
const ofGroup: Access<{ caller: Caller; group: Group; owner: Owner }> = {
  rule: 'group:owner',
  async check(call) {
    const granted = await groupRole('owner').check(call);
    if (granted.group.parent_id !== null) throw invalid({ group: [notTopLevel] });
    return { ...granted, owner: { project_id: null, group_id: granted.group.id } };
  },
};

const fields = allOptional({
  name: checked(Type.String({ description: 'At most 72 characters; by default one is made up' }), nameReasons),
  /** Names of the events that are sent; none for all. */
  event_type_filters: checked(CommaList(Type.String()), filterReasons),
  active: Type.Boolean({ description: 'Whether events are sent; `true` also enables it after failures' }),
  custom_headers: CustomHeaders,
  verification_token: checked(
    Type.String({ description: '16 to 24 characters, sent with each event; by default one is made up' }),
    verificationReasons,
  ),
  signing_token: SigningToken,
});

const custom = `base: ${refusedTexts.custom}`;

function routesOf(kind: 'instance' | 'group'): AnyEndpoint[] {
  const isGroup = kind === 'group';
  const base = `${isGroup ? '/groups/:id' : ''}/audit_event_streaming_destinations`;
  const one_path = `${base}/:${isGroup ? 'destination_id' : 'id'}`;
  const Noun = `${isGroup ? 'Group' : ''}AuditEventStreamingDestination`;
  const of = isGroup ? 'a top-level group' : 'the server';
  const common = { access: isGroup ? ofGroup : ofServer, plan: 'ultimate' } as const;
  const top = isGroup ? [`group: ${notTopLevel}`] : [];
  const refusals = isGroup ? { refusals: { 400: top } } : {};
  const which = { [isGroup ? 'destination_id' : 'id']: Id } as { destination_id?: typeof Id; id?: typeof Id };
  const idOf = (input: object): number => {
    const { destination_id, id } = input as { destination_id?: number; id?: number };
    return (destination_id ?? id)!;
  };
  return [
    get(base, {
      operation: `list${Noun}s`,
      summary: `List the streaming destinations of the audit events of ${of}, oldest first`,
      ...common,
      ...refusals,
      input: paging,
      returns: pageOf(StreamingDestination),
      handle: async ({ db, secrets, owner, input }) =>
        mapPage(await paginate(db, destinationsOf(db, owner), input), (row) => presentDestination(secrets, row)),
    }),
    get(one_path, {
      operation: `get${Noun}`,
      summary: `Get a streaming destination of the audit events of ${of}`,
      ...common,
      ...refusals,
      input: which,
      returns: one(StreamingDestination),
      handle: async ({ db, secrets, owner, input }) => {
        const row = await destinationsOf(db, owner).where('id', '=', idOf(input)).executeTakeFirst();
        return presentDestination(secrets, found(undefined, row));
      },
    }),
    post(base, {
      operation: `create${Noun}`,
      summary: `Add a streaming destination of the audit events of ${of}`,
      description: isGroup
        ? 'It is sent the events of the group and of everything below it.'
        : 'It is sent all events.',
      ...common,
      input: { destination_url: Url, ...fields },
      returns: one(StreamingDestination),
      refusals: { 400: [...top, `base: ${tooManyText}`, custom], 422: refusedTexts.url },
      handle: async ({ owner, input, ...services }) =>
        presentDestination(services.secrets, await addDestination(services, owner, input)),
    }),
    put(one_path, {
      operation: `update${Noun}`,
      summary: `Update a streaming destination of the audit events of ${of}`,
      description: 'With another address, it loses the headers and the signing token that are not given again.',
      ...common,
      input: { ...which, destination_url: optional(Url), ...fields },
      returns: one(StreamingDestination),
      refusals: { 400: [...top, custom], 422: refusedTexts.url },
      handle: async ({ owner, input, ...services }) => {
        const { destination_id: _, id: __, ...changes } = input as typeof input & { destination_id?: number };
        return presentDestination(services.secrets, await changeDestination(services, owner, idOf(input), changes));
      },
    }),
    del(one_path, {
      operation: `delete${Noun}`,
      summary: `Delete a streaming destination of the audit events of ${of}, with what waits for it`,
      ...common,
      ...refusals,
      input: which,
      returns: nothing,
      handle: async ({ db, owner, input }) => {
        const row = await destinationsOf(db, owner).where('id', '=', idOf(input)).executeTakeFirst();
        await deleteFound(db, 'hooks', found(undefined, row).id);
      },
    }),
  ];
}

export const streamingDestinationRoutes = [...routesOf('instance'), ...routesOf('group')];
