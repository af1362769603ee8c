/** Complete changes to branch protections. */
import { sql } from 'kysely';
import { knownIn, knownInGroup, levels, type Project } from '../../../access/index.ts';
import { type Database, isUniqueViolation, ofAnyLength } from '../../../db/index.ts';
import { isAbout } from '../../../foundation/wildcards.ts';
import { type Caller, conflict, forbidden, found, unprocessable } from '../../../http/index.ts';
import { retryWaiting } from '../commit_statuses/actions.ts';
import { refuseUnprotection } from '../security_policies/branch_checks.ts';
import { defaultProtectionOf, type ProtectionOwner, ruleNamed, rulesOf } from './queries.ts';
import { type Entry, entriesFrom, isProtecting, mayUnprotect, type ProtectedAction } from './rules.ts';

/** A change of entries: a new entry, another grantee for the entry with this id, or its removal. */
export interface EntryChange extends Entry {
  id?: number | undefined;
  ends: boolean;
}

interface Change {
  project: Project;
  caller: Caller;
  name: string;
}

/** The name of the kind of owner. */
const nounOf = (owner: ProtectionOwner) => ('project_id' in owner ? 'project' : 'group');

/** The users and groups that entries may name. */
const knownTo = (tx: Database, owner: ProtectionOwner, asked: Parameters<typeof knownIn>[2]) =>
  'project_id' in owner ? knownIn(tx, owner.project_id, asked) : knownInGroup(tx, owner.group_id, asked);

const maximumName = 255;

const labelOf = (action: ProtectedAction) => `${action.charAt(0).toUpperCase()}${action.slice(1)} access levels`;

/** @throws ApiError 422 for users and groups without a relation to the project or group */
async function refuseStrangers(tx: Database, owner: ProtectionOwner, entries: readonly Entry[]): Promise<void> {
  const user_ids = entries.flatMap(({ user_id }) => user_id ?? []);
  const group_ids = entries.flatMap(({ group_id }) => group_id ?? []);
  if (user_ids.length + group_ids.length === 0) return;
  const { users, groups } = await knownTo(tx, owner, { user_ids, group_ids });
  const texts = entries.flatMap(({ action, user_id, group_id }) => {
    if (user_id !== null && !users.has(user_id))
      return `${labelOf(action)} user is not a member of the ${nounOf(owner)}`;
    if (group_id !== null && !groups.has(group_id))
      return `${labelOf(action)} group does not have access to the ${nounOf(owner)}`;
    return [];
  });
  if (texts.length > 0) throw unprocessable([...new Set(texts)].join(', '));
}

async function addEntries(tx: Database, protected_branch_id: number, entries: readonly Entry[]): Promise<void> {
  if (entries.length === 0) return;
  await tx
    .insertInto('protected_branch_access_levels')
    .values(
      entries.map(({ action, access_level, user_id, group_id }) => ({
        protected_branch_id,
        action,
        access_level,
        user_id,
        group_id,
      })),
    )
    .execute();
}

/** @throws ApiError 422 when `work` would name the same grantee twice */
async function withoutTwins(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (isUniqueViolation(error)) throw unprocessable('Access levels has already been taken');
    throw error;
  }
}

/**
 * Protects a branch, or all branches that match a pattern.
 * @param tx a transaction
 * @throws ApiError 409 if a protection of this name exists, 422 for an invalid name or entry
 */
export async function protectBranch(
  tx: Database,
  owner: ProtectionOwner,
  {
    name,
    allow_force_push,
    code_owner_approval_required,
    entries,
  }: {
    name: string;
    entries: readonly Entry[];
    allow_force_push: boolean;
    code_owner_approval_required?: boolean | undefined;
  },
): Promise<void> {
  if (name.length > maximumName) throw unprocessable(`Name is too long (maximum is ${maximumName} characters)`);
  await refuseStrangers(tx, owner, entries);
  const added = await tx
    .insertInto('protected_branches')
    .values({ ...owner, name, allow_force_push, code_owner_approval_required })
    .onConflict((conflicts) => conflicts.doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!added) throw conflict(`Protected branch '${name}' already exists`);
  await withoutTwins(addEntries(tx, added.id, entries));
}

/** The protection, locked until the transaction ends, if the caller may change it. */
async function changeable(tx: Database, { project, caller, name }: Change): Promise<{ id: number }> {
  await tx
    .selectFrom('protected_branches')
    .select('id')
    .where('project_id', '=', project.id)
    .where('name', '=', name)
    .forUpdate()
    .execute();
  const { id, entries } = found(undefined, await ruleNamed(tx, { project_id: project.id }, caller, name));
  if (!mayUnprotect(entries, { caller, access_level: project.access_level })) throw forbidden();
  return { id };
}

/**
 * Changes a protection.
 * @param tx a transaction
 * @throws ApiError 404 for an unknown protection or entry, 403 if the caller may not unprotect the branch, 422 for invalid entries
 */
export async function changeProtection(
  tx: Database,
  change: Change & {
    allow_force_push: boolean | undefined;
    code_owner_approval_required: boolean | undefined;
    entries: readonly EntryChange[];
  },
): Promise<void> {
  const { id } = await changeable(tx, change);
  await changeColumns(tx, id, change);
  await changeEntries(tx, id, { project_id: change.project.id }, change.entries);
  await retryWaiting(tx, { project_id: change.project.id });
}

type ColumnChanges = Record<'allow_force_push' | 'code_owner_approval_required', boolean | undefined>;

const changeColumns = (tx: Database, id: number, { allow_force_push, code_owner_approval_required }: ColumnChanges) =>
  tx
    .updateTable('protected_branches')
    .set({ updated_at: sql`now()`, allow_force_push, code_owner_approval_required })
    .where('id', '=', id)
    .execute();

/**
 * Changes a protection of a group.
 * @param tx a transaction
 * @throws ApiError 404 for an unknown protection or entry, 422 for invalid entries
 */
export async function changeGroupProtection(
  tx: Database,
  group_id: number,
  { name, entries, ...columns }: ColumnChanges & { name: string; entries: readonly EntryChange[] },
): Promise<void> {
  const named = tx
    .selectFrom('protected_branches')
    .select('id')
    .where('group_id', '=', group_id)
    .where('name', '=', name);
  const { id } = found(undefined, await named.forUpdate().executeTakeFirst());
  await changeColumns(tx, id, columns);
  await changeEntries(tx, id, { group_id }, entries);
}

async function changeEntries(
  tx: Database,
  id: number,
  owner: ProtectionOwner,
  changes: readonly EntryChange[],
): Promise<void> {
  const named = changes.filter((change) => change.id !== undefined);
  const there = await tx
    .selectFrom('protected_branch_access_levels')
    .select(['id', 'action'])
    .where('protected_branch_id', '=', id)
    .execute();
  for (const change of named)
    found(
      undefined,
      there.find((entry) => entry.id === change.id && entry.action === change.action),
    );
  const lasting = changes.filter(({ ends }) => !ends);
  await refuseStrangers(tx, owner, lasting);
  const ended = named.filter(({ ends }) => ends).map((change) => change.id!);
  await tx
    .deleteFrom('protected_branch_access_levels')
    .where('id', '=', sql<number>`any(${ofAnyLength(ended, 'bigint[]')})`)
    .execute();
  await withoutTwins(moveEntries(tx, lasting));
  await withoutTwins(
    addEntries(
      tx,
      id,
      lasting.filter((change) => change.id === undefined),
    ),
  );
}

/** Changes the grantees of the entries with these ids. */
async function moveEntries(tx: Database, changes: readonly EntryChange[]): Promise<void> {
  const moved = changes.filter(({ id }) => id !== undefined);
  if (moved.length === 0) return;
  await sql`
    update protected_branch_access_levels entry
       set access_level = given.access_level, user_id = given.user_id, group_id = given.group_id
      from jsonb_to_recordset(${JSON.stringify(moved)}::jsonb) as given (id bigint, access_level integer, user_id bigint, group_id bigint)
     where entry.id = given.id`.execute(tx);
}

/**
 * Removes a protection.
 * @param tx a transaction
 * @throws ApiError 404 if there is none of this name, 403 if the caller may not unprotect the branch or a policy keeps it protected
 */
export async function unprotectBranch(tx: Database, change: Change): Promise<void> {
  const { id } = await changeable(tx, change);
  await refuseUnprotection(tx, change.project.id, change.name);
  await tx.deleteFrom('protected_branches').where('id', '=', id).execute();
  await retryWaiting(tx, { project_id: change.project.id });
}

/**
 * Removes the protection of this name, if there is one.
 * @param tx a transaction
 * @throws ApiError 403 if the caller may not unprotect the branch
 */
export async function unprotectIfProtected(tx: Database, change: Change): Promise<void> {
  if (await ruleNamed(tx, { project_id: change.project.id }, change.caller, change.name))
    await unprotectBranch(tx, change);
}

const from = (action: ProtectedAction, access_level: number): Entry => ({
  action,
  access_level,
  user_id: null,
  group_id: null,
});

/**
 * Protects a branch in the legacy form, which supports only developers and maintainers. Omitted levels stay as they are; a new protection defaults to maintainers.
 * @param tx a transaction
 * @throws ApiError 403 if the caller may not unprotect the branch
 */
export async function protectByRole(
  tx: Database,
  change: Change & { developers_can_push: boolean | undefined; developers_can_merge: boolean | undefined },
): Promise<void> {
  const { project, caller, name } = change;
  const wanted = { push: change.developers_can_push, merge: change.developers_can_merge };
  const levelOf = (isOpen: boolean | undefined) => (isOpen ? levels.developer : levels.maintainer);
  if (!(await ruleNamed(tx, { project_id: project.id }, caller, name))) {
    const entries = [from('push', levelOf(wanted.push)), from('merge', levelOf(wanted.merge))];
    return protectBranch(tx, { project_id: project.id }, { name, allow_force_push: false, entries });
  }
  const { id } = await changeable(tx, change);
  const actions = (['push', 'merge'] as const).filter((action) => wanted[action] !== undefined);
  if (actions.length === 0) return;
  await tx
    .deleteFrom('protected_branch_access_levels')
    .where('protected_branch_id', '=', id)
    .where('action', 'in', actions)
    .execute();
  await addEntries(
    tx,
    id,
    actions.map((action) => from(action, levelOf(wanted[action]))),
  );
}

/**
 * Protects the new default branch of a project with the defaults configured for new projects in its group or on the server.
 * @param tx the transaction in which the project gets its first branch
 */
export async function protectDefaultBranch(tx: Database, project_id: number): Promise<void> {
  const { default_branch } = await tx
    .selectFrom('projects')
    .select('default_branch')
    .where('id', '=', project_id)
    .executeTakeFirstOrThrow();
  const wanted = await defaultProtectionOf(tx, project_id);
  const rules = await rulesOf(tx, project_id, undefined);
  if (!isProtecting(wanted) || rules.some(({ name }) => isAbout(name, default_branch))) return;
  const { allow_force_push, code_owner_approval_required } = wanted;
  const entries = [...entriesFrom('push', wanted), ...entriesFrom('merge', wanted)];
  const protection = { name: default_branch, allow_force_push, code_owner_approval_required, entries };
  await protectBranch(tx, { project_id }, protection);
}
