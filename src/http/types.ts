/** The types of values in requests and replies, as TypeBox schemas, and the marks that only our parser uses. */
import { type Static, type TOptional, type TProperties, type TSchema, Type } from 'typebox';
import { maximumIid } from './ids.ts';
import type { Plan } from './plans.ts';
import type { UploadedFile } from './uploaded_file.ts';

/** The member with the marks of a schema. A symbol, because they are for `input.ts` and `serialise.ts` and not part of the OpenAPI document. */
export const marks: unique symbol = Symbol('marks');

/** The largest file that a parameter takes. An application setting has it in MiB. */
export type FileLimit = { at_most_bytes: number } | { at_most_mib_setting: 'max_attachment_size' };

/** A file parameter: its limit, and the kind of its blob. */
export type FileMark = FileLimit & { kind: string };

export interface Marks {
  /** Reasons why a value that has the right type is refused, reported by field: `{message: {field: [reasons]}}`. */
  reasons?: (value: never) => string[];
  /** The text after the parameter's name for a refused value; by default `is invalid`. */
  refusal?: string;
  /** `x is empty` for blank text. */
  notBlank?: true;
  /** `x is empty` for null and empty text of an optional parameter. */
  notEmpty?: true;
  /** Blank text counts as omitted. */
  blankIsLeftOut?: true;
  /** The text after the parameter's name if it is omitted, blank or an empty list; by default `is missing` or `is empty`. */
  absence?: string;
  /** An integer is an id: one beyond this number is read as one that no row has. */
  largest_id?: number;
  /** A text of digits is an id. */
  idOrName?: true;
  /** A comma-separated text is accepted as the array. */
  comma?: true;
  /** Null is read as the empty list. */
  nullIsEmpty?: true;
  /** Bytes that are sent as Base64. */
  base64?: true;
  /** NUL and lone surrogates are allowed, because the value is not stored in the database. */
  anyText?: true;
  /** Text of up to a million characters, which needs a larger body. */
  long?: true;
  /** The name of the parameter that is read instead when this one is omitted. */
  also_as?: string;
  /** Any JSON, unchanged. */
  json?: true;
  /** A file of a multipart body. */
  file?: FileMark;
  /** How pages show a member of a reply: as Markdown, as a link, or not at all. By default as text. */
  shown?: 'markdown' | 'link' | 'never';
  /** The plan from which a parameter is read or a field is sent. */
  plan?: Plan;
  /** The plans that single values of a filter require. */
  valuePlans?: Readonly<Record<string, Plan>>;
}

export interface Marked {
  [marks]?: Marks;
}

const marked = <S extends TSchema>(schema: S, more: Marks): S =>
  Object.assign(schema, { [marks]: { ...(schema as Marked)[marks], ...more } });

/** The id of a row. Any integer is well formed; one that no row has, or can have, is a 404, not a 400. */
export const IdOf = (options = {}) => marked(Type.Integer(options), { largest_id: Number.MAX_SAFE_INTEGER });
export const Id = IdOf();
/** The number of a row within its parent, such as the number of an issue in its project; like an id. */
export const Iid = marked(Type.Integer(), { largest_id: maximumIid });
/** A text in Markdown. */
export const Markdown = (options = {}) => marked(Type.String(options), { shown: 'markdown' });
/** The address of a page or file, which pages show as a link. */
export const Address = (options = {}) => marked(Type.String(options), { shown: 'link' });
/** A member that is of use to programs alone. */
export const forPrograms = <S extends TSchema>(schema: S): S => marked(schema, { shown: 'never' });
/** An id, or the name or path of the same object: digits are read as an id. */
export const IdOrName = (description: string, more: Pick<Marks, 'notBlank'> = {}) =>
  marked(Type.Unsafe<number | string>({ type: 'string', description }), { idOrName: true, ...more });
/** A moment: `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
export const Timestamp = Type.String({ format: 'date-time' });
/** A day, `YYYY-MM-DD`. */
export const DateOnly = Type.String({ format: 'date' });
/** An access level that a member can have (docs/api.md). */
export const Visibility = Type.Enum(['private', 'internal', 'public']);
export const Direction = Type.Enum(['asc', 'desc']);

export const optional = Type.Optional;
/** All of `properties`, each optional. */
export const allOptional = <P extends TProperties>(properties: P) =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)])) as {
    [K in keyof P]: TOptional<P[K]>;
  };

/**
 * `schema` or null.
 * @throws Error for a value with a rule, which would not be looked at: the rule belongs outside
 */
export function nullable<S extends TSchema>(schema: S) {
  if ((schema as Marked)[marks]?.reasons)
    throw new Error('Write checked(nullable(…)) in place of nullable(checked(…)).');
  return Type.Union([schema, Type.Null()]);
}

/** Text that is not blank; otherwise `x is empty`. */
export const NotBlank = (options = {}) => marked(Type.String(options), { notBlank: true });

/** A value that may be omitted. If it is null or empty text, the refusal is `<parameter> is empty`. */
export const notEmpty = <S extends TSchema>(schema: S): S => marked(schema, { notEmpty: true });

/** A value that counts as omitted if it is blank text, which some clients send. */
export const leftOutIfBlank = <S extends TSchema>(schema: S): S => marked(schema, { blankIsLeftOut: true });

/** A required value whose absence reads `<parameter> is required`, or as given. Blank text and an empty list count as absent. */
export const required = <S extends TSchema>(schema: S, absence = 'is required'): S =>
  marked(schema, { notBlank: true, absence });

/** A list that may also be sent as one comma-separated text, e.g. `labels=a,b`. */
export const CommaList = <S extends TSchema>(item: S) => marked(Type.Array(item), { comma: true });

/** The same for a list that null clears, as an empty text or list does. */
export const ClearableList = <S extends TSchema>(item: S) =>
  marked(Type.Unsafe<Static<S>[]>(nullable(CommaList(item))), { nullIsEmpty: true });

/** Text of up to a million characters, such as a description. It allows a larger body (docs/operating.md#limits). */
export function longText<S extends TSchema>(schema: S): S {
  for (const member of (schema as { anyOf?: TSchema[] }).anyOf ?? []) marked(member, { long: true });
  return marked(schema, { long: true });
}

/** Text that is stored outside the database and may contain any character, e.g. the content of a file. A long one arrives as UTF-8 (long_body.ts). */
export const AnyText = (more: Pick<Marks, 'notBlank'> = {}) =>
  marked(Type.Unsafe<string | Uint8Array>({ type: 'string' }), { anyText: true, ...more });

/** Any JSON, unchanged, for values that only the handler can validate. */
export const AnyJson = (description: string) => marked(Type.Unsafe<unknown>({ description }), { json: true });

/** Bytes in a reply, which are sent as Base64. */
export const Base64 = marked(Type.Unsafe<Buffer>({ type: 'string', description: 'Base64' }), { base64: true });

/**
 * A file of a multipart body. It is received after access is granted, and deleted after the call unless the handler keeps it.
 * @param kind the first part of the key of its blob
 * @param limit bytes, or the application setting; a larger file is refused with 413
 */
export const File = (kind: string, limit: number | 'max_attachment_size', options = {}) =>
  marked(Type.Unsafe<UploadedFile>({ type: 'string', format: 'binary', ...options }), {
    file: { kind, ...(typeof limit === 'number' ? { at_most_bytes: limit } : { at_most_mib_setting: limit }) },
  });

/**
 * A value with a rule of its own.
 * @param reasons why a value is refused, empty if it is valid; sent as `{message: {<parameter>: reasons}}`
 */
export const checked = <S extends TSchema>(schema: S, reasons: (value: Static<S>) => string[]): S =>
  marked(schema, { reasons: reasons as (value: never) => string[] });

/** A value whose refusal reads `<parameter> <text>`. */
export const refusedAs = <S extends TSchema>(text: string, schema: S): S => marked(schema, { refusal: text });

/**
 * A value that old clients send under another name.
 * @param name of a parameter beside this one
 */
export const alsoAs = <S extends TSchema>(name: string, schema: S): S => marked(schema, { also_as: name });

/**
 * A parameter or field for old clients.
 * @param text what to use instead
 * @param schema not shared with others, because it is marked
 */
export const deprecated = <S extends TSchema>(text: string, schema: S): S =>
  Object.assign(schema, { deprecated: true, description: `Deprecated: ${text}` });

/**
 * A parameter that is ignored, or a field that is left out, below `plan`.
 * @param schema not shared with others, because it is marked
 */
export const since = <S extends TSchema>(plan: Plan, schema: S): S => marked(schema, { plan: plan });

/** A filter or order of a list with values that are refused below their plans. */
export const valuesSince = <S extends TSchema>(valuePlans: Readonly<Record<string, Plan>>, schema: S): S =>
  marked(schema, { valuePlans });

/** A named shape of a reply; it becomes `#/components/schemas/<name>` of the OpenAPI document. */
export const resource = <P extends TProperties>(name: string, properties: P) =>
  Type.Object(properties, { title: name });
