/** The refusals of an endpoint for the OpenAPI document: the ones that its declarations imply, and its declared ones. */
import { type AnyEndpoint, isReading, type Refusals, servesAnonymous } from './endpoint.ts';
import { tooFar } from './reply.ts';

/** The form of all refusals. */
export const refusalSchema = {
  type: 'object',
  required: ['message'],
  properties: {
    message: {
      description: 'A sentence, a list of sentences, reasons by field, or of boards a sentence as `error`',
      anyOf: [
        { type: 'string' },
        { type: 'array', items: { type: 'string' } },
        { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } },
        { type: 'object', required: ['error'], properties: { error: { type: 'string' } }, additionalProperties: false },
      ],
    },
    error: { type: 'string' },
  },
};
const content = { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } };

/** Refusals of many endpoints, by their names in the components of the document. */
const shared = {
  Failed:
    'The server failed, or cannot answer at the moment: its database is away, its disk is full, or the client has too many requests open',
  Moved: 'The project has moved; `Location` is the same call by its id',
  BadParameters:
    'A parameter is missing or invalid, or the request cannot be read; `message` names everything that is wrong',
  Unauthorized: 'No credential, or one that is unknown, revoked or expired',
  BadCredential: 'The credential is unknown, revoked or expired; without one, the call is served',
  Forbidden: 'The access rule, the plan or the scopes of the token do not admit the caller',
  NotFound: 'Something that the path names does not exist, or is hidden from the caller',
  Changed: 'What was to be removed has changed since: `412 Precondition Failed`',
  TooFar: `A page by number is too far behind the beginning of a list without a total: \`${tooFar}\``,
  NotForMoved:
    'The project has moved, so that only its id or new path names it: `Non GET methods are not allowed for moved projects`',
  TooSlow: 'The body arrived too slowly: `408 Request Timeout`',
  TooLarge: 'The body or its file is too large: `413 Request Entity Too Large`',
  TooLong: 'The project has moved, and its new address would be too long: `414 URI Too Long`',
  OtherType: 'The body has a content type that is not read here',
  TooManyRequests: 'Called too often; `Retry-After` says when to call again',
} as const;

/** The components of the document that `refusalsOf` refers to. */
export const sharedRefusals = Object.fromEntries(
  Object.entries(shared).map(([name, description]) => [
    name,
    { description, content: name === 'Moved' ? { 'text/plain': { schema: { type: 'string' } } } : content },
  ]),
);

const hasCursors = ({ returns, input = {} }: AnyEndpoint) => returns.kind === 'page' && 'cursor' in input;

/** The refusals that the declarations of an endpoint imply. */
function impliedBy(endpoint: AnyEndpoint): { [status: number]: keyof typeof shared | undefined } {
  const { path, conditional, method } = endpoint;
  const reads = isReading(method);
  const mayHaveMoved = path.startsWith('/projects/:id');
  return {
    ...(mayHaveMoved && reads ? { 301: 'Moved' } : {}),
    400: 'BadParameters',
    401: servesAnonymous(endpoint) ? 'BadCredential' : 'Unauthorized',
    403: 'Forbidden',
    ...(path.includes(':') ? { 404: 'NotFound' } : {}),
    ...(mayHaveMoved && !reads ? { 405: 'NotForMoved' } : {}),
    ...(hasCursors(endpoint) ? { 405: 'TooFar' } : {}),
    ...(reads ? {} : { 408: 'TooSlow' }),
    ...(conditional ? { 412: 'Changed' } : {}),
    ...(reads ? {} : { 413: 'TooLarge', 415: 'OtherType' }),
    ...(mayHaveMoved && reads ? { 414: 'TooLong' } : {}),
    429: 'TooManyRequests',
  };
}

/** The texts of declared refusals of one status. */
const textsOf = (refusals: Refusals | undefined, status: number): readonly string[] =>
  [refusals?.[status] ?? []].flat();

/** The responses of the document for all refusals of an endpoint. */
export function refusalsOf(endpoint: AnyEndpoint): Record<string, object> {
  const implied = impliedBy(endpoint);
  const statuses = new Set([...Object.keys(implied), ...Object.keys(endpoint.refusals ?? {})].map(Number));
  return Object.fromEntries(
    [...statuses].map((status) => {
      const name = implied[status];
      const texts = textsOf(endpoint.refusals, status);
      if (texts.length === 0) return [status, { $ref: `#/components/responses/${name}` }];
      if (status === 304) return [status, { description: texts.join('; ') }];
      const description = [...(name ? [shared[name]] : []), ...texts.map((text) => `\`${text}\``)].join('; ');
      return [status, { description, content }];
    }),
  );
}
