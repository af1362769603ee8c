/** References to issuables in texts. Pure functions. */
import type { IssuableKind } from '../../../access/index.ts';

/** An issuable as referenced in texts. */
export interface Named {
  id: number;
  iid: number;
  /** Its project or group. */
  project_id?: number;
  group_id?: number;
  full_path: string;
}

/**
 * The reference to an item in a text.
 * @param from the id of the text's project or group
 * @returns `#1` inside its own project, otherwise `group/project#1`; for epics `&1` and `group&1`
 */
export const referenceTo = ({ place_column, sign }: IssuableKind, from: number | undefined, thing: Named): string =>
  thing[place_column] === from ? `${sign}${thing.iid}` : `${thing.full_path}${sign}${thing.iid}`;

const maximumPeople = 200;

/** The reasons for refusing too many assignees or reviewers. */
export const peopleReasons = (ids: readonly number[]): string[] =>
  new Set(ids).size > maximumPeople ? [`total must be less than or equal to ${maximumPeople}`] : [];

/** The refusal for an item that is missing or hidden from the caller. */
export const noMatchText = ({ name }: Pick<IssuableKind, 'name'>): string =>
  `No matching ${name} found. Make sure that you are adding a valid ${name} URL.`;

/** The refusal of a change without effect. */
export const assignedText = ({ type }: Pick<IssuableKind, 'type'>): string => `${type}(s) already assigned`;
