/** What SCIM requests say (docs/reference/scim.md, RFC 7643 and 7644). Pure functions. */
import { ApiError, type Values } from '../../../http/index.ts';

const schemaRoot = 'urn:ietf:params:scim:schemas:core:2.0';
const messageRoot = 'urn:ietf:params:scim:api:messages:2.0';
export const schemas = {
  user: `${schemaRoot}:User`,
  schema: `${schemaRoot}:Schema`,
  provider: `${schemaRoot}:ServiceProviderConfig`,
  resourceType: `${schemaRoot}:ResourceType`,
  list: `${messageRoot}:ListResponse`,
  error: `${messageRoot}:Error`,
};

type Kind = 'invalidFilter' | 'invalidSyntax' | 'invalidValue' | 'uniqueness';

/** A refusal with its kind, which RFC 7644 calls `scimType`. */
export class ScimError extends ApiError {
  readonly kind: Kind | undefined;
  constructor(status: number, message: string, kind?: Kind) {
    super(status, { message });
    this.kind = kind;
  }
}

export const invalidValue = (message: string) => new ScimError(400, message, 'invalidValue');
export const taken = (name: string) => new ScimError(409, `${name} has already been taken`, 'uniqueness');

const longest = 255;

/** @throws ScimError 400 */
function textOf(value: unknown, name: string): string {
  if (typeof value !== 'string' || value.trim() === '') throw invalidValue(`${name} is missing`);
  if (value.length > longest) throw invalidValue(`${name} is too long (maximum is ${longest} characters)`);
  if (value.includes('\0') || !value.isWellFormed()) throw invalidValue(`${name} is invalid`);
  return value;
}

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The names of members count in any case (RFC 7643, section 2.1). */
function memberOf(values: Values, name: string): unknown {
  const wanted = name.toLowerCase();
  return values[Object.keys(values).find((key) => key.toLowerCase() === wanted) ?? name];
}

/** What an account is provisioned with. */
export interface Provisioned {
  uid: string;
  username: string;
  email: string;
  name: string;
  active: boolean;
}

function emailOf(given: unknown): string {
  const emails = (Array.isArray(given) ? given : [given]).filter(isObject);
  const email = emails.find((each) => memberOf(each, 'primary') === true) ?? emails[0];
  return textOf(email && memberOf(email, 'value'), 'emails');
}

function nameOf(given: unknown): string {
  if (!isObject(given)) throw invalidValue('name is missing');
  const parts = ['givenName', 'familyName'].map((name) => memberOf(given, name));
  const joined = parts.filter((part) => typeof part === 'string').join(' ');
  return textOf(memberOf(given, 'formatted') ?? joined, 'name').trim();
}

/** Some clients send flags as texts. @throws ScimError 400 */
function flagOf(value: unknown): boolean {
  const flag = String(value).toLowerCase();
  if (flag !== 'true' && flag !== 'false') throw invalidValue('active is invalid');
  return flag === 'true';
}

/** @throws ScimError 400 */
export function provisionedIn(fields: Values): Provisioned {
  const active = memberOf(fields, 'active');
  return {
    uid: textOf(memberOf(fields, 'externalId'), 'externalId'),
    username: textOf(memberOf(fields, 'userName'), 'userName'),
    email: emailOf(memberOf(fields, 'emails')),
    name: nameOf(memberOf(fields, 'name')),
    active: active === undefined || active === null || flagOf(active),
  };
}

/** What a PATCH changes; other attributes are accepted and have no effect. */
export interface Patch {
  active?: boolean;
  uid?: string;
}

const operations = ['add', 'replace', 'remove'];

function patched(path: string, value: unknown): Patch {
  if (path === 'active') return { active: flagOf(isObject(value) ? memberOf(value, 'active') : value) };
  return path === 'id' || path === 'externalid' ? { uid: textOf(value, 'externalId') } : {};
}

/** @throws ScimError 400 */
export function patchIn(fields: Values): Patch {
  const given = memberOf(fields, 'Operations');
  if (!Array.isArray(given) || given.length === 0) throw new ScimError(400, 'Operations is missing', 'invalidSyntax');
  const patch: Patch = {};
  for (const operation of given) {
    const op = isObject(operation) ? String(memberOf(operation, 'op')).toLowerCase() : '';
    if (!isObject(operation) || !operations.includes(op)) throw new ScimError(400, 'op is invalid', 'invalidSyntax');
    // No attribute of an account can be removed.
    if (op === 'remove') continue;
    const [path, value] = [memberOf(operation, 'path'), memberOf(operation, 'value')];
    if (typeof path === 'string') Object.assign(patch, patched(path.toLowerCase(), value));
    else if (isObject(value))
      for (const [name, member] of Object.entries(value)) Object.assign(patch, patched(name.toLowerCase(), member));
    else throw invalidValue('value is invalid');
  }
  return patch;
}

const filtered = new Map<string, Filter['by']>([
  ['id', 'uid'],
  ['externalid', 'uid'],
  ['username', 'username'],
  ['emails.value', 'email'],
]);
export interface Filter {
  by: 'uid' | 'username' | 'email';
  value: string;
}

/** The one comparison that lists are filtered by. @throws ScimError 400 */
export function filterIn(text: string): Filter {
  const [, name = '', quoted = ''] = /^\s*([\w.]{1,40})\s+eq\s+("(?:[^"\\]|\\.)*")\s*$/i.exec(text) ?? [];
  const by = filtered.get(name.toLowerCase());
  const value = by && parsed(quoted);
  if (by === undefined || value === undefined || value.includes('\0') || !value.isWellFormed())
    throw new ScimError(400, 'filter must compare id, externalId, userName or emails.value by eq', 'invalidFilter');
  return { by, value };
}

function parsed(json: string): string | undefined {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** The most accounts in a reply, and as many as without `count`. */
export const longestList = 100;

/** The part of a list that is asked for. @throws ScimError 400 */
export function rangeIn(query: Values): { start: number; count: number } {
  const numberIn = (name: string, usual: number): number => {
    const text = query[name] ?? String(usual);
    if (typeof text !== 'string' || !/^-?\d{1,9}$/.test(text)) throw invalidValue(`${name} is invalid`);
    return Number(text);
  };
  return {
    start: Math.max(numberIn('startIndex', 1), 1),
    count: Math.min(Math.max(numberIn('count', longestList), 0), longestList),
  };
}
