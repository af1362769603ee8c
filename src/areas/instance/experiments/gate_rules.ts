/** Gates: the ways into a feature, each of which suffices. Pure functions of what is stored. */
import { createHash } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { resource } from '../../../http/index.ts';

/** Whom a feature is on for: what the hash and the gate `actors` know him as. */
export type Actor = `${ActorKind}:${number}`;
/** A repository is an actor of its own, which can be on where its project is not. */
export type ActorKind = 'User' | 'Group' | 'Namespaces::UserNamespace' | 'Project' | 'Repository';

/** The keys of gates that hold a percentage. */
export const percentageKeys = ['percentage_of_actors', 'percentage_of_time'] as const;
export type PercentageKey = (typeof percentageKeys)[number];

/** Groups of actors that a gate may name, with what they are. */
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
 * @param rows all of the feature, or those that one actor could come in by
 * @throws Error when a row says nothing that a gate can mean
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

/** The same, for those who have to go on: a feature whose gates cannot be read is off. */
export function readableGates(rows: readonly GateRow[]): Gates {
  try {
    return gatesFrom(rows);
  } catch {
    return gatesFrom([]);
  }
}

/** Whether a feature is on for all, for nobody, or for some (docs/reference/experiments.md). */
export function stateOf(gates: Gates): State {
  if (gates.boolean || percentageKeys.some((key) => gates[key] === 100)) return 'on';
  const isSet = percentageKeys.some((key) => gates[key] > 0) || gates.actors.length > 0 || gates.groups.length > 0;
  return isSet ? 'conditional' : 'off';
}

/** A gate as it is shown. */
export const Gate = resource('Gate', {
  key: Type.String(),
  value: Type.Union([Type.Boolean(), Type.Integer(), Type.Array(Type.String())]),
});

/** Gates as they are shown: those that are set, and `boolean` always. */
export const listOfGates = (gates: Gates): Static<typeof Gate>[] => [
  { key: 'boolean', value: gates.boolean },
  ...(gates.actors.length > 0 ? [{ key: 'actors', value: gates.actors.toSorted() }] : []),
  ...percentageKeys.filter((key) => gates[key] > 0).map((key) => ({ key, value: gates[key] })),
  ...(gates.groups.length > 0 ? [{ key: 'groups', value: gates.groups.toSorted() }] : []),
];

/**
 * Where an actor stands in a feature, of 100 places: the same for ever, in every process, and another one in each feature. Whoever is in at a percentage is so
 * at every higher one.
 */
export const placeOf = (name: string, actor: string): number =>
  createHash('sha256').update(`${name}${actor}`).digest().readUInt32BE() % 100;

/**
 * Whether gates let an actor in.
 * @param name of the feature
 * @param actor_groups the groups that the actor belongs to
 * @param chance 0, inclusive, to 1, for the share of time
 */
export const isOpen = (gates: Gates, name: string, actor: Actor, actor_groups: readonly string[], chance: number): boolean =>
  gates.boolean ||
  gates.actors.includes(actor) ||
  placeOf(name, actor) < gates.percentage_of_actors ||
  chance * 100 < gates.percentage_of_time ||
  gates.groups.some((group) => actor_groups.includes(group));
