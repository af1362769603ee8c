/** What the pages of planning share: they are the same for a project and for a group. */
import { pageBelow } from '../../../access/index.ts';
import { capitalized } from '../../../http/index.ts';

export type Kind = 'project' | 'group';

/** The start of the name of operations, such as `Project` in `listProjectLabels`. */
export const nounOf = <K extends Kind>(kind: K): Capitalize<K> => capitalized(kind) as Capitalize<K>;

const starts = { project: '/:id/-', group: '/groups/:id/-' };

/** The path of a page of a project or group, for `page`. */
export const pathFor = (kind: Kind, rest: string): string => starts[kind] + rest;

/** The address of a page of one project or group. @param rest below `/-/`, without parameters */
export const addressOf = (kind: Kind, id: string, rest: string): string => pageBelow[kind](id, rest);
