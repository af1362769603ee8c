/** Rules that grant an epic of the group in `:id` (labels-milestones-iterations-epics.md section 4). */
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { DB } from '../db/index.ts';
import type { Access, AccessCall, Caller } from '../http/endpoint.ts';
import { badParams, forbidden, notFound, unauthorized } from '../http/errors.ts';
import { type Group, groupRole, groupVisible, isMemberOfGroup, isVisibleGroup } from './groups.ts';
import { levels, type Role } from './levels.ts';
import type { MaybeCaller } from './projects.ts';

/** What decides on an epic, besides its group. */
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

/** How a path names an epic: by its number in the group, or by its id as those of notes and discussions do. */
type Key = 'epic_iid' | 'epic_id';

const largest: Record<Key, number> = { epic_iid: 2 ** 31 - 1, epic_id: Number.MAX_SAFE_INTEGER };

/** The epic of a group with a number or id, whether the caller may read it or not. */
async function epicOf(db: Kysely<DB>, group: Pick<Group, 'id'>, key: Key, value: number): Promise<GrantedEpic | undefined> {
  if (!Number.isSafeInteger(value) || Math.abs(value) > largest[key]) return undefined;
  const row = await db
    .selectFrom('epics')
    .select(['id', 'iid', 'group_id', 'parent_id', 'title', 'state', 'author_id', 'confidential', 'updated_at'])
    .where('group_id', '=', group.id)
    .where(key === 'epic_iid' ? 'iid' : 'id', '=', value)
    .executeTakeFirst();
  return row && { ...row, state: row.state as GrantedEpic['state'] };
}

/** Whether the caller may read an epic of a group that he may know of: confidential ones are for members from Planner on. */
export const mayReadEpic = (group: Pick<Group, 'access_level'>, epic: Pick<GrantedEpic, 'confidential'>): boolean =>
  !epic.confidential || group.access_level >= levels.planner;

/** A predicate on rows of `epics`, each beside the row of `namespaces` of its group: the epic is not confidential, or not to the caller. */
export function isEpicOpenTo(caller: MaybeCaller): RawBuilder<SqlBool> {
  if (caller?.admin) return sql`true`;
  return sql`(not epics.confidential or ${isMemberOfGroup(caller, levels.planner)})`;
}

/** A predicate on rows of `epics`, each beside the row of `namespaces` of its group: the caller may read the epic, as `mayReadEpic` says for one. */
export function isVisibleEpic(caller: MaybeCaller): RawBuilder<SqlBool> {
  return sql`(${isVisibleGroup(caller)} and ${isEpicOpenTo(caller)})`;
}

/**
 * The epic in the path, if the caller may read it. It is looked for before the input is read.
 * @param missing how the 404 names it
 */
async function epicInPath({ db, params }: AccessCall, group: Group, key: Key, missing?: string): Promise<GrantedEpic> {
  const text = params[key]!;
  if (!/^-?\d+$/.test(text)) throw badParams(`${key} is invalid`);
  const epic = await epicOf(db, group, key, Number(text));
  if (!epic || !mayReadEpic(group, epic)) throw notFound(missing);
  return epic;
}

const changes = (method: string) => method !== 'GET' && method !== 'HEAD';
const isReadOnly = (group: Group) => group.archived || group.marked_for_deletion;

interface Granted<C> {
  caller: C;
  group: Group;
  epic: GrantedEpic;
}

const visibleBy = (key: Key, missing?: string): Access<Granted<MaybeCaller>> => ({
  rule: 'epic:visible',
  async check(call) {
    const { caller, group } = await groupVisible.check(call);
    const epic = await epicInPath(call, group, key, missing);
    if (isReadOnly(group) && changes(call.method)) throw forbidden();
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

/** Grants the epic with the number in `:epic_iid` to everyone who may read it, signed in or not; to change something one must be signed in. */
export const epicVisible = visibleBy('epic_iid');
/** The same for the id in `:epic_id`. */
export const epicByIdVisible = visibleBy('epic_id', 'Epic');
/** Grants the epic with the number in `:epic_iid` to those who may read it and are signed in. */
export const epicReader = readerBy('epic_iid');
/** The same for the id in `:epic_id`. */
export const epicByIdReader = readerBy('epic_id', 'Epic');
/** The two for reactions to an epic or its notes, where the 404 names the reaction. */
export const awardedEpicVisible = visibleBy('epic_iid', 'Award Emoji');
export const awardedEpicReader = readerBy('epic_iid', 'Award Emoji');

/** Grants the group in `:id` to those who plan its epics: members who hold at least `role`. */
export const epicGroupRole = (role: Role): Access<{ caller: Caller; group: Group }> => ({
  rule: `group:${role}`,
  async check(call) {
    const granted = await groupRole(role).check(call);
    if (isReadOnly(granted.group) && changes(call.method)) throw forbidden();
    return granted;
  },
});

/** Grants the epic with the number in `:epic_iid` to those who may remove it: owners of its group, and Planners, whose work it is. */
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
 * Grants the epic with the number in `:epic_iid` to members of its group who hold at least `role`. Whoever does not is refused before the epic is looked for.
 */
export const epicRole = (role: Exclude<Role, 'minimal' | 'guest'>): Access<Granted<Caller>> => ({
  rule: `epic:${role}`,
  async check(call) {
    const { caller, group } = await epicGroupRole(role).check(call);
    return { caller, group, epic: await epicInPath(call, group, 'epic_iid') };
  },
});
