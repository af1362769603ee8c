/** What is discussed: an issue of a project, or an epic of a group. Both have the same routes. */
import {
  epicByIdReader,
  epicByIdVisible,
  type GrantedEpic,
  type GrantedIssue,
  type Group,
  levels,
  type MaybeCaller,
  namedIssueReader,
  namedIssueVisible,
  type Project,
} from '../../../access/index.ts';
import type { Access, Caller } from '../../../http/index.ts';
import type { Noteable } from '../notes/index.ts';
import type { CommandTarget } from '../quick_actions/index.ts';

export type Kind = 'issue' | 'epic';

export interface Parent {
  noteable: Noteable;
  /** The project of an issue; an epic is in none. */
  project_id: number | null;
  /** The caller's level in the project or group. */
  access_level: number;
  /** Whether only members may comment. */
  locked: boolean;
  iid: number;
  /** Where its quick actions work. */
  on: CommandTarget['on'];
}

export interface Granted<C = Caller> {
  caller: C;
  parent: Parent;
}

const parentOfIssue = (project: Project, issue: GrantedIssue): Parent => ({
  noteable: { issue_id: issue.id },
  project_id: project.id,
  access_level: project.access_level,
  locked: issue.discussion_locked === true,
  iid: issue.iid,
  on: { project, issue_id: issue.id },
});

const parentOfEpic = (group: Group, epic: GrantedEpic): Parent => ({
  noteable: { epic_id: epic.id },
  project_id: null,
  access_level: group.access_level,
  locked: false,
  iid: epic.iid,
  on: { group, epic_id: epic.id },
});

type OnIssue<C> = Access<{ caller: C; project: Project; issue: GrantedIssue }>;
type OnEpic<C> = Access<{ caller: C; group: Group; epic: GrantedEpic }>;

const grantedBy = <C>(access: OnIssue<C> | OnEpic<C>): Access<Granted<C>> => ({
  rule: access.rule,
  async check(call) {
    const granted = await access.check(call);
    const parent = 'issue' in granted ? parentOfIssue(granted.project, granted.issue) : parentOfEpic(granted.group, granted.epic);
    return { caller: granted.caller, parent };
  },
});

/** Grants the issue or epic in the path to those who may read it and are signed in. */
export const readerOf = (kind: Kind): Access<Granted> => grantedBy(kind === 'issue' ? namedIssueReader : epicByIdReader);

/** Grants the issue or epic in the path to everyone who may read it, signed in or not. */
export const visibleOf = (kind: Kind): Access<Granted<MaybeCaller>> =>
  grantedBy(kind === 'issue' ? namedIssueVisible : epicByIdVisible);

/** Whether the caller may write comments: everyone who may read, and only members where the discussion is locked. */
export const mayComment = ({ locked, access_level }: Parent): boolean => !locked || access_level >= levels.guest;

/** Whether the caller may read and write internal notes. */
export const mayReadInternal = ({ access_level }: Parent): boolean => access_level >= levels.planner;

/** Whether the caller may say when something was written (discussions.md, Parameters). */
export const mayDate = ({ access_level }: Parent): boolean => access_level >= levels.owner;

/** Whether the caller may change or remove a comment: his own while he may comment, every one from Maintainer on. What the product wrote stays. */
export const mayChange = (parent: Parent, caller: Caller, note: { system: boolean; author_id: number | null }): boolean =>
  !note.system && mayComment(parent) && (note.author_id === caller.id || parent.access_level >= levels.maintainer);
