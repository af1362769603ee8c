/** Draws requests from the OpenAPI document: what it promises to take, and what it does not. */
import { oddSegments, oddTexts, oddValues } from '../support/odd_values.ts';
import type { Random } from '../support/random.ts';
import type { RawRequest } from '../support/raw_request.ts';
import type { Names } from './targets.ts';

/** What texts of the greatest length are made of: all that is searched for in Markdown. */
const longTextParts = [
  'x',
  '#1 ',
  '- [ ] x\n',
  '\n',
  '@a ',
  '``` ',
  '/label ~a\n',
  '> - x',
  '&1 ',
  '[a](b) ',
  '<!--',
  'é',
];
const longText = (random: Random): string => {
  const part = random.of(longTextParts);
  return part.repeat(Math.floor(random.of([100_000, 1_000_000, 1_048_576, 2_000_000]) / part.length));
};

interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  const?: unknown;
  format?: string;
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  minimum?: number;
  maximum?: number;
}

interface Parameter {
  name: string;
  in: string;
  schema: Schema;
}

interface Operation {
  parameters: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

export interface Document {
  paths: Record<string, Record<string, Operation>>;
}

interface DocumentedOperation {
  method: string;
  path: string;
  operation: Operation;
}

/** The operations of the API; a path with servers of its own is not below its address. */
export const operationsOf = ({ paths }: Document): DocumentedOperation[] =>
  Object.entries(paths)
    .filter(([, item]) => !('servers' in item))
    .flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    );

export interface Draw {
  random: Random;
  /** What the requests may name, each with the worlds it is from. */
  names: readonly Names[];
  /** Parameters that are never sent. */
  without: readonly string[];
}

const collections: Record<string, keyof Names> = {
  projects: 'projects',
  groups: 'groups',
  users: 'users',
  namespaces: 'groups',
};

/** Which of the names a parameter takes. */
function kindOf(name: string, path: string): keyof Names | undefined {
  if (name === 'id') return collections[path.split('/')[1]!];
  if (/project|forked_from/.test(name)) return 'projects';
  if (/group|namespace|parent/.test(name)) return 'groups';
  if (/user/.test(name)) return 'users';
  if (/branch|ref|sha|tag_name|^from$|^to$/.test(name)) return 'revisions';
  return /path/.test(name) ? 'files' : undefined;
}

function numberFor({ minimum = 0, maximum = 100 }: Schema, random: Random): number {
  return random.of([minimum, maximum, minimum - 1, maximum + 1, minimum + random.below(20)]);
}

/** A value that the schema allows, or nearly. */
function fitting(schema: Schema, random: Random): unknown {
  if (schema.enum) return random.of(schema.enum);
  if (schema.const !== undefined) return schema.const;
  if (schema.anyOf) return fitting(random.of(schema.anyOf), random);
  if (schema.type === 'boolean') return random.happens(50);
  if (schema.type === 'integer' || schema.type === 'number') return numberFor(schema, random);
  if (schema.type === 'null') return null;
  if (schema.type === 'array')
    return Array.from({ length: random.below(4) }, () => fitting(schema.items ?? {}, random));
  if (schema.type === 'object')
    return Object.fromEntries(
      Object.entries(schema.properties ?? {}).map(([name, member]) => [name, fitting(member, random)]),
    );
  if (schema.format === 'date') return random.of(['2030-01-01', '2020-02-29']);
  if (schema.format === 'date-time') return random.of(['2030-01-01T00:00:00Z', '2020-02-29T12:00:00.123+02:00']);
  return random.of(['x', 'Something', `a-${random.below(1000)}`, '0 8 * * 1', 'someone@example.com']);
}

const odd = (random: Random): unknown => (random.happens(60) ? random.of(oddTexts) : random.of(oddValues));

function valueFor(name: string, schema: Schema, path: string, { random, names }: Draw): unknown {
  const kind = kindOf(name, path);
  if (kind && random.happens(70)) {
    const value = random.of(random.of(names)[kind]);
    return schema.type === 'integer' ? Number(value) : schema.type === 'array' ? [value] : value;
  }
  return random.happens(75) ? fitting(schema, random) : odd(random);
}

/** Encodes as browsers do; what is no text becomes one. */
const encode = (value: unknown): string =>
  encodeURIComponent((typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed());

function pathOf({ path }: DocumentedOperation, draw: Draw): string {
  const { random } = draw;
  let index = 0;
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    // After an unknown first segment, the rest of the path would not be read.
    const isFirst = index++ === 0;
    const kind = kindOf(name, path);
    if (kind && random.happens(isFirst ? 90 : 60)) return encode(random.of(random.of(draw.names)[kind]));
    if (random.happens(15)) return random.of(oddSegments);
    return encode(random.happens(50) ? random.of(oddTexts) : random.below(2) + (isFirst ? 10 ** 9 : 0));
  });
}

function queryOf({ path, operation }: DocumentedOperation, draw: Draw): string {
  const { random } = draw;
  const pairs = operation.parameters
    .filter((parameter) => parameter.in === 'query' && random.happens(20))
    .flatMap(({ name, schema }) => {
      const value = valueFor(name.replace('[]', ''), schema, path, draw);
      if (random.happens(5)) return [`${name}[a][b][]=${encode(value)}`, `${name}=1`];
      if (random.happens(3)) return [`${name}=${random.of(oddSegments)}`];
      if (Array.isArray(value)) return value.map((item) => `${name}=${encode(item)}`);
      if (typeof value === 'object' && value !== null)
        return Object.entries(value).map(([key, member]) => `${name}[${encode(key)}]=${encode(member)}`);
      return [`${name}=${encode(value)}`];
    });
  return pairs.length > 0 ? `?${pairs.join('&')}` : '';
}

const wrongTypes = [
  'text/plain',
  'application/xml',
  'application/json; charset=utf-16',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'application/vnd.git-lfs+json',
  'x',
  '',
];
const deep = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const wrongBodies = [
  '[]',
  '"x"',
  '1',
  'null',
  '{',
  '{"a":1,}',
  '{"__proto__":{"x":1}}',
  deep(50),
  deep(20_000),
  '['.repeat(1_000_000),
  `{"a":[${'0,'.repeat(200_000)}0]}`,
  `{${Array.from({ length: 90_000 }, (_, index) => `"key${index}":1`).join()}}`,
  '\ufeff{}',
  '--x\r\n\r\n',
];

/** Bodies whose cost is in another form than JSON. */
const heavyForms = ['a&'.repeat(500_000), `a=${'%c3%a9'.repeat(200_000)}`, `a${'[b]'.repeat(10_000)}=1`];

interface Body {
  type: string | undefined;
  text: string;
}

function bodyOf({ path, operation }: DocumentedOperation, draw: Draw): Body {
  const { random, without } = draw;
  const { properties = {}, required = [] } = operation.requestBody?.content['application/json']?.schema ?? {};
  const members = Object.entries(properties)
    .filter(([name]) => !without.includes(name) && random.happens(required.includes(name) ? 90 : 25))
    .map(([name, schema]) => [name, valueFor(name, schema, path, draw)] as const);
  const texts = Object.keys(properties).filter(
    (name) => properties[name]!.type === 'string' || properties[name]!.anyOf,
  );
  if (texts.length > 0 && random.happens(1)) members.push([random.of(texts), longText(random)]);
  const text = JSON.stringify(Object.fromEntries(members));
  if (random.happens(5)) return { type: random.of(wrongTypes), text };
  if (random.happens(5)) return { type: 'application/json', text: random.of(wrongBodies) };
  if (random.happens(1)) return { type: 'application/x-www-form-urlencoded', text: random.of(heavyForms) };
  if (random.happens(10))
    return {
      type: 'application/x-www-form-urlencoded',
      text: members.map(([name, value]) => `${name}=${encode(value)}`).join('&'),
    };
  return { type: 'application/json', text };
}

/** Headers that servers read, with what they do not expect. */
function oddHeaders({ random, names }: Draw): Record<string, string> {
  if (!random.happens(8)) return {};
  const name = random.of([
    'sudo',
    'range',
    'if-none-match',
    'if-unmodified-since',
    'accept',
    'accept-encoding',
    'origin',
    'x-request-id',
    'host',
  ]);
  const value = name === 'sudo' && random.happens(50) ? random.of(random.of(names).users) : random.of(oddTexts);
  // Node refuses to send what is no header; HTTP knows nothing beyond bytes.
  return { [name]: value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '?') };
}

/** Draws one request to an operation, without credentials. */
export function drawRequest(documented: DocumentedOperation, draw: Draw): RawRequest {
  const path = pathOf(documented, draw) + queryOf(documented, draw);
  const isRead = documented.method === 'GET' || documented.method === 'HEAD';
  const { type, text }: Body =
    isRead && !draw.random.happens(2) ? { type: undefined, text: '' } : bodyOf(documented, draw);
  const headers = { ...oddHeaders(draw), ...(type === undefined ? {} : { 'content-type': type }) };
  // What is no HTTP is refused before the method is known, so with a body, which behind HEAD no client expects.
  const unsent = documented.method === 'HEAD' ? /[^\x21-\x7e]/g : /[^\x21-\xff]/g;
  return { method: documented.method, path: path.replaceAll(unsent, encode), headers, body: text };
}
