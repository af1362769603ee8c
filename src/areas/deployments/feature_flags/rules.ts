/** What feature flags and user lists can be: reasons why they are refused, as sentences, empty when they are fine. */
import { tooLong } from '../../../texts/index.ts';

export const maximums = {
  name: 63,
  description: 255,
  list_name: 255,
  environment_scope: 255,
  user_xids: 100_000,
  strategies: 30,
  scopes: 50,
  /** Of a project. */
  user_lists: 200,
  /** What all strategies of a project say together, with the lists that they use: an application reads it at once. */
  content_bytes: 8 * 2 ** 20,
} as const;

/** A scope of a strategy as it is to be; a new one has no id. */
export interface Scope {
  id?: number;
  environment_scope: string;
}

/** A strategy as it is to be; a new one has no id. */
export interface Strategy {
  id?: number;
  name: string;
  /** As given, whatever that is. */
  parameters: unknown;
  user_list_id: number | null;
  scopes: readonly Scope[];
}

/** A flag as it is to be. */
export interface Flag {
  name: string;
  description: string | null;
  active: boolean;
  strategies: readonly Strategy[];
}

const about = (subject: string, reasons: readonly string[]): string[] =>
  reasons.map((reason) => `${subject} ${reason}`);

/** Why a flag cannot have this name. */
export function nameReasons(name: string): string[] {
  if (name.trim() === '') return ["can't be blank"];
  return [
    ...(name.length < 2 ? ['is too short (minimum is 2 characters)'] : []),
    ...tooLong(name, maximums.name),
    ...(/^[a-z]([-_a-z0-9]*[a-z0-9])?$/.test(name)
      ? []
      : [
          "can contain only lowercase letters, digits, '_' and '-'. Must start with a letter, and cannot end with '-' or '_'",
        ]),
  ];
}

export const descriptionReasons = (description: string): string[] => tooLong(description, maximums.description);

/** Why a strategy cannot be limited to these environments. */
export const scopeReasons = (scope: string): string[] => [
  ...tooLong(scope, maximums.environment_scope),
  ...(/^[\w/${}.* -]+$/.test(scope)
    ? []
    : ["can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', '*' and spaces"]),
];

const separated = 'must be a string of unique comma separated values each 256 characters or less';

/** Whether a text is a list of the ids of an application's users. */
function isUserList(ids: unknown): ids is string {
  if (typeof ids !== 'string' || ids.length > maximums.user_xids || /[\r\n\0]/.test(ids) || !ids.isWellFormed())
    return false;
  const each = ids.split(',');
  return new Set(each).size === each.length && each.every((id) => id !== '' && id.length <= 256 && id === id.trim());
}

export const userXidsReasons = (ids: string): string[] => {
  if (ids.length > maximums.user_xids) return tooLong(ids, maximums.user_xids);
  return isUserList(ids) ? [] : [`user_xids ${separated}`];
};

const isPercentage = (value: unknown) => typeof value === 'string' && /^(100|[1-9]?\d)$/.test(value);
const isGroup = (value: unknown) => typeof value === 'string' && /^[a-z]{1,32}$/.test(value);
const stickinesses: readonly unknown[] = ['default', 'userId', 'sessionId', 'random'];

type Check = (value: unknown) => string[];
const check =
  (isFine: (value: unknown) => boolean, reason: string): Check =>
  (value) =>
    isFine(value) ? [] : [reason];

const groupId = check(isGroup, 'groupId parameter is invalid');

/** The strategies, with the parameters that each has. */
const strategies: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  default: {},
  flexibleRollout: {
    groupId,
    rollout: check(isPercentage, 'rollout must be a string between 0 and 100 inclusive'),
    stickiness: check(
      (value) => stickinesses.includes(value),
      'stickiness parameter must be default, userId, sessionId, or random',
    ),
  },
  gradualRolloutUserId: {
    groupId,
    percentage: check(isPercentage, 'percentage must be a string between 0 and 100 inclusive'),
  },
  userWithId: { userIds: check(isUserList, `userIds ${separated}`) },
  gitlabUserList: {},
};

const isStrategy = (name: string) => Object.hasOwn(strategies, name);
const invalidParameters = 'parameters are invalid';

/** Why a strategy cannot have these parameters. */
export function parameterReasons(name: string, parameters: unknown): string[] {
  if (!isStrategy(name)) return [];
  const checks = strategies[name]!;
  if (typeof parameters !== 'object' || parameters === null || Array.isArray(parameters)) return [invalidParameters];
  const names = Object.keys(parameters);
  if (names.length !== Object.keys(checks).length || !names.every((each) => Object.hasOwn(checks, each)))
    return [invalidParameters];
  return names.flatMap((each) => checks[each]!((parameters as Record<string, unknown>)[each]));
}

/** Why there is no such strategy. */
export const strategyReasons = (name: string): string[] => (isStrategy(name) ? [] : ['strategy name is invalid']);

function scopesReasons(scopes: readonly Scope[]): string[] {
  const names = scopes.map(({ environment_scope }) => environment_scope);
  return [
    ...(scopes.length > maximums.scopes ? [`Strategies scopes are too many (maximum is ${maximums.scopes})`] : []),
    ...names.flatMap((name) => about('Strategies scopes environment scope', scopeReasons(name))),
    ...(new Set(names).size < names.length ? ['Strategies scopes environment scope has already been taken'] : []),
  ];
}

/** @param lists the ids of the user lists that there are, of those that the flag names */
function reasonsOfStrategy({ name, parameters, user_list_id, scopes }: Strategy, lists: ReadonlySet<number>): string[] {
  const takesList = name === 'gitlabUserList';
  const ofList =
    user_list_id === null
      ? takesList
        ? ["can't be blank"]
        : []
      : !takesList
        ? ['must be blank']
        : lists.has(user_list_id)
          ? []
          : ['must belong to the same project'];
  return [
    ...about('Strategies name', strategyReasons(name)),
    ...about('Strategies parameters', parameterReasons(name, parameters)),
    ...about('Strategies user list', ofList),
    ...scopesReasons(scopes),
  ];
}

/**
 * Why a flag is refused, each sentence once.
 * @param lists the ids of the user lists that there are, of those that it names
 */
export function reasonsOf({ name, description, strategies: given }: Flag, lists: ReadonlySet<number>): string[] {
  return [
    ...new Set([
      ...about('Name', nameReasons(name)),
      ...about('Description', descriptionReasons(description ?? '')),
      ...(given.length > maximums.strategies ? [`Strategies are too many (maximum is ${maximums.strategies})`] : []),
      ...given.flatMap((strategy) => reasonsOfStrategy(strategy, lists)),
    ]),
  ];
}

/** Why a user list is refused. */
export const reasonsOfList = ({ name, user_xids }: { name?: string; user_xids?: string }): string[] => [
  ...(name === undefined ? [] : about('Name', listNameReasons(name))),
  ...(user_xids === undefined ? [] : about('User xids', userXidsReasons(user_xids))),
];

/** Why a user list cannot have this name. */
export const listNameReasons = (name: string): string[] =>
  name.trim() === '' ? ["can't be blank"] : tooLong(name, maximums.list_name);

/** What a request says of a strategy. What it leaves out stays, or has a default in a new one. */
export interface GivenStrategy {
  id?: number;
  name?: string;
  parameters?: unknown;
  user_list_id?: number | null;
  scopes?: readonly { id?: number; environment_scope?: string; _destroy?: boolean }[];
  _destroy?: boolean;
}

/** Something that a request names by its id and that is not there. */
export class Missing extends Error {
  override name = 'Missing';
}

/** Those that were there, as the request changes them, and then the new ones. */
function changed<Kept extends { id?: number }, Given extends { id?: number; _destroy?: boolean }>(
  before: readonly Kept[],
  given: readonly Given[],
  change: (given: Given, kept: Kept | undefined) => Kept,
): Kept[] {
  const byId = new Map(given.flatMap((each) => (each.id === undefined ? [] : [[each.id, each] as const])));
  const known = new Set(before.map(({ id }) => id));
  for (const id of byId.keys()) if (!known.has(id)) throw new Missing();
  const kept = before.flatMap((each) => {
    const changes = byId.get(each.id!);
    if (changes === undefined) return [each];
    return changes._destroy ? [] : [change(changes, each)];
  });
  const added = given.filter(({ id, _destroy }) => id === undefined && !_destroy);
  return [...kept, ...added.map((each) => change(each, undefined))];
}

/** A new strategy without scopes is for all environments. */
function scopesAfter(kept: Strategy | undefined, given: NonNullable<GivenStrategy['scopes']>): Scope[] {
  const after = changed(kept?.scopes ?? [], given, ({ environment_scope }, scope) => ({
    ...scope,
    environment_scope: environment_scope ?? scope?.environment_scope ?? '',
  }));
  return kept === undefined && after.length === 0 ? [{ environment_scope: '*' }] : after;
}

/** Parameters may come as JSON in a text, as in forms. */
function parametersIn(given: unknown): unknown {
  if (typeof given !== 'string') return given;
  try {
    return JSON.parse(given);
  } catch {
    return undefined;
  }
}

/**
 * The strategies of a flag after a request.
 * @throws Missing for an id that is none of theirs
 */
export const strategiesAfter = (before: readonly Strategy[], given: readonly GivenStrategy[]): Strategy[] =>
  changed(before, given, (each, kept): Strategy => {
    const name = each.name ?? kept?.name ?? '';
    // A strategy of another kind loses its list.
    const list = name === kept?.name ? kept.user_list_id : null;
    return {
      ...kept,
      name,
      parameters: each.parameters === undefined ? (kept?.parameters ?? {}) : parametersIn(each.parameters),
      user_list_id: each.user_list_id === undefined ? list : each.user_list_id,
      scopes: scopesAfter(kept, each.scopes ?? []),
    };
  });
