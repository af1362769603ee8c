/** The projects and groups of the test of lists, and who reads what in them, as docs/reference has it. */

import { sent } from '../support/sent.ts';
import type { World } from '../support/world.ts';

/** The level of each reader in the private group, and in the public one. */
const levels = {
  admin: [50, 50],
  developer: [30, 0],
  planner: [15, 15],
  guest: [10, 0],
  outsider: [0, 0],
  anonymous: [0, 0],
} as const;

export type Reader = keyof typeof levels;
export const readers = Object.keys(levels) as Reader[];

/** A project or group. */
export interface Place {
  id: number;
  name: string;
  visibility: 'private' | 'internal' | 'public';
  /** Whether it is in the public group. */
  isOpen: boolean;
  /** Whether issues and merge requests are for members only. */
  isForMembers: boolean;
  isArchived: boolean;
  /** The ids of the groups that it is in, and its own if it is a group. */
  groups: readonly number[];
}

const levelIn = (reader: Reader, { isOpen }: Place): number => levels[reader][isOpen ? 1 : 0];

export const isVisible = (reader: Reader, place: Place): boolean =>
  place.visibility === 'public' ||
  (place.visibility === 'internal' && reader !== 'anonymous') ||
  levelIn(reader, place) > 0;

/** What a reader sees of the rows in a place: none, those that are not confidential (and their own), or all. */
export type Sight = (reader: Reader, place: Place) => 'nothing' | 'plain' | 'all';

export const issuesSeen: Sight = (reader, place) => {
  if (!isVisible(reader, place) || (place.isForMembers && levelIn(reader, place) === 0)) return 'nothing';
  return levelIn(reader, place) >= 15 ? 'all' : 'plain';
};

export const mergeRequestsSeen: Sight = (reader, place) => {
  const areOpen = place.visibility !== 'private' && !place.isForMembers && isVisible(reader, place);
  return areOpen || levelIn(reader, place) >= 20 ? 'all' : 'nothing';
};

export const epicsSeen: Sight = (reader, place) => {
  if (!isVisible(reader, place)) return 'nothing';
  return levelIn(reader, place) >= 15 ? 'all' : 'plain';
};

export interface Places {
  /** A private group with a group below, and a public one with a private group below. */
  groups: Record<'top' | 'below' | 'open' | 'hidden', Place>;
  projects: Record<'main' | 'inside' | 'old' | 'shown' | 'internal' | 'team' | 'secret', Place>;
}

export async function addPlaces(here: World): Promise<Places> {
  const { as, group, project, people } = here;
  const usual = { visibility: 'private', isOpen: false, isForMembers: false, isArchived: false } as const;
  const top: Place = { ...usual, id: group.id, name: 'top', groups: [group.id] };
  const addGroup = async (name: string, place: Pick<Place, 'visibility' | 'isOpen'>, above?: Place): Promise<Place> => {
    const parent = above && { parent_id: above.id };
    const { visibility } = place;
    const { id } = await sent(
      as('owner').post('/groups', { name, path: `${name}-${group.id}`, visibility, ...parent }),
    );
    return { ...usual, ...place, id, name, groups: [...(above?.groups ?? []), id] };
  };
  const addProject = async (name: string, above: Place, place: Partial<Place> = {}): Promise<Place> => {
    const { visibility = 'private', isForMembers = false, isArchived = false } = place;
    const access = isForMembers ? { issues_access_level: 'private', merge_requests_access_level: 'private' } : {};
    const { id } = await sent(as('owner').post('/projects', { name, namespace_id: above.id, visibility, ...access }));
    if (isArchived) await sent(as('owner').post(`/projects/${id}/archive`));
    return { ...usual, ...place, id, name, isOpen: above.isOpen, groups: above.groups };
  };
  const below = await addGroup('below', usual, top);
  const open = await addGroup('open', { visibility: 'public', isOpen: true });
  await sent(as('owner').post(`/groups/${open.id}/members`, { user_id: people.planner.id, access_level: 15 }));
  const hidden = await addGroup('hidden', { visibility: 'private', isOpen: true }, open);
  const projects = {
    main: { ...usual, id: project.id, name: 'main', groups: [top.id] },
    inside: await addProject('inside', below),
    old: await addProject('old', top, { isArchived: true }),
    shown: await addProject('shown', open, { visibility: 'public' }),
    internal: await addProject('internal', open, { visibility: 'internal' }),
    team: await addProject('team', open, { visibility: 'public', isForMembers: true }),
    secret: await addProject('secret', hidden),
  };
  return { groups: { top, below, open, hidden }, projects };
}
