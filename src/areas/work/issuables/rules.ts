/** References to issuables in texts. Pure functions. */
import type { IssuableKind } from '../../../access/index.ts';

/** An issuable as texts reference it. */
export interface Named {
  id: number;
  iid: number;
  /** The project or group that it is in. */
  project_id?: number;
  group_id?: number;
  full_path: string;
}

/**
 * The reference to an item in a text.
 * @param from the id of the project or group of the text
 * @returns `#1` inside its own project, otherwise `group/project#1`; of epics `&1` and `group&1`
 */
export const referenceTo = ({ place_column, sign }: IssuableKind, from: number | undefined, thing: Named): string =>
  thing[place_column] === from ? `${sign}${thing.iid}` : `${thing.full_path}${sign}${thing.iid}`;

const maximumPeople = 200;

/** Why these users are too many to be assigned to one item, or to review it. */
export const peopleReasons = (ids: readonly number[]): string[] =>
  new Set(ids).size > maximumPeople ? [`total must be less than or equal to ${maximumPeople}`] : [];

/** The refusal for an item that is missing, or hidden from the caller. */
export const noMatchText = ({ name }: Pick<IssuableKind, 'name'>): string =>
  `No matching ${name} found. Make sure that you are adding a valid ${name} URL.`;

/** The refusal of a change that is already made. */
export const assignedText = ({ type }: Pick<IssuableKind, 'type'>): string => `${type}(s) already assigned`;
