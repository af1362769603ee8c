/** Access rules that grant an epic of the group in `:id`. */

import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { DB } from '../db/index.ts';
import { pagePath } from '../foundation/addresses.ts';
import { type Access, type AccessCall, type AnyEndpoint, alsoUnder, type Caller, isReading } from '../http/endpoint.ts';
import { badParams, forbidden, notFound, unauthorized } from '../http/errors.ts';
import { maximumIid } from '../http/ids.ts';
import { type Group, groupRole, groupVisible, isMemberOfGroup, isVisibleGroup, refuseReadOnlyGroup } from './groups.ts';
import type { MaybeCaller, Reading } from './instance.ts';
import { levels, type Role } from './levels.ts';
import type { Issuable, IssuableKind, NoteableAddress, NumberedIssuable, OnNoteable } from './noteables.ts';
import { isKnownGroup, isUserOfGroup } from './readers.ts';

/** The columns that decide on access to an epic, besides its group. */
export interface GrantedEpic {
  id: number;
  iid: number;
  group_id: number;
  parent_id: number | null;
  title: string;
  state: 'opened' | 'closed';
  author_id: number | null;
  confidential: boolean;
  updated_at: string;
}

/** How a path names an epic: by its number in the group, or by its ID, as the paths of notes, discussions and resource events do. */
type Key = 'epic_iid' | 'epic_id';

const largest: Record<Key, number> = { epic_iid: maximumIid, epic_id: Number.MAX_SAFE_INTEGER };

/** The epic of a group with a number or ID, whether the caller may read it or not. */
async function epicOf(
  db: Kysely<DB>,
  group: Pick<Group, 'id'>,
  key: Key,
  value: number,
): Promise<GrantedEpic | undefined> {
  if (!Number.isSafeInteger(value) || Math.abs(value) > largest[key]) return undefined;
  const row = await db
    .selectFrom('epics')
    .select(['id', 'iid', 'group_id', 'parent_id', 'title', 'state', 'author_id', 'confidential', 'updated_at'])
    .where('group_id', '=', group.id)
    .where(key === 'epic_iid' ? 'iid' : 'id', '=', value)
    .executeTakeFirst();
  return row && { ...row, state: row.state as GrantedEpic['state'] };
}

/** Whether the caller may read an epic of a visible group. Confidential epics require Planner. */
const mayReadEpic = (group: Pick<Group, 'access_level'>, epic: Pick<GrantedEpic, 'confidential'>): boolean =>
  !epic.confidential || group.access_level >= levels.planner;

/** A predicate on rows of `epics` joined with the `namespaces` of their groups: the epic is not confidential, or the caller may read confidential ones. */
function isEpicOpenTo(caller: Reading): RawBuilder<SqlBool> {
  if (caller?.admin) return sql`true`;
  return sql`(not epics.confidential or ${isMemberOfGroup(caller, levels.planner)})`;
}

/** A predicate on rows of `epics` joined with the `namespaces` of their groups: the caller may read the epic, as `mayReadEpic` decides for one. */
export function isVisibleEpic(caller: Reading): RawBuilder<SqlBool> {
  return sql`(${isVisibleGroup(caller)} and ${isEpicOpenTo(caller)})`;
}

/**
 * The epic in the path, if the caller may read it. It is looked up before the input is read.
 * @param missing how the 404 names it
 */
async function epicInPath({ db, params }: AccessCall, group: Group, key: Key, missing?: string): Promise<GrantedEpic> {
  const text = params[key]!;
  if (!/^-?\d+$/.test(text)) throw badParams(`${key} is invalid`);
  const epic = await epicOf(db, group, key, Number(text));
  if (!epic || !mayReadEpic(group, epic)) throw notFound(missing);
  return epic;
}

interface Granted<C> {
  caller: C;
  group: Group;
  epic: GrantedEpic;
}

const visibleBy = (key: Key, missing?: string): Access<Granted<MaybeCaller>> => ({
  rule: 'epic:visible',
  anonymous: true,
  async check(call) {
    const { caller, group } = await groupVisible.check(call);
    const epic = await epicInPath(call, group, key, missing);
    if (!isReading(call.method)) refuseReadOnlyGroup(group);
    return { caller, group, epic };
  },
});

const readerBy = (key: Key, missing?: string): Access<Granted<Caller>> => ({
  rule: 'epic:reader',
  async check(call) {
    if (!call.caller) throw unauthorized();
    return { ...(await visibleBy(key, missing).check(call)), caller: call.caller };
  },
});

/** Grants the epic with the number in `:epic_iid` to everyone who may read it; changes require a signed-in caller. */
export const epicVisible = visibleBy('epic_iid');
/** Grants the epic with the number in `:epic_iid` to signed-in callers who may read it. */
export const epicReader = readerBy('epic_iid');

/** Grants the group in `:id` to members who have at least `role`, for changes of its epics. */
export const epicGroupRole = (role: Role): Access<{ caller: Caller; group: Group }> => ({
  rule: `group:${role}`,
  async check(call) {
    const granted = await groupRole(role).check(call);
    if (!isReading(call.method)) refuseReadOnlyGroup(granted.group);
    return granted;
  },
});

/** Grants the epic with the number in `:epic_iid` to callers who may delete it: Owners and Planners of its group. */
export const epicRemover: Access<Granted<Caller>> = {
  rule: 'epic:remover',
  async check(call) {
    const granted = await epicRole('planner').check(call);
    const { access_level } = granted.group;
    if (access_level < levels.owner && access_level !== levels.planner) throw forbidden();
    return granted;
  },
};

/**
 * Grants the epic with the number in `:epic_iid` to members of its group who have at least `role`. Others are refused before the epic is looked up.
 */
export const epicRole = (role: Exclude<Role, 'minimal' | 'guest'>): Access<Granted<Caller>> => ({
  rule: `epic:${role}`,
  async check(call) {
    const { caller, group } = await epicGroupRole(role).check(call);
    return { caller, group, epic: await epicInPath(call, group, 'epic_iid') };
  },
});

const granting = <C>(access: Access<Granted<C>>): Access<OnNoteable<C, NumberedIssuable>> => ({
  ...access,
  async check(call) {
    const { caller, group, epic } = await access.check(call);
    const { id, iid } = epic;
    return { caller, on: { kind: epicKind, id, iid, in: { group }, access_level: group.access_level, locked: false } };
  },
});

const addressBy = (key: Key): NoteableAddress<NumberedIssuable> => ({
  path: `/groups/:id/epics/:${key}`,
  visible: (missing) => granting(visibleBy(key, missing)),
  reader: (missing) => granting(readerBy(key, missing)),
});

/** Epics as noteables. */
export const epicKind: IssuableKind = {
  name: 'epic',
  type: 'Epic',
  table: 'epics',
  column: 'epic_id',
  place_column: 'group_id',
  places: 'namespaces',
  reference: 'epic',
  sign: '&',
  page: pagePath('/groups/:group/-/epics/:epic_iid'),
  assignees: undefined,
  reviewers: undefined,
  labels: 'epic_labels',
  at: addressBy('epic_iid'),
  threads_comments: true,
  discussed_at: addressBy('epic_id'),
  endpoints: (all) =>
    alsoUnder(
      '/epics',
      '/-/epics',
      all.map((endpoint): AnyEndpoint => ({ plan: 'premium', ...endpoint })),
    ),
  isVisible: isVisibleEpic,
  isRead: sql`(users.admin or ((not epics.confidential or ${isUserOfGroup(levels.planner)}) and ${isKnownGroup}))`,
  isReadInside: sql`(users.admin or ${isUserOfGroup(levels.planner)})`,
};

export const theEpic = (id: number): Issuable => ({ kind: epicKind, id });
