/** Errors that are part of the API: a status and a JSON body that always has `message` (docs/api.md). */

/** The message of a refusal: a sentence, a list of sentences, reasons by field, or a sentence as `error`. Nothing else compiles, so clients need to handle only these. */
export interface RefusalBody {
  message: string | readonly string[] | Record<string, readonly string[]> | SentenceAsError;
  /** Some endpoints have further members. */
  [member: string]: unknown;
}

/** The format in which the boards of v4 refuse. */
interface SentenceAsError {
  readonly error: string;
}

/** Why fields were refused. */
export type Reasons = Readonly<Record<string, readonly string[]>>;

export class ApiError extends Error {
  readonly status: number;
  readonly body: RefusalBody;
  readonly headers: Record<string, string>;
  /** The reasons by field of a refusal whose message joins them into one text. They are for pages, and not sent. */
  reasons: Reasons | undefined;
  constructor(status: number, body: RefusalBody, headers: Record<string, string> = {}) {
    super(JSON.stringify(body));
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** The project or group in the request path has moved. Access rules that read the path from the second segment throw it; `mount` and pages handle it (docs/api.md). */
export class Moved extends ApiError {
  readonly path: string;
  readonly kind: 'project' | 'group';
  /** @param id of the project or group */
  constructor(kind: 'project' | 'group', id: number) {
    super(405, { message: `Non GET methods are not allowed for moved ${kind}s` });
    this.kind = kind;
    this.path = `/${kind}s/${id}`;
  }
}

/** The refusal of an access rule that is checked again during a change. The rule implies it, so no endpoint declares it. */
export class RefusedAgain extends ApiError {
  constructor({ status, body, headers }: ApiError) {
    super(status, body, headers);
  }
}

/** 401 for a missing or unknown credential. */
export const unauthorized = () => new ApiError(401, { message: '401 Unauthorized' });

/** 401 in the OAuth format: `description` explains the problem with the token. */
export const invalidToken = (description: string) =>
  new ApiError(
    401,
    { error: 'invalid_token', error_description: description, message: description },
    {
      'www-authenticate': `Bearer realm="Protected by OAuth 2.0", error="invalid_token", error_description="${description}"`,
    },
  );

/** 403 for a token that has none of `scopes`, any of which would be enough. */
export const insufficientScope = (scopes: readonly string[]) =>
  new ApiError(403, {
    error: 'insufficient_scope',
    error_description: 'The request requires higher privileges than provided by the access token.',
    scope: scopes.join(' '),
    message: '403 Forbidden - insufficient_scope',
  });

/** 403; with a reason `403 Forbidden - <reason>`. */
export const forbidden = (reason?: string) =>
  new ApiError(403, { message: reason === undefined ? '403 Forbidden' : `403 Forbidden - ${reason}` });

/** 404 that names the missing object; without a name, the form of a plain record lookup, `404 Not found`. */
export const notFound = (what?: string) =>
  new ApiError(404, { message: what === undefined ? '404 Not found' : `404 ${what} Not Found` });

/** 400 of a failed model validation: reasons by field. */
export const invalid = (fields: Record<string, string[]>) => new ApiError(400, { message: fields });

/**
 * 400 of a failed model validation, in the form of those endpoints of v4 that answer with a sentence: `<text> {:path=>["has already been taken"]}`.
 * @param text names the failure, e.g. `Failed to save group`
 */
export function invalidAs(text: string, fields: Record<string, string[]>): ApiError {
  const entries = Object.entries(fields).map(([field, reasons]) => {
    const key = /^\w+$/.test(field) ? `:${field}` : `:${JSON.stringify(field)}`;
    return `${key}=>[${reasons.map((reason) => JSON.stringify(reason)).join(', ')}]`;
  });
  return withReasons(badRequest(`${text} {${entries.join(', ')}}`), fields);
}

/** A refusal that also tells which fields its text concerns. */
export function withReasons(refusal: ApiError, reasons: Reasons): ApiError {
  refusal.reasons = reasons;
  return refusal;
}

/** The text for a body that does not match its headers. */
export const mismatch = 'message body does not match declared format';

/** 503 of a request that got no place, or waited too long for one. It has had no effect. */
export const tooBusy = () =>
  new ApiError(503, { message: '503 Service Unavailable - The server is too busy' }, { 'retry-after': '1' });

/** 400 of a failed parameter check; clients read `error`, the specification asks for `message`, so both carry the text. */
export const badParams = (text: string) => new ApiError(400, { message: text, error: text });

/** 400 of one parameter that could not be read. @param reason without its name, e.g. `is invalid` */
export const badParam = (name: string, reason: string) =>
  withReasons(badParams(`${name} ${reason}`), { [name]: [reason] });

/** 400 with a sentence. */
export const badRequest = (text: string) => new ApiError(400, { message: text });

/** 400 with a sentence as `error` in the message, as the boards of v4 have it. */
export const badRequestAsError = (error: string) => new ApiError(400, { message: { error } });

/** 409 with a sentence. */
export const conflict = (text: string) => new ApiError(409, { message: text });

/** 405 with the text of the reference. */
export const notAllowed = (text = '405 Method Not Allowed') => new ApiError(405, { message: text });

/** 422 with a sentence. */
export const unprocessable = (text: string) => new ApiError(422, { message: text });

/** `{name: ["can't be blank"], …}` as one sentence: `Name can't be blank, …, and …` (docs/api.md). */
export function sentenceOf(fields: Record<string, readonly string[]>): string {
  const parts = Object.entries(fields).flatMap(([field, reasons]) => {
    const name = field.charAt(0).toUpperCase() + field.slice(1).replaceAll('_', ' ');
    return reasons.map((reason) => `${name} ${reason}`);
  });
  if (parts.length < 3) return parts.join(' and ');
  return `${parts.slice(0, -1).join(', ')}, and ${parts.at(-1)}`;
}

/** 304: nothing changed. The text is for logs only, because a 304 has no body. */
export const notModified = () => new ApiError(304, { message: '304 Not Modified' });

/** The reasons of a refusal by field; none if it has only a sentence. */
export function reasonsOf({ body: { message }, reasons = {} }: ApiError): Reasons {
  return typeof message === 'string' || isList(message) || isSentence(message) ? reasons : message;
}

/** The message of a refusal as one sentence. */
export const textOf = ({ body: { message } }: ApiError): string => {
  if (typeof message === 'string') return message;
  if (isSentence(message)) return message.error;
  return isList(message) ? message.join('; ') : sentenceOf(message);
};

/** `Array.isArray` does not narrow read-only lists. */
const isList = (message: Exclude<RefusalBody['message'], string>): message is readonly string[] =>
  Array.isArray(message);

const isSentence = (message: Exclude<RefusalBody['message'], string>): message is SentenceAsError =>
  'error' in message && typeof message.error === 'string';

/**
 * Returns the row, or throws the 404 that names it.
 * @throws ApiError 404, `404 <what> Not Found`, or `404 Not found` if `what` is undefined.
 */
export function found<T>(what: string | undefined, row: T | undefined): T {
  if (row === undefined) throw notFound(what);
  return row;
}

/**
 * Refuses to delete an object that has changed since the caller last read it.
 * @param updated_at when it last changed, ISO 8601
 * @param unmodified_since the caller's `If-Unmodified-Since`, which counts whole seconds
 * @throws ApiError 412
 */
export function checkUnmodified(updated_at: string, unmodified_since: Date | undefined): void {
  if (unmodified_since && Math.floor(Date.parse(updated_at) / 1000) * 1000 > unmodified_since.getTime())
    throw new ApiError(412, { message: '412 Precondition Failed' });
}
