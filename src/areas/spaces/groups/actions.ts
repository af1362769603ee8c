/** Creating and updating groups (docs/reference/groups.md). */
import { type Insertable, sql, type Updateable } from 'kysely';
import {
  isMoreVisible,
  lesserVisibility,
  levels,
  refreshAuthorizations,
  type VisibilityName,
} from '../../../access/index.ts';
import { type Database, type DB, isUniqueViolation, stamped } from '../../../db/index.ts';
import type { ChangesOf } from '../../../fields/index.ts';
import { isValidBranchName } from '../../../git/index.ts';
import { invalid, invalidAs } from '../../../http/index.ts';
import {
  groupDescriptionReasons,
  groupNameReasons,
  groupPathReasons,
  isPathTaken,
  type LockedNamespace,
  lockNamespace,
  moveGroup,
  tellOfGroup,
} from '../../people/namespaces/index.ts';
import type { detailFields, groupFields } from './fields.ts';
import { maximumDepth } from './rules.ts';

/** Columns that are stored as given. */
export type GroupSettings = Pick<
  Updateable<DB['namespaces']>,
  Exclude<
    keyof ChangesOf<typeof groupFields & typeof detailFields, 'namespaces'>,
    'description' | 'visibility' | 'default_branch'
  >
>;

export interface NewGroup extends GroupSettings {
  name: string;
  path: string;
  /** Omitted for a top-level group. */
  parent_id?: number | undefined;
  description?: string | undefined;
  visibility?: VisibilityName | undefined;
  /** Used without `visibility`, and limited by the parent group. Private if omitted. */
  default_visibility?: VisibilityName | undefined;
  default_branch?: string | null | undefined;
  /** The storage of the group's own repositories; `default` if omitted. */
  repository_storage?: string;
  /** Now if omitted. */
  created_at?: string;
  /** The creator becomes the owner, unless they already own an ancestor group. */
  creator_id: number;
  /** Whether it triggers no notifications. */
  is_quiet?: true;
}

type Reasons = Record<string, string[]>;
const taken = 'has already been taken';
const refusal = (reasons: Reasons) => invalidAs('Failed to save group', reasons);

/**
 * Creates a group.
 * @param tx a transaction
 * @returns its ID
 * @throws ApiError 400 with all reasons in one sentence
 */
export async function createGroup(tx: Database, group: NewGroup): Promise<number> {
  const { parent_id, creator_id, is_quiet, visibility: _chosen, default_visibility = 'private', ...columns } = group;
  const parent = parent_id === undefined ? undefined : await lockNamespace(tx, parent_id);
  const allowed = group.visibility ?? lesserVisibility(default_visibility, parent?.visibility ?? 'public');
  const reasons = await reasonsAgainst(tx, { ...group, visibility: allowed }, parent);
  if (Object.keys(reasons).length > 0) throw refusal(reasons);
  const full_path = parent ? `${parent.full_path}/${group.path}` : group.path;
  const row = { ...columns, visibility: allowed, full_path, parent_id: parent_id ?? null };
  const id = await insertGroup(tx, row, parent?.traversal_ids ?? []);
  if (!(await isOwnerAbove(tx, creator_id, parent)))
    await tx
      .insertInto('members')
      .values({ group_id: id, user_id: creator_id, access_level: levels.owner, created_by_id: creator_id })
      .execute();
  await refreshAuthorizations(tx, { group_id: id });
  if (!is_quiet) await tellOfGroup(tx, 'create', id);
  return id;
}

async function insertGroup(
  tx: Database,
  row: Omit<Insertable<DB['namespaces']>, 'kind' | 'traversal_ids'>,
  above: readonly number[],
): Promise<number> {
  try {
    const { id } = await tx
      .insertInto('namespaces')
      .values({ ...row, kind: 'group', traversal_ids: sql`'{}'` })
      .returning('id')
      .executeTakeFirstOrThrow();
    await tx
      .updateTable('namespaces')
      .set({ traversal_ids: [...above, id] })
      .where('id', '=', id)
      .execute();
    return id;
  } catch (error) {
    // At the top level there is no tree to lock, so two groups can take the same path at the same time.
    if (isUniqueViolation(error, 'namespaces_full_path_key')) throw refusal({ path: [taken] });
    throw error;
  }
}

async function isOwnerAbove(tx: Database, user_id: number, parent: LockedNamespace | undefined): Promise<boolean> {
  if (!parent) return false;
  const { rows } = await sql`
    select from group_authorizations
     where user_id = ${user_id} and group_id = ${parent.id} and access_level = ${levels.owner} and expires_at is null`.execute(
    tx,
  );
  return rows.length > 0;
}

export type GroupChanges = Partial<Omit<NewGroup, 'parent_id' | 'creator_id' | 'default_visibility'>>;

/**
 * Updates a group. A new path also changes the paths of everything in it.
 * @param tx a transaction
 * @throws ApiError 400 with the reasons by parameter, 404 when the group no longer exists
 */
export async function updateGroup(tx: Database, group_id: number, changes: GroupChanges): Promise<void> {
  const place = await lockNamespace(tx, group_id);
  const [parent_id] = place.traversal_ids.slice(-2, -1);
  const parent = parent_id === undefined ? undefined : await lockNamespace(tx, parent_id);
  const reasons = await reasonsAgainst(tx, changes, parent, place);
  if (Object.keys(reasons).length > 0) throw invalid(reasons);
  const { path, ...columns } = changes;
  try {
    if (path !== undefined) await moveGroup(tx, place, path, parent);
    await tx
      .updateTable('namespaces')
      .set(stamped(columns, path !== undefined && path !== place.path))
      .where('id', '=', group_id)
      .execute();
    if (path !== undefined && path !== place.path) await tellOfGroup(tx, 'rename', group_id, place);
  } catch (error) {
    if (isUniqueViolation(error, 'namespaces_full_path_key')) throw invalid({ path: [taken] });
    throw error;
  }
}

interface Wanted {
  name?: string | undefined;
  path?: string | undefined;
  description?: string | undefined;
  visibility?: VisibilityName | undefined;
  default_branch?: string | null | undefined;
}

/**
 * Reasons against the values of a new or updated group (docs/reference/groups.md).
 * @param tx the transaction of the change, with the tree locked
 * @param wanted the new values
 * @param parent the parent group, if any
 * @param group the current group; omitted for a new one
 * @returns reasons by parameter, empty when the values are valid
 */
async function reasonsAgainst(
  tx: Database,
  wanted: Wanted,
  parent: LockedNamespace | undefined,
  group?: LockedNamespace,
): Promise<Reasons> {
  const { name, path, description, visibility, default_branch } = wanted;
  const reasons: Reasons = {
    name: name === undefined ? [] : [...groupNameReasons(name), ...(await nameTaken(tx, name, parent, group))],
    path: path === undefined ? [] : await pathRefused(tx, path, parent, group),
    description: description === undefined ? [] : groupDescriptionReasons(description),
    visibility_level: visibility === undefined ? [] : await visibilityRefused(tx, visibility, parent, group),
    default_branch: default_branch && !isValidBranchName(default_branch) ? ['is invalid'] : [],
    parent_id: !group && parent && parent.traversal_ids.length >= maximumDepth ? ['has too deep level of nesting'] : [],
  };
  return Object.fromEntries(Object.entries(reasons).filter(([, texts]) => texts.length > 0));
}

async function nameTaken(
  tx: Database,
  name: string,
  parent: LockedNamespace | undefined,
  group: LockedNamespace | undefined,
): Promise<string[]> {
  // Top-level groups may share a name; their paths distinguish them.
  if (!parent) return [];
  const { rows } = await sql`
    select from namespaces where parent_id = ${parent.id} and name = ${name} and id is distinct from ${group?.id ?? null}::bigint`.execute(
    tx,
  );
  return rows.length > 0 ? [taken] : [];
}

async function pathRefused(
  tx: Database,
  path: string,
  parent: LockedNamespace | undefined,
  group: LockedNamespace | undefined,
): Promise<string[]> {
  const full_path = parent ? `${parent.full_path}/${path}` : path;
  // A group keeps its path, even if the rules have become stricter since.
  if (full_path === group?.full_path) return [];
  const reasons = groupPathReasons(path, !parent);
  return (await isPathTaken(tx, full_path, group?.id)) ? [...reasons, taken] : reasons;
}

async function visibilityRefused(
  tx: Database,
  visibility: VisibilityName,
  parent: LockedNamespace | undefined,
  group: LockedNamespace | undefined,
): Promise<string[]> {
  const reasons: string[] = [];
  if (parent && isMoreVisible(visibility, parent.visibility))
    reasons.push(`${visibility} is not allowed since the parent group has a ${parent.visibility} visibility.`);
  if (!group || !isMoreVisible(group.visibility, visibility)) return reasons;
  const above = visibility === 'private' ? ['internal', 'public'] : ['public'];
  const { rows } = await sql<{ projects: boolean; subgroups: boolean }>`
    select exists (select from projects where namespace_id = ${group.id} and visibility = any(${above}::text[])) as projects,
           exists (select from namespaces where parent_id = ${group.id} and visibility = any(${above}::text[])) as subgroups`.execute(
    tx,
  );
  const { projects, subgroups } = rows[0]!;
  if (projects) reasons.push(`${visibility} is not allowed since this group contains projects with higher visibility.`);
  if (subgroups) reasons.push(`${visibility} is not allowed since there are sub-groups with higher visibility.`);
  return reasons;
}
