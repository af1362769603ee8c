/** Hooks: URLs that receive the events of a project, a group, or the server (docs/reference/hooks.md). */
import { type SqlBool, sql } from 'kysely';
import { Type } from 'typebox';
import { admin, type Owner, ownerRole } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  type Access,
  type AnyEndpoint,
  allOptional,
  type Caller,
  capitalized,
  del,
  deleteFound,
  get,
  Id,
  nothing,
  one,
  optional,
  pageOf,
  post,
  put,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { addHook, changeHook, refusedTexts, setEntry } from './actions.ts';
import type { Samples } from './definition.ts';
import {
  EntryValue,
  EventStatus,
  flags,
  given,
  HeaderKey,
  HookEvent,
  hookResources,
  Url,
  VariableKey,
} from './parameters.ts';
import { presentEvent, presentHook } from './present.ts';
import { hookOf, hooksOf } from './queries.ts';
import { maximumSystemHooks, type OwnerKind } from './rules.ts';
import { resendRoute, systemTestRoute, testRoute } from './test_routes.ts';

const ofInstance: Access<{ caller: Caller; owner: Owner }> = {
  ...admin,
  check: async (call) => ({ ...(await admin.check(call)), owner: { project_id: null, group_id: null } }),
};

const unusable = [refusedTexts.url, refusedTexts.filter];

/** The differences between the three kinds. */
function placeOf(kind: OwnerKind) {
  const base = kind === 'instance' ? '/hooks' : `/${kind}s/:id/hooks`;
  const Noun = kind === 'instance' ? 'System' : capitalized(kind);
  const of = kind === 'instance' ? 'the server' : `a ${kind}`;
  const access = kind === 'instance' ? ofInstance : ownerRole(kind, 'admin_web_hook', { archived: true });
  return { base, Noun, of, access, plan: kind === 'group' ? ({ plan: 'premium' } as const) : {} };
}

/** In the path of system hooks, the hook is `:id`. */
const idOf = (input: { hook_id?: number; id?: number }): number => (input.hook_id ?? input.id)!;

function hookRoutesOf(kind: OwnerKind): AnyEndpoint[] {
  const { base, Noun, of, access, plan } = placeOf(kind);
  const common = { access, ...plan };
  const name = kind === 'instance' ? 'id' : 'hook_id';
  const one_path = `${base}/:${name}`;
  const Hook = hookResources[kind];
  const which = { [name]: Id } as { hook_id?: typeof Id; id?: typeof Id };
  const fields = { ...given, ...allOptional(flags[kind]) };
  return [
    get(base, {
      operation: `list${Noun}Hooks`,
      summary: `List the webhooks of ${of}, oldest first`,
      ...common,
      input: paging,
      returns: pageOf(Hook),
      handle: async ({ db, secrets, owner, input }) =>
        mapPage(await paginate(db, hooksOf(db, owner), input), (row) => presentHook(secrets, flags[kind], row)),
    }),
    get(one_path, {
      operation: `get${Noun}Hook`,
      summary: `Show a webhook of ${of}`,
      ...common,
      input: which,
      returns: one(Hook),
      handle: async ({ db, secrets, owner, input }) =>
        presentHook(secrets, flags[kind], await hookOf(db, owner, idOf(input as { id?: number }))),
    }),
    post(base, {
      operation: `create${Noun}Hook`,
      summary: `Add a webhook to ${of}`,
      description:
        kind === 'instance'
          ? `There are at most ${maximumSystemHooks}.`
          : 'There are at most as many as the limits of the server say.',
      ...common,
      input: { url: Url, ...fields },
      returns: one(Hook),
      refusals: {
        400: [`base: ${refusedTexts.many(kind, '<number>')}`, `base: ${refusedTexts.custom}`],
        422: unusable,
      },
      handle: async ({ owner, input, ...services }) =>
        presentHook(services.secrets, flags[kind], await addHook(services, owner, input)),
    }),
    put(one_path, {
      operation: `update${Noun}Hook`,
      summary: `Update a webhook of ${of}`,
      description: 'With another address, it loses the secrets that are not given again.',
      ...common,
      input: { ...which, url: optional(Url), ...fields },
      returns: one(Hook),
      refusals: { 400: `base: ${refusedTexts.custom}`, 422: unusable },
      handle: async ({ owner, input, ...services }) => {
        const { hook_id, id, ...changes } = input as typeof input & { hook_id?: number; id?: number };
        return presentHook(services.secrets, flags[kind], await changeHook(services, owner, (hook_id ?? id)!, changes));
      },
    }),
    del(one_path, {
      operation: `delete${Noun}Hook`,
      summary: `Delete a webhook of ${of}, with its log`,
      ...common,
      input: which,
      returns: nothing,
      handle: async ({ db, owner, input }) => {
        const { id } = await hookOf(db, owner, idOf(input as { id?: number }));
        await deleteFound(db, 'hooks', id);
      },
    }),
    ...entryRoutesOf(kind),
  ];
}

/** The endpoints of single URL variables and custom headers. */
function entryRoutesOf(kind: OwnerKind): AnyEndpoint[] {
  const { base, Noun, of, access, plan } = placeOf(kind);
  return (['url_variables', 'custom_headers'] as const).flatMap((entries) => {
    const path = `${base}/:hook_id/${entries}/:key`;
    const what = entries === 'url_variables' ? 'URL variable' : 'custom header';
    const Entry = `${Noun}Hook${entries === 'url_variables' ? 'UrlVariable' : 'CustomHeader'}`;
    return [
      put(path, {
        operation: `set${Entry}`,
        summary: `Set a ${what} of a webhook of ${of}`,
        access,
        ...plan,
        input: { hook_id: Id, key: entries === 'url_variables' ? VariableKey : HeaderKey, value: EntryValue },
        returns: nothing,
        refusals:
          entries === 'url_variables'
            ? { 400: `base: ${refusedTexts.custom}`, 422: refusedTexts.url }
            : { 400: `base: ${refusedTexts.custom}` },
        handle: ({ owner, input: { hook_id, key, value }, ...services }) =>
          setEntry(services, owner, hook_id, { of: entries, key, value }),
      }),
      del(path, {
        operation: `delete${Entry}`,
        summary: `Delete a ${what} of a webhook of ${of}`,
        access,
        ...plan,
        input: { hook_id: Id, key: Type.String() },
        returns: nothing,
        ...(entries === 'url_variables' ? { refusals: { 422: refusedTexts.variable } } : {}),
        handle: ({ owner, input: { hook_id, key }, ...services }) =>
          setEntry(services, owner, hook_id, { of: entries, key, value: null }),
      }),
    ];
  });
}

/** Longer bodies are not shown in lists. */
const maximumShown_bytes = 100 * 1024;

const statusClasses: Record<string, [number, number]> = {
  successful: [200, 299],
  client_failure: [400, 499],
  server_failure: [500, 599],
};

const eventsOf = (db: Database, hook_id: number) =>
  db
    .selectFrom('hook_deliveries')
    .select([
      'id',
      'url',
      'request_headers',
      'response_status',
      'response_headers',
      'response_body',
      'execution_duration',
    ])
    .select((q) => [
      q
        .selectFrom('hook_events')
        .select('trigger')
        .whereRef('id', '=', 'event_id')
        .$asScalar()
        .$notNull()
        .as('trigger'),
      q
        .selectFrom('hook_events')
        .select('body')
        .whereRef('id', '=', 'event_id')
        .where(sql<SqlBool>`octet_length(body) <= ${sql.lit(maximumShown_bytes)}`)
        .$asScalar()
        .as('body'),
    ])
    .where('hook_id', '=', hook_id)
    .where('due_at', 'is', null)
    .orderBy('hook_id')
    .orderBy('id', 'desc');

function eventRoutesOf(kind: 'project' | 'group'): AnyEndpoint[] {
  const { base, Noun, of, access, plan } = placeOf(kind);
  return [
    get(`${base}/:hook_id/events`, {
      operation: `list${Noun}HookEvents`,
      summary: `List the deliveries to a webhook of ${of} in the last seven days, newest first`,
      access,
      ...plan,
      input: { hook_id: Id, status: EventStatus, ...paging },
      returns: pageOf(HookEvent),
      handle: async ({ db, owner, input }) => {
        const { id } = await hookOf(db, owner, input.hook_id);
        const status = input.status === undefined ? undefined : String(input.status);
        const [from, to] = (status && statusClasses[status]) || [Number(status), Number(status)];
        const all = eventsOf(db, id);
        const some =
          status === undefined ? all : all.where('response_status', '>=', from).where('response_status', '<=', to);
        return mapPage(await paginate(db, some, input), presentEvent);
      },
    }),
    resendRoute(placeOf(kind)),
  ];
}

/** @param samples the events with which hooks are tested */
export const hookRoutes = (samples: Samples): AnyEndpoint[] => [
  ...hookRoutesOf('project'),
  ...eventRoutesOf('project'),
  testRoute('project', placeOf('project'), samples),
  ...hookRoutesOf('group'),
  ...eventRoutesOf('group'),
  testRoute('group', placeOf('group'), samples),
  ...hookRoutesOf('instance'),
  systemTestRoute(placeOf('instance')),
];
