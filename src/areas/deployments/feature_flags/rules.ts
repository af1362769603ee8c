/** Validation of feature flags and user lists: the reasons for refusing them, as sentences, empty if they are valid. */
import { tooLong } from '../../../texts/index.ts';

export const maximums = {
  name: 63,
  description: 255,
  list_name: 255,
  environment_scope: 255,
  user_xids: 100_000,
  strategies: 30,
  scopes: 50,
  /** Per project. */
  user_lists: 200,
  /** Total size of a project's strategies and the lists they use: an application reads them at once. */
  content_bytes: 8 * 2 ** 20,
} as const;

/** The new state of a scope of a strategy; a new scope has no id. */
export interface Scope {
  id?: number;
  environment_scope: string;
}

/** The new state of a strategy; a new strategy has no id. */
export interface Strategy {
  id?: number;
  name: string;
  /** As given, not validated. */
  parameters: unknown;
  user_list_id: number | null;
  scopes: readonly Scope[];
}

/** The new state of a flag. */
export interface Flag {
  name: string;
  description: string | null;
  active: boolean;
  strategies: readonly Strategy[];
}

const about = (subject: string, reasons: readonly string[]): string[] =>
  reasons.map((reason) => `${subject} ${reason}`);

/** The reasons for refusing the name of a flag. */
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

/** The reasons for refusing the environments of a strategy. */
export const scopeReasons = (scope: string): string[] => [
  ...tooLong(scope, maximums.environment_scope),
  ...(/^[\w/${}.* -]+$/.test(scope)
    ? []
    : ["can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', '*' and spaces"]),
];

const separated = 'must be a string of unique comma separated values each 256 characters or less';

/** Whether a text is a list of user ids of an application. */
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

/** The strategies and their parameters. */
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

/** The reasons for refusing the parameters of a strategy. */
export function parameterReasons(name: string, parameters: unknown): string[] {
  if (!isStrategy(name)) return [];
  const checks = strategies[name]!;
  if (typeof parameters !== 'object' || parameters === null || Array.isArray(parameters)) return [invalidParameters];
  const names = Object.keys(parameters);
  if (names.length !== Object.keys(checks).length || !names.every((each) => Object.hasOwn(checks, each)))
    return [invalidParameters];
  return names.flatMap((each) => checks[each]!((parameters as Record<string, unknown>)[each]));
}

/** The reasons for refusing an unknown strategy. */
export const strategyReasons = (name: string): string[] => (isStrategy(name) ? [] : ['strategy name is invalid']);

function scopesReasons(scopes: readonly Scope[]): string[] {
  const names = scopes.map(({ environment_scope }) => environment_scope);
  return [
    ...(scopes.length > maximums.scopes ? [`Strategies scopes are too many (maximum is ${maximums.scopes})`] : []),
    ...names.flatMap((name) => about('Strategies scopes environment scope', scopeReasons(name))),
    ...(new Set(names).size < names.length ? ['Strategies scopes environment scope has already been taken'] : []),
  ];
}

/** @param lists the ids of the existing user lists among those that the flag names */
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
 * The reasons for refusing a flag, each sentence once.
 * @param lists the ids of the existing user lists among those that it names
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

/** What a sentence is about, by its beginning. A parameter of a strategy is named in its sentence. */
const subjects: readonly (readonly [start: RegExp, field: string])[] = [
  [/^Name /, 'name'],
  [/^Description /, 'description'],
  [/^User xids user_xids /, 'user_xids'],
  [/^User xids /, 'user_xids'],
  [/^Strategies parameters (\w+)(?: parameter)? (?=must|is)/, '$1'],
  [/^Strategies user list /, 'user_list_id'],
  [/^Strategies scopes environment scope /, 'environment_scope'],
];

/** Sentences of refusals by the fields that they are about; `base` has the others. */
export function reasonsByField(sentences: readonly string[]): Record<string, string[]> {
  const reasons: Record<string, string[]> = {};
  for (const sentence of sentences) {
    const [start, field = 'base'] = subjects.find(([each]) => each.test(sentence)) ?? [];
    const name = field === '$1' ? start!.exec(sentence)![1]! : field;
    reasons[name] = [...(reasons[name] ?? []), start ? sentence.replace(start, '') : sentence];
  }
  return reasons;
}

/** The reasons for refusing a user list. */
export const reasonsOfList = ({ name, user_xids }: { name?: string; user_xids?: string }): string[] => [
  ...(name === undefined ? [] : about('Name', listNameReasons(name))),
  ...(user_xids === undefined ? [] : about('User xids', userXidsReasons(user_xids))),
];

/** The reasons for refusing the name of a user list. */
export const listNameReasons = (name: string): string[] =>
  name.trim() === '' ? ["can't be blank"] : tooLong(name, maximums.list_name);

/** The fields of a strategy in a request. Omitted fields keep their values; new strategies have defaults. */
export interface GivenStrategy {
  id?: number;
  name?: string;
  parameters?: unknown;
  user_list_id?: number | null;
  scopes?: readonly { id?: number; environment_scope?: string; _destroy?: boolean }[];
  _destroy?: boolean;
}

/** A request names an id that does not exist. */
export class Missing extends Error {
  override name = 'Missing';
}

/** The existing items as the request changes them, followed by the new ones. */
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

/** A new strategy without scopes applies to all environments. */
function scopesAfter(kept: Strategy | undefined, given: NonNullable<GivenStrategy['scopes']>): Scope[] {
  const after = changed(kept?.scopes ?? [], given, ({ environment_scope }, scope) => ({
    ...scope,
    environment_scope: environment_scope ?? scope?.environment_scope ?? '',
  }));
  return kept === undefined && after.length === 0 ? [{ environment_scope: '*' }] : after;
}

/** Forms send parameters as a JSON text. */
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
 * @throws Missing for an id that the flag does not have
 */
export const strategiesAfter = (before: readonly Strategy[], given: readonly GivenStrategy[]): Strategy[] =>
  changed(before, given, (each, kept): Strategy => {
    const name = each.name ?? kept?.name ?? '';
    // A strategy that changes its type loses its list.
    const list = name === kept?.name ? kept.user_list_id : null;
    return {
      ...kept,
      name,
      parameters: each.parameters === undefined ? (kept?.parameters ?? {}) : parametersIn(each.parameters),
      user_list_id: each.user_list_id === undefined ? list : each.user_list_id,
      scopes: scopesAfter(kept, each.scopes ?? []),
    };
  });
