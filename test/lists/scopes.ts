/** Where rows are listed: in one project, in a group and those below it, or everywhere. */
import { epicsSeen, issuesSeen, mergeRequestsSeen, type Place, type Reader, type Sight } from './places.ts';
import type { Kind } from './rows.ts';
import type { ListWorld } from './world.ts';

export interface Scope {
  kind: Kind;
  path: string;
  parameters: Record<string, unknown>;
  /** Whether rows in a place are listed. */
  has(place: Place): boolean;
  /** Whether a reader is not refused. */
  admits(reader: Reader): boolean;
  /** Whether its statistics, which leave no projects out, count the same rows. */
  isWhole: boolean;
}

export const sights: Record<Kind, Sight> = { issue: issuesSeen, merge_request: mergeRequestsSeen, epic: epicsSeen };

const ofProject = (kind: 'issue' | 'merge_request', project: Place): Scope => ({
  kind,
  path: `/projects/${project.id}/${kind}s`,
  parameters: {},
  has: (place) => place === project,
  admits: (reader) => sights[kind](reader, project) !== 'nothing',
  isWhole: true,
});

const ofGroup = (kind: Kind, group: Place, parameters: object, has: Scope['has']): Scope => ({
  kind,
  path: `/groups/${group.id}/${kind}s`,
  parameters: { ...parameters },
  has,
  admits: (reader) => epicsSeen(reader, group) !== 'nothing',
  isWhole: 'non_archived' in parameters,
});

const ofAll = (kind: Kind, parameters: object, has: Scope['has']): Scope => ({
  kind,
  path: `/${kind}s`,
  parameters: { scope: 'all', ...parameters },
  has,
  admits: () => true,
  isWhole: 'non_archived' in parameters,
});

export function scopesOf({ groups, projects }: ListWorld): Scope[] {
  const { top, below, open } = groups;
  const { main, shown, team } = projects;
  const isIn = (group: Place) => (place: Place) => place.groups.includes(group.id);
  const isLiveIn = (group: Place) => (place: Place) => isIn(group)(place) && !place.isArchived;
  return [
    ...(['issue', 'merge_request'] as const).flatMap((kind) => [
      ...[main, shown, team].map((project) => ofProject(kind, project)),
      ...[top, below, open].map((group) => ofGroup(kind, group, {}, isLiveIn(group))),
      ofGroup(kind, top, { non_archived: false }, isIn(top)),
    ]),
    ofAll('issue', {}, ({ isArchived }) => !isArchived),
    ofAll('issue', { non_archived: false }, () => true),
    ofAll('merge_request', {}, () => true),
    ...[top, open].map((group) => ofGroup('epic', group, {}, isIn(group))),
    ofGroup('epic', top, { include_descendant_groups: false }, (place) => place === top),
    ofGroup('epic', below, { include_ancestor_groups: true }, (place) => place === top || place === below),
  ];
}
