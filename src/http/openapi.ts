/** The OpenAPI 3.1 document, generated from the declarations of the endpoints and of the events for webhooks. */
import { type TProperties, Type } from 'typebox';
import type { HookEventKind } from '../services/index.ts';
import type { DescribedDoor } from './door.ts';
import { type AnyEndpoint, type FiledEndpoint, isReading, servesAnonymous, type Tag } from './endpoint.ts';
import type { Values } from './form.ts';
import { apiRoot, statusOf } from './mount.ts';
import { pathParameters } from './perform.ts';
import { refusalSchema, refusalsOf, sharedRefusals } from './refusals.ts';
import { scopesFor } from './scopes.ts';
import { type Marked, marks } from './types.ts';

type Json = Values &
  Marked & { title?: string; properties?: Record<string, Json>; required?: string[]; items?: Json; anyOf?: Json[] };

const bodyTypes = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'];

/** Copies a schema, moves each named shape to the components, and describes in words the marks that only our parser uses. */
function describe(schema: Json, shapes: Map<string, unknown>): Values {
  const { title, properties, items, anyOf, ...rest } = schema;
  const described: Values = { ...rest };
  if (properties)
    described.properties = Object.fromEntries(
      Object.entries(properties).map(([name, member]) => [name, describe(member, shapes)]),
    );
  // Members that need a plan are not always present.
  if (properties && rest.required)
    described.required = rest.required.filter((name) => !properties[name]?.[marks]?.plan);
  if (items) described.items = describe(items, shapes);
  if (anyOf) described.anyOf = anyOf.map((member) => describe(member, shapes));
  const { plan, valuePlans } = schema[marks] ?? {};
  if (plan) described['x-plan'] = plan;
  if (valuePlans) described['x-plan-of-values'] = valuePlans;
  if (title === undefined) return described;
  shapes.set(title, described);
  return { $ref: `#/components/schemas/${title}` };
}

function parameters(endpoint: AnyEndpoint, shapes: Map<string, unknown>): unknown[] {
  const input = (endpoint.input ?? {}) as TProperties;
  const inPath = pathParameters(endpoint.path);
  const fromPath = inPath.map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: describe((input[name] ?? idOrPath(name)) as Json, shapes),
  }));
  if (!isReading(endpoint.method)) return [...fromPath, ...(endpoint.conditional ? [unmodifiedSince] : [])];
  const required = new Set((Type.Object(input) as { required?: string[] }).required);
  const fromQuery = Object.entries(input)
    .filter(([name]) => !inPath.includes(name))
    .map(([name, schema]) => {
      const { type, default: fallback, deprecated } = schema as Values;
      const isArray = type === 'array';
      return {
        name: isArray ? `${name}[]` : name,
        in: 'query',
        ...(required.has(name) && fallback === undefined ? { required: true } : {}),
        ...(deprecated ? { deprecated } : {}),
        ...(type === 'object' ? { style: 'deepObject', explode: true } : {}),
        schema: describe(schema as Json, shapes),
      };
    });
  return [...fromPath, ...fromQuery];
}

/** The header of an endpoint that is conditional. */
const unmodifiedSince = {
  name: 'If-Unmodified-Since',
  in: 'header',
  description: 'Answer 412 when the resource has changed since this time',
  schema: { type: 'string' },
};

const idOrPath = (name: string) =>
  Type.Union([Type.Integer(), Type.String()], {
    description: name === 'id' ? 'Id, or URL-encoded full path' : 'Id or name',
  });

function requestBody(endpoint: AnyEndpoint, shapes: Map<string, unknown>): Values {
  if (isReading(endpoint.method)) return {};
  const inPath = pathParameters(endpoint.path);
  const members = Object.fromEntries(
    Object.entries((endpoint.input ?? {}) as TProperties).filter(([name]) => !inPath.includes(name)),
  );
  if (Object.keys(members).length === 0) return {};
  const schema = describe(Type.Object(members) as unknown as Json, shapes);
  return { requestBody: { content: Object.fromEntries(bodyTypes.map((type) => [type, { schema }])) } };
}

function responses(endpoint: AnyEndpoint, shapes: Map<string, unknown>): Values {
  const { returns } = endpoint;
  const content =
    returns.media_types !== undefined
      ? { content: Object.fromEntries(returns.media_types.map((type) => [type, {}])) }
      : returns.schema
        ? { content: { 'application/json': { schema: describe(returns.schema as unknown as Json, shapes) } } }
        : {};
  const headers = returns.headers && {
    headers: Object.fromEntries(
      Object.entries(returns.headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
    ),
  };
  return {
    [String(statusOf(endpoint.method, returns))]: { description: 'Success', ...headers, ...content },
    ...Object.fromEntries(
      Object.entries(returns.also ?? {}).map(([status, description]) => [status, { description, ...content }]),
    ),
    ...(isReading(endpoint.method) && returns.schema ? { 304: { $ref: '#/components/responses/NotModified' } } : {}),
    ...refusalsOf(endpoint),
    '5XX': { $ref: '#/components/responses/Failed' },
  };
}

/** Replies of many operations, by their names in the components of the document. */
export const sharedReplies = {
  NotModified: { description: 'The client has it already, as `If-None-Match` says; without a body' },
  ...sharedRefusals,
};

/** Describes rules for callers that have no member in the document. */
function describedLimits({
  description,
  access,
  plan,
  offerings,
  rate,
  alias_of,
  deploy_tokens,
  ...endpoint
}: AnyEndpoint): string {
  const scopes = scopesFor(endpoint);
  const limits = [
    alias_of && `Another address of \`${alias_of}\`.`,
    `Access: ${access.rule}.`,
    scopes ? `Token scope: ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.` : 'Any token will do.',
    deploy_tokens && 'Deploy tokens are accepted.',
    plan && `Plan: ${plan}${plan === 'ultimate' ? '' : ' or above'}.`,
    offerings && `Only on servers that are ${offerings.join(' or ')}.`,
    rate && `At most \`${rate.setting}\` calls of one caller in ${rate.window_s} seconds.`,
  ].filter(Boolean);
  return [description, limits.join(' ')].filter(Boolean).join('\n\n');
}

function operation(endpoint: FiledEndpoint, shapes: Map<string, unknown>): Values {
  const { summary, access, plan, offerings, rate, throttle, alias_of, deprecated, tag } = endpoint;
  const scopes = scopesFor(endpoint);
  return {
    operationId: endpoint.operation,
    summary,
    description: describedLimits(endpoint),
    tags: [tag.name],
    ...(deprecated ? { deprecated } : {}),
    'x-access': access.rule,
    ...(scopes ? { 'x-scopes': scopes } : {}),
    ...(plan ? { 'x-plan': plan } : {}),
    ...(offerings ? { 'x-offerings': offerings } : {}),
    ...(rate ? { 'x-rate-limit': rate.setting } : {}),
    ...(throttle ? { 'x-throttle': throttle } : {}),
    ...(alias_of ? { 'x-alias-of': alias_of } : {}),
    ...(servesAnonymous(endpoint) ? { security: [{}, { token: [] }] } : {}),
    parameters: parameters(endpoint, shapes),
    ...requestBody(endpoint, shapes),
    responses: responses(endpoint, shapes),
  };
}

/** The requests and replies of a door follow its protocol, which has no schema here. */
function doorOperation({ path, description: door }: DescribedDoor): Values {
  const { operation, summary, description, tag, offerings, body_types, needs_token, responses } = door;
  const { text_parameters = [], query_parameters = [] } = door;
  const typeOf = (name: string) => (text_parameters.includes(name) ? 'string' : 'integer');
  return {
    operationId: operation,
    summary,
    description,
    tags: [tag],
    ...(offerings ? { 'x-offerings': offerings } : {}),
    ...(needs_token ? {} : { security: [] }),
    parameters: [
      ...pathParameters(path).map((name) => ({ name, in: 'path', required: true, schema: { type: typeOf(name) } })),
      ...query_parameters.map((name) => ({ name, in: 'query', schema: { type: 'string' } })),
    ],
    ...(body_types.length > 0
      ? { requestBody: { content: Object.fromEntries(body_types.map((type) => [type, {}])) } }
      : {}),
    responses: {
      ...Object.fromEntries(
        Object.entries(responses).map(([status, text]) => [
          status,
          { description: text, ...(['204', '304'].includes(status) ? {} : { content: { 'application/json': {} } }) },
        ]),
      ),
      '5XX': { $ref: '#/components/responses/Failed' },
    },
  };
}

/** What a hook receives: a request that this server makes. */
const webhook = ({ summary, triggers, body }: HookEventKind, shapes: Map<string, unknown>): Values => ({
  post: {
    summary,
    tags: ['Webhooks'],
    'x-triggers': triggers,
    security: [],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: describe(body as unknown as Json, shapes) } },
    },
    responses: { '2XX': { description: 'The delivery is a success' } },
  },
});

/** What the document describes. */
export interface Documented {
  /** All endpoints, in the order of their tags. */
  endpoints: readonly FiledEndpoint[];
  doors: readonly DescribedDoor[];
  hook_events: readonly HookEventKind[];
}

/** The path of an endpoint or door as the document writes it, with its parameters in braces. */
export const documentPath = (path: string): string => path.replaceAll(/[:*](\w+)/g, '{$1}');

/**
 * Generates the document.
 * @returns a plain object, ready for JSON
 */
export function openApiDocument({ endpoints, doors, hook_events }: Documented): Values {
  const shapes = new Map<string, unknown>([['Refusal', refusalSchema]]);
  const paths: Record<string, Values> = {};
  for (const endpoint of endpoints) {
    const path = documentPath(endpoint.path);
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation(endpoint, shapes) };
  }
  for (const door of doors) {
    const path = documentPath(door.path);
    const servers = door.root === undefined ? {} : { servers: [{ url: door.root }] };
    paths[path] = { ...paths[path], ...servers, [door.method.toLowerCase()]: doorOperation(door) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Coppice', version: 'v4', description: 'REST API of Coppice.' },
    servers: [{ url: apiRoot }],
    security: [{ token: [] }],
    tags: [...new Set<Tag>(endpoints.map(({ tag }) => tag))],
    paths,
    webhooks: Object.fromEntries(hook_events.map((event) => [event.name, webhook(event, shapes)])),
    components: {
      securitySchemes: { token: { type: 'apiKey', in: 'header', name: 'PRIVATE-TOKEN' } },
      responses: sharedReplies,
      schemas: Object.fromEntries([...shapes].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}
