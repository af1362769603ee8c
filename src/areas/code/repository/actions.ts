/**
 * Moving references. The transaction that deletes the row in `reference_updates` also writes the effects of the move. It is that of the
 * request, or after a crash that of `settleReferenceUpdates`; so the effects are written exactly once.
 */
import { sql } from 'kysely';
import { type Database, ofAnyLength, repeated } from '../../../db/index.ts';
import {
  RefConflict,
  RefMoved,
  type RefUpdate,
  type RepositoryOwner,
  repositoryOf,
  type SnippetPlace,
  setHead,
  updateRefs,
} from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';
import { describePush, recordPush } from '../../activity/events/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { scanSoon } from '../dependencies/index.ts';
import { protectDefaultBranch } from '../protected_branches/index.ts';
import { tellOfPush } from './hook_actions.ts';
import { maintainRepository, maintenancePause_s } from './jobs.ts';
import { endMerge, lockForMerge, type Merge, tellMergeRequests } from './merge_request_actions.ts';
import { forgetSize } from './size_actions.ts';
import { followBranch, type SnippetChanges } from './snippet_actions.ts';

/** Whose references move: a project, and the user who moves them, or null for the operator. */
export interface ProjectMover {
  project: { id: number; storage: string; default_branch: string };
  user_id: number | null;
  /** Set when the move merges a merge request, which is locked until the move is settled. */
  merge?: Merge;
}

/** The same for a snippet, with what else changes if they move. */
export interface SnippetMover {
  snippet: SnippetPlace;
  user_id: number | null;
  changes?: SnippetChanges;
}

export type Mover = ProjectMover | SnippetMover;

const ownerOf = (mover: Mover): RepositoryOwner => ('project' in mover ? mover.project : mover.snippet);

const columnsOf = (mover: Mover) =>
  'project' in mover
    ? {
        project_id: mover.project.id,
        ...(mover.merge ? { merge_request_id: mover.merge.merge_request_id, merge: JSON.stringify(mover.merge.outcome) } : {}),
      }
    : { snippet_id: mover.snippet.snippet_id, snippet_changes: mover.changes && JSON.stringify(mover.changes) };

/**
 * Records that references are about to move.
 * @returns the id of the row, for `refsChanged` or `withdrawUpdates`
 */
export async function announceUpdates(db: Database, mover: Mover, updates: readonly RefUpdate[]): Promise<number> {
  const { id } = await db
    .insertInto('reference_updates')
    .values({ ...columnsOf(mover), user_id: mover.user_id, updates: JSON.stringify(updates) })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/**
 * Records that HEAD of a repository is about to follow its project's new default branch.
 * @param tx the transaction that changes the default branch
 * @returns the id of the row, for `followDefaultBranch`
 */
export async function announceHead(tx: Database, project_id: number): Promise<number> {
  await forgetSize(tx, project_id);
  await scanSoon(tx, project_id);
  const { id } = await tx
    .insertInto('reference_updates')
    .values({ project_id, updates: JSON.stringify([]) })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/**
 * Sets HEAD of a repository to its project's default branch, unless another process has done it.
 * @param id the row of `announceHead`
 */
export async function followDefaultBranch(services: Pick<Services, 'db' | 'storages'>, id: number): Promise<void> {
  await services.db.transaction().execute(async (tx) => {
    const row = await tx
      .deleteFrom('reference_updates')
      .where('id', '=', id)
      .where('project_id', 'is not', null)
      .returning('project_id')
      .$narrowType<{ project_id: number }>()
      .executeTakeFirst();
    if (!row) return;
    // Locked, so that of two changes at once the one that is committed last also sets HEAD last.
    const project = await tx
      .selectFrom('projects')
      .select(['id', 'storage', 'default_branch'])
      .where('id', '=', row.project_id)
      .forNoKeyUpdate()
      .executeTakeFirstOrThrow();
    // Before the commit: if it fails, the row is still there and this is repeated.
    await setHead(repositoryOf(services, project), project.default_branch);
  });
}

/** Forgets a move that did not happen. A merge request that it would have merged is open again. */
export async function withdrawUpdates(db: Database, id: number): Promise<void> {
  const row = db.deleteFrom('reference_updates').where('id', '=', id).returning('merge_request_id');
  await db
    .with('withdrawn', () => row)
    .updateTable('merge_requests')
    .from('withdrawn')
    .set({ state: 'opened' })
    .whereRef('merge_requests.id', '=', 'withdrawn.merge_request_id')
    .where('state', '=', 'locked')
    .execute();
}

/**
 * Moves references, all or none, and writes the effects.
 * @param updates at least one; each reference must still be at its `old`
 * @throws RefMoved when one has moved, RefConflict when one cannot exist beside another; then nothing has moved
 */
export async function moveRefs(services: Services, mover: Mover, updates: readonly RefUpdate[]): Promise<void> {
  const writeThem = await moveRefsBeforeEffects(services, mover, updates);
  await writeThem();
}

/**
 * Moves references as `moveRefs` does, for a caller who lets others move them again before the effects are written.
 * @returns writes the effects; those that a crash prevents are written when the move is settled
 * @throws RefMoved, RefConflict as `moveRefs`
 */
export async function moveRefsBeforeEffects(
  services: Services,
  mover: Mover,
  updates: readonly RefUpdate[],
): Promise<() => Promise<void>> {
  const id = await announceUpdates(services.db, mover, updates);
  await moveAnnounced(services, mover, updates, id);
  return () => haveMoved(services, mover, updates, id);
}

/**
 * Moves references as `moveRefs` does, which merges a merge request. It is locked in the transaction that announces the move, and merged in the one that writes
 * its effects; so it is merged once, and exactly when the branch has moved.
 * @param check refuses, in the first of these transactions, what has changed since the merge was prepared; it locks the merge request
 * @returns false, without a move, when the merge request is not open
 * @throws RefMoved, RefConflict as `moveRefs`; the merge request is open again
 */
export async function moveRefsToMerge(
  services: Services,
  mover: ProjectMover & { merge: Merge },
  updates: readonly RefUpdate[],
  check: (tx: Database) => Promise<void>,
): Promise<boolean> {
  const id = await repeated(services.db, async (tx) => {
    await check(tx);
    const isLocked = await lockForMerge(tx, mover.merge.merge_request_id);
    return isLocked ? announceUpdates(tx, mover, updates) : undefined;
  });
  if (id === undefined) return false;
  await moveAnnounced(services, mover, updates, id);
  await haveMoved(services, mover, updates, id);
  return true;
}

async function moveAnnounced(services: Services, mover: Mover, updates: readonly RefUpdate[], id: number): Promise<void> {
  try {
    await updateRefs(repositoryOf(services, ownerOf(mover)), updates);
  } catch (error) {
    // After any other failure git may have moved them; the row stays, and settling it finds out.
    if (error instanceof RefMoved || error instanceof RefConflict) await withdrawUpdates(services.db, id);
    throw error;
  }
}

/** As `refsChanged`, by who has moved all of them. */
async function haveMoved(services: Services, mover: Mover, moved: readonly RefUpdate[], id: number): Promise<void> {
  const pushes = 'project' in mover ? await describe(services, mover.project, moved) : [];
  await services.db.transaction().execute((tx) => writeEffects(tx, services, id, { moved, pushes }));
}

/**
 * Writes the effects of a move, unless another process has written them.
 * @param id the row in `reference_updates`
 * @param moved what actually moved, which for a push may be part of what was announced
 */
export async function refsChanged(services: Services, id: number, moved: readonly RefUpdate[]): Promise<void> {
  const pushes = await pushesOf(services, id, moved);
  await services.db.transaction().execute((tx) => writeEffects(tx, services, id, { moved, pushes }));
}

type Pushes = Awaited<ReturnType<typeof describePush>>;
type PushedProject = ProjectMover['project'];

/** The push events for a row in `reference_updates`; none when the row is gone. */
async function pushesOf(services: Services, id: number, moved: readonly RefUpdate[]): Promise<Pushes> {
  if (moved.length === 0) return [];
  const project = services.db
    .selectFrom('reference_updates')
    .innerJoin('projects', 'projects.id', 'reference_updates.project_id')
    .select(['projects.id', 'projects.storage', 'projects.default_branch'])
    .where('reference_updates.id', '=', id)
    .executeTakeFirst();
  return describe(services, project, moved);
}

async function describe(
  services: Services,
  asked: PushedProject | Promise<PushedProject | undefined>,
  moved: readonly RefUpdate[],
): Promise<Pushes> {
  const [project, { push_event_activities_limit: limit }] = await Promise.all([asked, settingsOf(services.db)]);
  if (!project) return [];
  return describePush({ repository: repositoryOf(services, project), default_branch: project.default_branch, limit }, moved);
}

interface Moves {
  moved: readonly RefUpdate[];
  pushes: Pushes;
}

async function writeEffects(tx: Database, services: Services, id: number, { moved, pushes }: Moves): Promise<void> {
  const taken = await tx
    .deleteFrom('reference_updates')
    .where('id', '=', id)
    .returning(['project_id', 'snippet_id', 'snippet_changes', 'user_id', 'merge_request_id', 'merge'])
    .executeTakeFirst();
  if (!taken) return;
  const { project_id, snippet_id, snippet_changes, user_id, merge_request_id } = taken;
  if (merge_request_id !== null) {
    const merge = { merge_request_id, outcome: taken.merge as unknown as Merge['outcome'] };
    await endMerge(tx, merge, { user_id, has_moved: moved.length > 0 });
  }
  if (moved.length === 0) return;
  if (snippet_id !== null) return followBranch(tx, services, snippet_id, snippet_changes as SnippetChanges | null);
  if (project_id === null) throw new Error('The row of a move names neither a project nor a snippet.');
  await recordRefs(tx, project_id, id, moved);
  const default_branch = await defaultBranchAfter(tx, services, project_id, moved);
  await forgetSize(tx, project_id);
  await recordPush(tx, { project_id, author_id: user_id }, pushes);
  await tellOfPush(tx, { project_id, user_id }, moved);
  await tellMergeRequests(tx, { project_id, user_id }, moved);
  if (moved.some(({ ref }) => branchOf(ref) === default_branch)) await scanSoon(tx, project_id);
  await maintainRepository.enqueue(tx, { project_id }, { key: String(project_id), after_s: maintenancePause_s });
}

/**
 * Remembers where branches and tags are, so that a check notices those that move without us.
 * @param update_id of a move, which one that happened before does not overwrite
 */
export async function recordRefs(
  tx: Database,
  project_id: number,
  update_id: number,
  moved: readonly Pick<RefUpdate, 'ref' | 'new'>[],
): Promise<void> {
  const ours = moved.filter(({ ref }) => /^refs\/(heads|tags)\//.test(ref));
  const set = ours.filter((update) => update.new !== null);
  const removed = ours.filter((update) => update.new === null).map(({ ref }) => ref);
  if (set.length > 0)
    await sql`
      insert into recorded_refs (project_id, ref, target, update_id)
      select ${project_id}, ref, target, ${update_id}
        from unnest(${set.map(({ ref }) => ref)}::text[], ${set.map((update) => update.new)}::text[]) moved(ref, target)
          on conflict (project_id, ref) do update set target = excluded.target, update_id = excluded.update_id
       where recorded_refs.update_id < excluded.update_id`.execute(tx);
  if (removed.length > 0)
    await sql`delete from recorded_refs where project_id = ${project_id} and ref = any(${ofAnyLength(removed, 'text[]')}) and update_id < ${update_id}`.execute(
      tx,
    );
}

/**
 * Reads the references that a repository was filled with before its project has a row.
 * @param moved all of them, from nothing, the default branch among them
 * @returns writes their effects in the transaction that adds the project: a crash leaves neither, so there is nothing to settle. Nothing is left for git to do
 * while that transaction holds the tree.
 */
export async function refsBegun(
  services: Services,
  { project, user_id }: { project: PushedProject; user_id: number },
  moved: readonly RefUpdate[],
): Promise<(tx: Database) => Promise<void>> {
  const pushes = await describe(services, project, moved);
  return async (tx) => writeEffects(tx, services, await announceUpdates(tx, { project, user_id }, moved), { moved, pushes });
}

const branchOf = (ref: string) => (ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : undefined);

/** The default branch of a project, which shows its first branches if these are they. */
async function defaultBranchAfter(
  tx: Database,
  services: Services,
  project_id: number,
  moved: readonly RefUpdate[],
): Promise<string> {
  const pushed = moved.filter((update) => update.new !== null).flatMap(({ ref }) => branchOf(ref) ?? []);
  const project = await tx
    .selectFrom('projects')
    .select(['empty_repo', 'default_branch'])
    .where('id', '=', project_id)
    .executeTakeFirstOrThrow();
  return project.empty_repo && pushed.length > 0 ? openProject(tx, services, project_id, pushed) : project.default_branch;
}

/**
 * The first branches of a project: the one that it opens with is the configured one, if it is among them. Of several pushes at once, the first one decides.
 * @returns the default branch
 */
async function openProject(tx: Database, services: Services, id: number, pushed: readonly string[]): Promise<string> {
  const before = await tx
    .selectFrom('projects')
    .select(['id', 'storage', 'default_branch', 'empty_repo'])
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  if (!before.empty_repo) return before.default_branch;
  const default_branch = pushed.includes(before.default_branch) ? before.default_branch : pushed[0]!;
  await tx.updateTable('projects').set({ empty_repo: false, default_branch }).where('id', '=', id).execute();
  await protectDefaultBranch(tx, id);
  // Before the commit: if it fails, the row is still there and all of this is repeated.
  if (default_branch !== before.default_branch) await setHead(repositoryOf(services, before), default_branch);
  return default_branch;
}
