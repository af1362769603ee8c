/** The kinds of replies. Each has the documented schema and, as its type, what the handler must return. */
import type { Readable } from 'node:stream';
import { type Static, type TSchema, Type } from 'typebox';

export type Headers = Record<string, string>;

/** A page of a list. */
export interface Page<T> {
  items: T[];
  page: number;
  per_page: number;
  /** Omitted if the list is not counted or is too long. */
  total?: number;
  /** Whether another page follows; known even where the total is not. */
  has_more: boolean;
  /** The end of a far page, for the link to the next one. */
  cursor?: string;
  /** For keyset pages only: the parameters of the next page; null on the last one. */
  next?: Record<string, string> | null;
}

export interface Returns<T> {
  kind: 'json' | 'page' | 'bytes' | 'nothing';
  /** The schema of the JSON body, if there is one. */
  schema?: TSchema;
  /** The schema of an item of a list that is sent while it is read. */
  item?: TSchema;
  /** The media types of a body that is not JSON. */
  media_types?: readonly string[];
  /** The endpoint's own headers with their meaning, besides those of every reply. */
  headers?: Record<string, string>;
  /** Success status; by default 201 for POST, 204 without body, else 200. */
  status?: number;
  /** Further success statuses with their meaning, for an endpoint whose outcome decides. */
  also?: Record<number, string>;
  /** The schema of this result, of several that are documented. */
  chosen?(result: T): TSchema;
  /** Splits the result of the handler into body and headers, and the status if the outcome decides it. */
  parts(result: T): { body: unknown; headers?: Headers; status?: number };
}

/** The last row of a list without a total that can be reached by page number. */
export const furthest = 50_000;

/** The refusal of a page by number too far behind the beginning of a list without a total. */
export const tooFar = `Offset pagination has a maximum allowed offset of ${furthest} for lists without a total. Follow the links to the next page instead.`;

/** One object. */
export const one = <S extends TSchema>(schema: S): Returns<Static<S>> => ({
  kind: 'json',
  schema,
  parts: (body) => ({ body }),
});

/** One page of a list: `mount` writes headers and links. */
export const pageOf = <S extends TSchema>(schema: S): Returns<Page<Static<S>>> => ({
  kind: 'page',
  schema: Type.Array(schema),
  parts: (page) => ({ body: page.items }),
});

/**
 * Like `pageOf`, for items that can be too large to be held in memory together: they are read while the client receives them. An error in between breaks off the
 * connection. Such a list has no ETag.
 */
export const streamedPageOf = <S extends TSchema>(
  schema: S,
): Returns<Omit<Page<Static<S>>, 'items'> & { items: AsyncIterable<Static<S>> }> => ({
  kind: 'page',
  schema: Type.Array(schema),
  item: schema,
  parts: (page) => ({ body: page.items }),
});

/** A page of a list whose items have one of several forms, all the same one. */
export interface FormedPage<T> extends Page<T> {
  /** The form of the items. */
  form: TSchema;
  headers?: Headers;
}

/**
 * A page of a list whose items have one of several forms.
 * @param headers names and meaning of the endpoint's own headers
 */
export const pageInOneOf = <S extends TSchema>(
  forms: readonly S[],
  headers: Headers,
): Returns<FormedPage<Static<S>>> => ({
  kind: 'page',
  schema: Type.Array(Type.Union([...forms])),
  headers,
  chosen: ({ form }) => Type.Array(form),
  parts: ({ items, headers: sent = {} }) => ({ body: items, headers: sent }),
});

/** A complete list, for the few that are not paginated (docs/api.md). */
export const listOf = <S extends TSchema>(schema: S): Returns<Static<S>[]> => ({
  kind: 'json',
  schema: Type.Array(schema),
  parts: (body) => ({ body }),
});

/** No body. */
export const nothing: Returns<void> = { kind: 'nothing', parts: () => ({ body: undefined }) };

/**
 * An object with headers of its own.
 * @param headers names and meaning of the headers, for the documentation
 */
export const withHeaders = <S extends TSchema>(
  schema: S,
  headers: Headers,
): Returns<{ body: Static<S>; headers: Headers }> => ({
  kind: 'json',
  schema,
  headers,
  parts: (result) => result,
});

/** Headers only, for HEAD. */
export const headersOnly = (headers: Headers): Returns<Headers> => ({
  kind: 'nothing',
  headers,
  status: 200,
  parts: (sent) => ({ body: undefined, headers: sent }),
});

/**
 * Bytes, from memory or as a stream; the handler returns `content-type` among the headers.
 * @param media_types the possible values of `content-type`, without parameters
 */
export const bytes = (
  media_types: readonly string[],
  headers: Headers = {},
): Returns<{ body: Buffer | Readable; headers: Headers }> => ({
  kind: 'bytes',
  media_types,
  headers,
  parts: (result) => result,
});

/** The bytes of a stored file, whole or in part, as `fileReply` makes them. */
export const storedFile = (
  media_types: readonly string[],
  headers: Headers = {},
): Returns<{ status: number; body: Readable | undefined; headers: Headers }> => ({
  kind: 'bytes',
  media_types,
  headers,
  also: { 206: 'The part that `Range` requests' },
  parts: (result) => result,
});

/** 202: the work continues in the background. */
export const accepted: Returns<void> = {
  kind: 'json',
  schema: Type.Object({ message: Type.String() }),
  status: 202,
  parts: () => ({ body: { message: '202 Accepted' } }),
};

/** `returns` with another success status. */
export const withStatus = <T>(status: number, returns: Returns<T>): Returns<T> => ({ ...returns, status });

/**
 * One object, with the usual status or another one.
 * @param also the other success statuses, with their meaning
 */
export const byOutcome = <S extends TSchema>(
  schema: S,
  also: Record<number, string>,
): Returns<{ body: Static<S>; status?: number }> => ({ kind: 'json', schema, also, parts: (result) => result });
