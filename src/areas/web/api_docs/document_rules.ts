/** The parts of the OpenAPI document that pages show, and how its schemas become rows of a table. */
import type { Values } from '../../../http/index.ts';

/** A schema, as the document writes it. */
export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  description?: string;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  items?: Schema;
  anyOf?: readonly Schema[];
  patternProperties?: Readonly<Record<string, Schema>>;
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  format?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
  deprecated?: boolean;
  'x-plan'?: string;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: Schema;
  description?: string;
}

type Contents = Readonly<Record<string, { schema?: Schema }>>;

interface Reply {
  $ref?: string;
  description?: string;
  content?: Contents;
}

export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  deprecated?: boolean;
  parameters: readonly Parameter[];
  requestBody?: { content: Contents };
  responses: Readonly<Record<string, Reply>>;
}

interface Webhook {
  post: { summary: string; requestBody: { content: Contents } };
}

/** The document (`openApiDocument`), as far as pages read it. */
export interface ApiDocument {
  tags: readonly { name: string; description: string }[];
  paths: Readonly<Record<string, Readonly<Record<string, Operation | unknown>>>>;
  webhooks: Readonly<Record<string, Webhook>>;
  components: {
    schemas: Readonly<Record<string, Schema>>;
    responses: Readonly<Record<string, Reply>>;
  };
}

/** An operation with its address. */
export interface Called extends Operation {
  method: string;
  /** With its parameters in braces, below the root of the API. */
  path: string;
}

/** The operations of a document in its order. */
export const operationsIn = ({ paths }: ApiDocument): Called[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      method === 'servers' ? [] : [{ ...(operation as Operation), method: method.toUpperCase(), path }],
    ),
  );

/** The name of a tag in addresses: `CI/CD variables` is `ci-cd-variables`. */
export const slugOf = (tag: string): string => tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

/** A parameter or a field of an object, as a row of a table. */
export interface Row {
  /** Those of inner objects behind the name of the outer one, as in `author.username` and `assets[].url`. */
  name: string;
  type: Type;
  is_required: boolean;
  is_deprecated: boolean;
  /** Sentences and limits. */
  notes: readonly string[];
}

/** A type in words, and the named object that it consists of. */
export interface Type {
  words: string;
  object?: string;
}

const nameOf = (reference: string) => reference.slice(reference.lastIndexOf('/') + 1);
const inCode = (value: unknown) => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;

/** The alternatives of a schema without null, which a note names. */
const alternatives = ({ anyOf = [] }: Schema) => anyOf.filter(({ type }) => type !== 'null');
const mayBeNull = ({ type, anyOf = [] }: Schema) =>
  [type].flat().includes('null') || anyOf.some((each) => each.type === 'null');

/** The type of a value. */
function typeOf(schema: Schema): Type {
  if (schema.$ref !== undefined) return { words: '', object: nameOf(schema.$ref) };
  const parts = alternatives(schema);
  if (parts.length > 0) {
    const types = parts.map(typeOf);
    const object = types.find((each) => each.object !== undefined)?.object;
    const words = [...new Set(types.map((each) => each.words).filter((each) => each !== ''))].join(' or ');
    return { words, ...(object === undefined ? {} : { object }) };
  }
  const kind = [schema.type ?? (schema.enum || schema.const !== undefined ? 'string' : 'any')]
    .flat()
    .filter((each) => each !== 'null')
    .join(' or ');
  if (kind !== 'array' || !schema.items) return { words: schema.format ? `${kind} (${schema.format})` : kind };
  const inner = typeOf(schema.items);
  return { ...inner, words: inner.words === '' ? 'array of' : `array of ${inner.words}` };
}

/** The values that a schema or one of its alternatives allows. */
const valuesIn = (schema: Schema): unknown[] => [
  ...(schema.enum ?? []),
  ...(schema.const === undefined ? [] : [schema.const]),
  ...(schema.items ? valuesIn(schema.items) : []),
  ...alternatives(schema).flatMap(valuesIn),
];

function notesOf(schema: Schema): string[] {
  const values = [...new Set(valuesIn(schema))];
  const { description, default: usual, minimum, maximum, maxLength, maxItems, 'x-plan': plan } = schema;
  return [
    description && `${description.replace(/\.$/, '')}.`,
    values.length > 0 && `${values.length === 1 ? 'Always' : 'One of'} ${values.map(inCode).join(', ')}.`,
    usual !== undefined && `By default ${inCode(usual)}.`,
    minimum !== undefined && `At least ${minimum}.`,
    maximum !== undefined && `At most ${maximum}.`,
    maxLength !== undefined && `At most ${maxLength} characters.`,
    maxItems !== undefined && `At most ${maxItems} items.`,
    mayBeNull(schema) && 'May be null.',
    plan && `Plan: ${plan}.`,
  ].filter((note): note is string => typeof note === 'string');
}

/** The object that a value consists of and the suffix of its name: of the items for arrays, of the first alternative that has fields. */
function innerOf(schema: Schema): { suffix: string; schema: Schema } | undefined {
  if (schema.properties) return { suffix: '', schema };
  if (schema.items) {
    const inner = innerOf(schema.items);
    return inner && { suffix: `[]${inner.suffix}`, schema: inner.schema };
  }
  return alternatives(schema)
    .map(innerOf)
    .find((inner) => inner !== undefined);
}

/** A value and the fields inside it. Fields of named objects are shown where the object is. */
export function rowsOf(name: string, schema: Schema, is_required: boolean): Row[] {
  const own = { name, type: typeOf(schema), is_required, is_deprecated: schema.deprecated === true };
  const inner = innerOf(schema);
  return [
    { ...own, notes: notesOf(schema) },
    ...(inner ? fieldsOf(inner.schema).map((row) => ({ ...row, name: `${name}${inner.suffix}.${row.name}` })) : []),
  ];
}

/** The fields of an object. */
export const fieldsOf = ({ properties = {}, required = [] }: Schema): Row[] =>
  Object.entries(properties).flatMap(([name, schema]) => rowsOf(name, schema, required.includes(name)));

const json = 'application/json';

/** The fields of a body. */
export const bodyOf = ({ requestBody }: Operation): Schema | undefined => requestBody?.content[json]?.schema;

/** The status of a success, the type of its reply, and the media types that are no JSON. */
export function successOf({ responses }: Operation): { status: string; type: Type | undefined; media: string[] } {
  const [status = '200', { content = {} } = {}] =
    Object.entries(responses).find(([code]) => code.startsWith('2')) ?? [];
  const schema = content[json]?.schema;
  return { status, type: schema && typeOf(schema), media: Object.keys(content).filter((media) => media !== json) };
}

/** The refusals of one operation alone, by their status, and the names of the ones that many share. */
export function refusalsOf({ responses }: Operation): {
  own: { status: string; text: string }[];
  shared: { status: string; name: string }[];
} {
  const replies = Object.entries(responses).filter(([code]) => !code.startsWith('2'));
  return {
    own: replies.flatMap(([status, { description }]) => (description ? [{ status, text: description }] : [])),
    shared: replies.flatMap(([status, { $ref }]) => ($ref === undefined ? [] : [{ status, name: nameOf($ref) }])),
  };
}

/** The document of some endpoints, as `openApiDocument` returns it. */
export const asDocument = (document: Values): ApiDocument => document as unknown as ApiDocument;
