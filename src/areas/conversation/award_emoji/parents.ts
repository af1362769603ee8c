/** What people react to: an issue or an epic, and the notes on either. Each has the same routes. */
import {
  awardedEpicReader,
  awardedEpicVisible,
  awardedIssueReader,
  awardedIssueVisible,
  type GrantedEpic,
  type GrantedIssue,
  type Group,
  levels,
  type MaybeCaller,
  type Project,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Access, type Caller, found } from '../../../http/index.ts';
import { isOn, isVisibleNote, type Noteable } from '../notes/index.ts';
import type { Awardable } from './queries.ts';

/** An issue or epic, as far as reactions to it and to its notes go. */
export interface Parent {
  on: Noteable;
  /** The caller's level in its project or group. */
  access_level: number;
  /** Whether the caller may react. */
  is_open: boolean;
}

export interface Granted<C> {
  caller: C;
  parent: Parent;
}

/** Where parents of one kind live. */
export interface Kind {
  path: string;
  /** For everyone who may read it. */
  visible: Access<Granted<MaybeCaller>>;
  /** For those who are signed in. */
  reader: Access<Granted<Caller>>;
}

const ofIssue = ({ access_level }: Project, { id, discussion_locked }: GrantedIssue): Parent => ({
  on: { issue_id: id },
  access_level,
  is_open: discussion_locked !== true || access_level >= levels.guest,
});

const ofEpic = ({ access_level }: Group, { id }: GrantedEpic): Parent => ({ on: { epic_id: id }, access_level, is_open: true });

const onIssue = <C>(access: Access<{ caller: C; project: Project; issue: GrantedIssue }>): Access<Granted<C>> => ({
  rule: access.rule,
  async check(call) {
    const { caller, project, issue } = await access.check(call);
    return { caller, parent: ofIssue(project, issue) };
  },
});

const onEpic = <C>(access: Access<{ caller: C; group: Group; epic: GrantedEpic }>): Access<Granted<C>> => ({
  rule: access.rule,
  async check(call) {
    const { caller, group, epic } = await access.check(call);
    return { caller, parent: ofEpic(group, epic) };
  },
});

export const issueParents: Kind = {
  path: '/projects/:id/issues/:issue_iid',
  visible: onIssue(awardedIssueVisible),
  reader: onIssue(awardedIssueReader),
};
export const epicParents: Kind = {
  path: '/groups/:id/epics/:epic_iid',
  visible: onEpic(awardedEpicVisible),
  reader: onEpic(awardedEpicReader),
};

/** What is reacted to, and whether the caller may. */
export interface Target {
  awardable: Awardable;
  is_open: boolean;
}

/**
 * What a path names: the parent, or a note on it. What the product itself has noted nobody reacts to.
 * @throws ApiError 404 for a note that is not there, or not for the caller
 */
export async function targetOf(
  db: Database,
  { caller, parent }: Granted<MaybeCaller>,
  note_id: number | undefined,
): Promise<Target> {
  if (note_id === undefined) return { awardable: parent.on, is_open: parent.is_open };
  const query = db.selectFrom('notes').select(['notes.id', 'notes.system']).where('notes.id', '=', note_id);
  const seen = query.where(isOn(parent.on)).where(isVisibleNote(caller, parent.access_level >= levels.planner));
  const note = found('Award Emoji', await seen.executeTakeFirst());
  return { awardable: { note_id: note.id }, is_open: parent.is_open && !note.system };
}
