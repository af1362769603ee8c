/** Gates: the conditions that enable a feature; one that matches is enough. Pure functions of the stored rows. */
import { createHash } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { resource } from '../../../http/index.ts';

/** An actor that a feature can be on for, in the form that the hash and the gate `actors` use. */
export type Actor = `${ActorKind}:${number}`;
/** A repository is an actor of its own: a feature can be on for it but not for its project. */
export type ActorKind = 'User' | 'Group' | 'Namespaces::UserNamespace' | 'Project' | 'Repository';

/** The keys of gates that hold a percentage. */
export const percentageKeys = ['percentage_of_actors', 'percentage_of_time'] as const;
export type PercentageKey = (typeof percentageKeys)[number];

/** The groups of actors that a gate may name, with their descriptions. */
export const actorGroups: Readonly<Record<string, string>> = {
  team_members: 'Administrators, and the members of the group that the application setting `team_group` names',
};

/** A row of `feature_gates`. */
export interface GateRow {
  key: string;
  value: string;
}

export interface Gates {
  boolean: boolean;
  /** 0 to 100. */
  percentage_of_actors: number;
  /** 0 to 100. */
  percentage_of_time: number;
  actors: readonly string[];
  groups: readonly string[];
}

export type State = 'on' | 'off' | 'conditional';

/**
 * The gates of one feature.
 * @param rows all rows of the feature, or those that can match one actor
 * @throws Error for a row that is not a valid gate
 */
export function gatesFrom(rows: readonly GateRow[]): Gates {
  const valuesOf = (key: string) => rows.filter((row) => row.key === key).map(({ value }) => value);
  const percentage = (key: PercentageKey) => {
    const [value = '0'] = valuesOf(key);
    if (!/^\d{1,2}$|^100$/.test(value)) throw new Error(`${key} is no percentage`);
    return Number(value);
  };
  const [boolean = 'false'] = valuesOf('boolean');
  if (boolean !== 'true' && boolean !== 'false') throw new Error('boolean is neither true nor false');
  return {
    boolean: boolean === 'true',
    percentage_of_actors: percentage('percentage_of_actors'),
    percentage_of_time: percentage('percentage_of_time'),
    actors: valuesOf('actors'),
    groups: valuesOf('groups'),
  };
}

/** The same for callers that must not fail: a feature whose gates cannot be read is off. */
export function readableGates(rows: readonly GateRow[]): Gates {
  try {
    return gatesFrom(rows);
  } catch {
    return gatesFrom([]);
  }
}

/** Whether a feature is on for everyone, for no actor, or for some (docs/reference/experiments.md). */
export function stateOf(gates: Gates): State {
  if (gates.boolean || percentageKeys.some((key) => gates[key] === 100)) return 'on';
  const isSet = percentageKeys.some((key) => gates[key] > 0) || gates.actors.length > 0 || gates.groups.length > 0;
  return isSet ? 'conditional' : 'off';
}

/** A gate in replies. */
export const Gate = resource('Gate', {
  key: Type.String(),
  value: Type.Union([Type.Boolean(), Type.Integer(), Type.Array(Type.String())]),
});

/** Gates in replies: the gates that are set, and always `boolean`. */
export const listOfGates = (gates: Gates): Static<typeof Gate>[] => [
  { key: 'boolean', value: gates.boolean },
  ...(gates.actors.length > 0 ? [{ key: 'actors', value: gates.actors.toSorted() }] : []),
  ...percentageKeys.filter((key) => gates[key] > 0).map((key) => ({ key, value: gates[key] })),
  ...(gates.groups.length > 0 ? [{ key: 'groups', value: gates.groups.toSorted() }] : []),
];

/**
 * The bucket, out of 100, of an actor in a feature: stable over time and across processes, and independent between
 * features. An actor that is admitted at one percentage is admitted at every higher one.
 */
export const bucketOf = (name: string, actor: string): number =>
  createHash('sha256').update(`${name}${actor}`).digest().readUInt32BE() % 100;

/**
 * Whether gates admit an actor.
 * @param name of the feature
 * @param actor_groups the groups that the actor belongs to
 * @param chance 0, inclusive, to 1, for the share of time
 */
export const isOpen = (
  gates: Gates,
  name: string,
  actor: Actor,
  actor_groups: readonly string[],
  chance: number,
): boolean =>
  gates.boolean ||
  gates.actors.includes(actor) ||
  bucketOf(name, actor) < gates.percentage_of_actors ||
  chance * 100 < gates.percentage_of_time ||
  gates.groups.some((group) => actor_groups.includes(group));
