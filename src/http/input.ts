/**
 * Reads the parameters of a request by the schema of its endpoint: text becomes numbers and booleans, and one 400 reports all errors in the words of
 * docs/api.md. Null is never converted.
 */
import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { longTextBody_bytes } from './body.ts';
import { ApiError, badParams, type Reasons, withReasons } from './errors.ts';
import { isValues, Repeated, type Values } from './form.ts';
import { idIn, withinRange } from './ids.ts';
import { type Plan, reaches, refusalOfAbove } from './plans.ts';
import { type Marked, marks } from './types.ts';
import { UploadedFile } from './uploaded_file.ts';

/**
 * The state of parsing a request: the errors so far, with parameters in the order of declaration and reasons by field, and the plan that decides which parameters
 * are read.
 */
interface Failures {
  plan: Plan;
  parameters: { name: string; reason: string }[];
  fields: Record<string, string[]>;
  /** Names of given parameters that could not be read. */
  unreadable: Set<string>;
  /** Names of given parameters above the plan, with the plan that they need. */
  above: Map<string, Plan>;
}

type Read = (value: unknown, name: string, failures: Failures) => unknown;

interface Json extends Marked {
  type?: string;
  properties?: Record<string, Json>;
  /** For a hash whose keys the client chooses: one pattern for all keys. */
  patternProperties?: Record<string, Json>;
  required?: string[];
  items?: Json;
  anyOf?: Json[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
}

/** A rule over several parameters: the text of its refusal, or undefined. */
export type Rule = (given: ReadonlySet<string>) => string | undefined;

const list = (names: readonly string[]) => names.join(', ');

export const mutuallyExclusive =
  (...names: string[]): Rule =>
  (given) => {
    const both = names.filter((name) => given.has(name));
    return both.length > 1 ? `${list(both)} are mutually exclusive` : undefined;
  };

export const allOrNoneOf =
  (...names: string[]): Rule =>
  (given) => {
    const there = names.filter((name) => given.has(name));
    return there.length > 0 && there.length < names.length
      ? `${list(names)} provide all or none of parameters`
      : undefined;
  };

export const atLeastOneOf =
  (...names: string[]): Rule =>
  (given) =>
    names.some((name) => given.has(name))
      ? undefined
      : `${list(names)} are missing, at least one parameter must be provided`;

export const exactlyOneOf =
  (...names: string[]): Rule =>
  (given) =>
    names.some((name) => given.has(name))
      ? mutuallyExclusive(...names)(given)
      : `${list(names)} are missing, exactly one parameter must be provided`;

const refuse = (failures: Failures, name: string, reason: string) => {
  failures.parameters.push({ name, reason });
  return undefined;
};

const trueTexts = new Set(['true', 't', '1', 'yes', 'y', 'on']);
const falseTexts = new Set(['false', 'f', '0', 'no', 'n', 'off']);

function readBoolean(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (!isScalar(value)) return undefined;
  const text = String(value).toLowerCase();
  return trueTexts.has(text) ? true : falseTexts.has(text) ? false : undefined;
}

const numeric = /^[+-]?\d+(\.\d+)?$/;

function readNumber(value: unknown, whole: boolean): number | undefined {
  const number = typeof value === 'string' && numeric.test(value.trim()) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return undefined;
  return whole && !Number.isSafeInteger(number) ? undefined : number;
}

const isoDate = /^(\d{4})-(\d{2})-(\d{2})/;
const isoTime = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?( ?(Z|[+-]\d{2}:?\d{2}))?)?$/i;

function isDay(text: string): boolean {
  const [, year, month, day] = isoDate.exec(text) ?? [];
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  return (
    year !== undefined &&
    year !== '0000' &&
    date.getUTCMonth() + 1 === Number(month) &&
    date.getUTCDate() === Number(day)
  );
}

function readTime(text: string): string | undefined {
  if (!isoTime.test(text) || !isDay(text)) return undefined;
  const [date, time] = [text.slice(0, 10), text.slice(11).replace(',', '.').replace(' ', '')];
  const zone = /(Z|[+-]\d{2}:?\d{2})$/i.test(time) ? '' : 'Z';
  const moment = new Date(
    time === '' ? `${date}T00:00:00Z` : `${date}T${time}${zone}`.replace(/([+-]\d{2})(\d{2})$/, '$1:$2'),
  );
  return Number.isNaN(moment.getTime()) ? undefined : moment.toISOString();
}

const isScalar = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

/** The maximum length of texts, lists and hashes that declare no limit. */
const usualLength = 100_000;
const usualItems = 1000;

function textReader(schema: Json): Read {
  const pattern = schema.pattern === undefined ? undefined : new RegExp(schema.pattern, 'u');
  const refusal = schema[marks]?.refusal ?? 'is invalid';
  const isUnlimited = schema[marks]?.long || schema[marks]?.anyText;
  const { minLength = 0, maxLength = isUnlimited ? Number.POSITIVE_INFINITY : usualLength } = schema;
  return (value, name, failures) => {
    if (!isScalar(value)) return refuse(failures, name, 'is invalid');
    const text = String(value);
    // PostgreSQL cannot store NUL, and a lone surrogate would come back as another character.
    if (!schema[marks]?.anyText && (text.includes('\0') || !text.isWellFormed()))
      return refuse(failures, name, 'is invalid');
    if (schema[marks]?.notBlank && text.trim() === '')
      return refuse(failures, name, schema[marks]?.absence ?? 'is empty');
    if (schema.format === 'date') return isDay(text) ? text.slice(0, 10) : refuse(failures, name, refusal);
    if (schema.format === 'date-time') return readTime(text) ?? refuse(failures, name, refusal);
    if (text.length < minLength || text.length > maxLength)
      return refuse(failures, name, lengthText(minLength, maxLength));
    if (pattern && !pattern.test(text)) return refuse(failures, name, refusal);
    return text;
  };
}

function lengthText(minimum: number, maximum: number): string {
  if (minimum === 0) return `is expected to have length less than or equal to ${maximum}`;
  if (maximum === Number.POSITIVE_INFINITY) return `is expected to have length greater than or equal to ${minimum}`;
  return `is expected to have length within ${minimum} and ${maximum}`;
}

/** An integer of any size, also one that a number cannot represent exactly. */
function readInteger(value: unknown): number | undefined {
  const number = typeof value === 'string' && numeric.test(value.trim()) ? Number(value) : value;
  return typeof number === 'number' && (Number.isInteger(number) || Math.abs(number) === Number.POSITIVE_INFINITY)
    ? number
    : undefined;
}

function idReader(schema: Json, largest: number): Read {
  const { minimum = Number.NEGATIVE_INFINITY } = schema;
  return (value, name, failures) => {
    const id = readInteger(value);
    if (id === undefined) return refuse(failures, name, schema[marks]?.refusal ?? 'is invalid');
    return id < minimum ? refuse(failures, name, 'does not have a valid value') : withinRange(id, largest);
  };
}

function idOrNameReader(schema: Json): Read {
  const readText = textReader(schema);
  return (value, name, failures) => {
    const text = readText(value, name, failures);
    return typeof text === 'string' ? (idIn(text) ?? text) : undefined;
  };
}

function numberReader(schema: Json): Read {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
  return (value, name, failures) => {
    const number = readNumber(value, schema.type === 'integer');
    if (number === undefined) return refuse(failures, name, schema[marks]?.refusal ?? 'is invalid');
    if (number < minimum || number > maximum) return refuse(failures, name, 'does not have a valid value');
    return number;
  };
}

function enumReader(schema: Json): Read {
  const values = schema.enum ?? [schema.const];
  const isNumeric = values.every((allowed) => typeof allowed === 'number');
  return (value, name, failures) => {
    if (!isScalar(value) || (isNumeric && readNumber(value, true) === undefined))
      return refuse(failures, name, 'is invalid');
    const match = values.find((allowed) => allowed === value || String(allowed) === String(value));
    return match ?? refuse(failures, name, schema[marks]?.refusal ?? 'does not have a valid value');
  };
}

/** The elements of a list that was sent as a list, as `{0: a, 1: b}`, as comma-separated text, or as one scalar. */
function elementsOf(value: unknown, comma: boolean): unknown[] | undefined {
  if (typeof value === 'string' && comma)
    return value
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  if (Array.isArray(value)) {
    const flat = comma ? value.flatMap((item) => elementsOf(item, true) ?? [item]) : Array.from(value);
    return flat.filter((item) => item !== '');
  }
  if (isScalar(value)) return value === '' ? [] : [value];
  if (value === null || value === undefined) return undefined;
  const entries = Object.entries(value);
  if (entries.length > 0 && entries.every(([index]) => /^\d+$/.test(index))) return entries.map(([, item]) => item);
  return undefined;
}

function arrayReader(schema: Json): Read {
  const readItem = readerOf(schema.items ?? {});
  const isHash = schema.items?.type === 'object';
  const { minItems = 0, maxItems = usualItems } = schema;
  return (value, name, failures) => {
    const elements = elementsOf(value, schema[marks]?.comma === true);
    if (elements === undefined) return refuse(failures, name, schema[marks]?.refusal ?? 'is invalid');
    if (elements.length > maxItems) return refuse(failures, name, `has more than ${maxItems} elements`);
    const absence = schema[marks]?.absence ?? (minItems > 0 ? 'is empty' : undefined);
    if (absence && elements.length === 0) return refuse(failures, name, absence);
    return elements.map((item, index) => readItem(item, isHash ? `${name}[${index}]` : name, failures));
  };
}

function unionReader(schema: Json): Read {
  const alternatives = schema.anyOf!.filter((member) => member.type !== 'null').map(readerOf);
  if (alternatives.length === 1) return alternatives[0]!;
  return (value, name, failures) => {
    for (const read of alternatives) {
      const attempt: Failures = { ...failures, parameters: [], fields: {}, unreadable: new Set() };
      const result = read(value, name, attempt);
      if (attempt.parameters.length === 0) return result;
    }
    return refuse(failures, name, schema[marks]?.refusal ?? 'is invalid');
  };
}

interface Member {
  name: string;
  schema: Json;
  read: Read;
  isRequired: boolean;
  isNullable: boolean;
  /** Types for which empty text means null (docs/api.md). */
  emptyIsNull: boolean;
  /** Whether an omitted parameter needs no work. */
  isOptional: boolean;
}

function memberOf(name: string, schema: Json, isRequired: boolean): Member {
  const kinds = schema.anyOf ?? [schema];
  return {
    name,
    schema,
    read: readerOf(schema),
    isRequired,
    isNullable: kinds.some((kind) => kind.type === 'null'),
    emptyIsNull: kinds.every(
      (kind) => ['integer', 'number', 'boolean', 'null'].includes(kind.type ?? '') || kind.format !== undefined,
    ),
    isOptional: !isRequired && schema.default === undefined,
  };
}

function readMember(member: Member, raw: unknown, path: string, failures: Failures): unknown {
  const { schema } = member;
  let value =
    raw instanceof Repeated && schema.type !== 'array' && !schema.anyOf?.some((kind) => kind.type === 'array')
      ? raw.at(-1)
      : raw;
  if (value === '' && member.emptyIsNull) value = null;
  if (schema[marks]?.blankIsLeftOut && typeof value === 'string' && value.trim() === '') value = null;
  if (value === null && member.isNullable) return schema[marks]?.nullIsEmpty ? [] : null;
  if (value === undefined || value === null) {
    // Clients send null for unset parameters (python-gitlab: start_branch), so null counts as omitted for parameters that cannot be cleared.
    if (schema.default !== undefined) return schema.default;
    if (raw !== undefined && schema[marks]?.notEmpty) {
      failures.unreadable.add(path);
      return refuse(failures, path, 'is empty');
    }
    if (!member.isRequired) return undefined;
    const { absence, notBlank } = schema[marks] ?? {};
    const usual = raw === '' ? ['is empty'] : notBlank ? ['is missing', 'is empty'] : ['is missing'];
    for (const reason of absence ? [absence] : usual) refuse(failures, path, reason);
    // If the hash is missing, its required members are missing too.
    if (schema.type === 'object') member.read({}, path, failures);
    return undefined;
  }
  const refusals = failures.parameters.length;
  const result = member.read(value, path, failures);
  if (result === undefined) failures.unreadable.add(path);
  // Rules expect values that the schema allows, so they do not see a list with an unreadable item.
  const isReadable = result !== undefined && failures.parameters.length === refusals;
  const reasons = isReadable ? schema[marks]?.reasons?.(result as never) : undefined;
  if (reasons !== undefined && reasons.length > 0) failures.fields[member.name] = reasons;
  return result;
}

function objectReader(schema: Json): Read {
  const required = new Set(schema.required);
  const members = Object.entries(schema.properties ?? {}).map(([name, member]) =>
    memberOf(name, member, required.has(name)),
  );
  return (value, path, failures) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return refuse(failures, path, 'is invalid');
    const result: Values = {};
    for (const member of members) {
      const { also_as } = member.schema[marks] ?? {};
      const given = (value as Values)[member.name];
      const raw = also_as === undefined ? given : (given ?? (value as Values)[also_as]);
      if (raw === undefined && member.isOptional) continue;
      const at = path === '' ? member.name : `${path}[${member.name}]`;
      const { plan, valuePlans } = member.schema[marks] ?? {};
      if (!reaches(failures.plan, plan)) {
        if (raw !== undefined) failures.above.set(at, plan!);
        continue;
      }
      const needed =
        typeof raw === 'string' && valuePlans && Object.hasOwn(valuePlans, raw) ? valuePlans[raw] : undefined;
      if (!reaches(failures.plan, needed)) failures.above.set(`${at}=${raw}`, needed!);
      const read = readMember(member, raw, at, failures);
      if (read !== undefined) result[member.name] = read;
    }
    return result;
  };
}

/** A hash whose keys the client chooses. */
function recordReader(item: Json): Read {
  const read = readerOf(item);
  return (value, path, failures) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return refuse(failures, path, 'is invalid');
    const keys = Object.keys(value);
    if (keys.length > usualItems) return refuse(failures, path, `has more than ${usualItems} elements`);
    if (keys.some((key) => key.includes('\0') || !key.isWellFormed())) return refuse(failures, path, 'is invalid');
    // Defined, not assigned: `__proto__` is an ordinary key.
    return Object.fromEntries(keys.map((key) => [key, read((value as Values)[key], `${path}[${key}]`, failures)]));
  };
}

const readFile: Read = (value, name, failures) =>
  value instanceof UploadedFile ? value : refuse(failures, name, 'is invalid');

/** The parser of a parameter. Long texts arrive as UTF-8 (long_body.ts), which only a parameter that takes any text keeps. */
function readerOf(schema: Json): Read {
  const read = readerByType(schema);
  if (schema[marks]?.anyText)
    return (value, name, failures) => (value instanceof Uint8Array ? value : read(value, name, failures));
  return (value, name, failures) => {
    if (!(value instanceof Uint8Array)) return read(value, name, failures);
    // No other text can be this long, and decoding it would block other requests.
    if (value.length > longTextBody_bytes) return refuse(failures, name, 'is too long');
    return read(new TextDecoder().decode(value), name, failures);
  };
}

function readerByType(schema: Json): Read {
  const { file, json, largest_id, idOrName } = schema[marks] ?? {};
  if (file) return readFile;
  if (json) return (value) => value;
  if (largest_id !== undefined) return idReader(schema, largest_id);
  if (idOrName) return idOrNameReader(schema);
  if (schema.anyOf) return unionReader(schema);
  if (schema.enum || schema.const !== undefined) return enumReader(schema);
  switch (schema.type) {
    case 'string':
      return textReader(schema);
    case 'integer':
    case 'number':
      return numberReader(schema);
    case 'boolean':
      return (value, name, failures) =>
        readBoolean(value) ?? refuse(failures, name, schema[marks]?.refusal ?? 'is invalid');
    case 'array':
      return arrayReader(schema);
    case 'object':
      return schema.patternProperties
        ? recordReader(Object.values(schema.patternProperties)[0]!)
        : objectReader(schema);
    default:
      throw new Error(`no reader for a parameter of this schema: ${JSON.stringify(schema)}`);
  }
}

/** The names of parameters that were given; those of a member of a hash as `not[labels]`. */
const namesIn = (values: Values): string[] =>
  Object.entries(values).flatMap(([name, value]) =>
    isValues(value) ? [name, ...Object.keys(value).map((member) => `${name}[${member}]`)] : name,
  );

/** The first reason of each parameter, by its name. */
const reasonsIn = ({ parameters }: Failures): Reasons =>
  Object.fromEntries(parameters.toReversed().map(({ name, reason }) => [name, [reason]]));

interface Reading<P extends TProperties> {
  input: P;
  rules?: readonly Rule[] | undefined;
  /** Creates the error for parameters that cannot be read. */
  refused?: ((text: string) => ApiError) | undefined;
  /** Whether the call only reads. */
  reads?: boolean;
  /** The names of the parameters in the path. */
  in_path?: readonly string[];
}

/**
 * Compiles the reader of an endpoint's parameters.
 * @returns a function from raw values (path, body and query merged) and the plan in force to the declared parameters
 * @throws (the returned function) ApiError 400: `{message, error}` for parameters, else `{message: {field: reasons}}` for values with rules of their own
 */
export function inputReader<P extends TProperties>({
  input,
  rules = [],
  refused = badParams,
  reads = false,
  in_path = [],
}: Reading<P>): (raw: Values, plan: Plan) => Static<TObject<P>> {
  const inBody = Object.keys(input).filter((name) => !in_path.includes(name));
  const read = objectReader(Type.Object(input) as unknown as Json);
  return (raw, plan) => {
    const failures: Failures = { plan, parameters: [], fields: {}, unreadable: new Set(), above: new Map() };
    const values = read(raw, '', failures) as Values;
    const { above } = failures;
    const tooHigh = refusalOfAbove({
      above,
      others: inBody.some((name) => raw[name] !== undefined && !above.has(name)),
      reads,
    });
    if (tooHigh !== undefined) throw refused(tooHigh);
    const given = failures.unreadable.union(new Set(namesIn(values)));
    const texts = [
      ...failures.parameters.map(({ name, reason }) => `${name} ${reason}`),
      ...rules.map((rule) => rule(given)).filter((text) => text !== undefined),
    ];
    // Several elements of a list may have the same problem.
    if (texts.length > 0) throw withReasons(refused([...new Set(texts)].join(', ')), reasonsIn(failures));
    if (Object.keys(failures.fields).length > 0) throw new ApiError(400, { message: failures.fields });
    return values as Static<TObject<P>>;
  };
}
