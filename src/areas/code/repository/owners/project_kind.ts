/** Projects as owners of repositories (docs/reference/repository.md). */
import {
  basicRefused,
  isCollaborator,
  levels,
  type MaybeCaller,
  mayDownloadCode,
  mayJobPush,
  mayRead,
  movedProject,
  type Project,
  projectFor,
} from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { isBranchOrTag, type Push, type RefUpdate, repositoryOf, setHead } from '../../../../git/index.ts';
import type { Caller, Services } from '../../../../http/index.ts';
import type { ProjectMove, RepositoryServices } from '../../../../services/index.ts';
import { missingObjects } from '../../lfs/push_checks.ts';
import { protectDefaultBranch } from '../../protected_branches/actions.ts';
import type { GitKind } from '../definition.ts';
import { recordedRefsIn, recordRefsIn } from '../moving/recorded_ref_queries.ts';
import { oddTreeRefusals, pushRefusals } from '../push_checks/checks.ts';
import { pushedBranches, readOnlyRefusal, refusal, uploadRefused } from '../rules.ts';
import { isPush, MovedGit } from './git_access.ts';
import { measureRepository } from './size_actions.ts';

type PushedProject = ProjectMove['owner'];

/** The project with a path, and whether the path is a former one. */
interface FoundProject {
  project: Project | undefined;
  has_moved: boolean;
}

async function projectAt({ db }: Services, caller: MaybeCaller, path: string): Promise<FoundProject> {
  const here = await projectFor(db, caller, path);
  const project = here ?? (await movedProject(db, caller, path));
  return { project, has_moved: !here };
}

/** @throws ApiError with the texts of docs/reference/repository.md */
async function grantProject(
  services: Services,
  caller: MaybeCaller,
  project: Project | undefined,
  pushes: boolean,
): Promise<Project> {
  if (!caller) {
    // Callers who may not read the project must not learn that it exists.
    if (!pushes && project && mayRead(caller, project) && mayDownloadCode(project)) return project;
    throw basicRefused(services.url);
  }
  if (!project || !mayRead(caller, project))
    throw refusal(404, "The project you were looking for could not be found or you don't have permission to view it.");
  if (!mayDownloadCode(project)) throw refusal(403, 'You are not allowed to download code from this project.');
  if (pushes) await refusePush(services, caller, project);
  return project;
}

async function refusePush({ db }: Services, caller: Caller, project: Project): Promise<void> {
  if (caller.job && !(await mayJobPush(db, caller.job, project.id))) throw refusal(403, uploadRefused);
  if (project.access_level < levels.developer && !(await isCollaborator(db, caller, project)))
    throw refusal(403, 'You are not allowed to push code to this project.');
  if (project.read_only) throw refusal(403, readOnlyRefusal(project));
}

/** The reasons for refusing a push, by the current rules of the project. */
async function refusalsOf(services: Services, caller: Caller, project: Project, push: Push): Promise<string[]> {
  const { updates, quarantine } = push;
  const repository = repositoryOf(services, project);
  const now = await projectFor(services.db, caller, String(project.id));
  const refusals = now
    ? await pushRefusals(services, { project: now, caller, quarantine }, updates)
    : ['The project is gone.'];
  if (refusals.length > 0) return refusals;
  const odd = await oddTreeRefusals(repository, quarantine);
  return odd.length > 0 ? odd : missingObjects(services, project, repository, push);
}

export const projectRepositories: GitKind<PushedProject> = {
  name: 'project',
  table: 'projects',
  column: 'project_id',
  folder: '@hashed',
  rows: 'select id, full_path::text, storage, default_branch, empty_repo from projects',
  emptied: (id) => [
    `update projects set empty_repo = true, repository_object_format = 'sha1' where id = ${id}`,
    // An older version has no such table, and no rows of this project that could be wrong.
    `do $$ begin if to_regclass('recorded_refs') is not null then delete from recorded_refs where project_id = ${id}; end if; end $$`,
  ],
  async grant(services, { caller, path, service }) {
    const { project: asked, has_moved } = await projectAt(services, caller, path);
    const project = await grantProject(services, caller, asked, isPush(service));
    if (has_moved) throw new MovedGit(project.full_path);
    return {
      kind: projectRepositories,
      owner: project,
      caller,
      refusals: (push) => refusalsOf(services, caller!, project, push),
    };
  },
  find: (db, id) =>
    db.selectFrom('projects').select(['id', 'storage', 'default_branch']).where('id', '=', id).executeTakeFirst(),
  async objectFormat(db, id) {
    const format = db.selectFrom('projects').select('repository_object_format').where('id', '=', id);
    return (await format.executeTakeFirstOrThrow()).repository_object_format as 'sha1' | 'sha256';
  },
  async recordedRefs(db, id) {
    const project = await db.selectFrom('projects').select('refs_recorded').where('id', '=', id).executeTakeFirst();
    return { refs: await recordedRefsIn(db, 'recorded_refs', id), isComplete: project?.refs_recorded === true };
  },
  async follow(services, move) {
    const moved = move.moved.filter(({ ref }) => isBranchOrTag(ref));
    // An empty list means that the default branch was replaced; refs other than branches and tags have no followers.
    const isFollowed = moved.length > 0 || move.moved.length === 0;
    const followers = await Promise.all(
      isFollowed
        ? services.repositories.followers.map((follower) => follower.follow(services, { ...move, moved }))
        : [],
    );
    return async (tx) => {
      await recordRefsIn(tx, 'recorded_refs', move.owner.id, move);
      const default_branch = await defaultBranchAfter(tx, services, move.owner.id, move.moved);
      for (const follow of followers) await follow(tx, default_branch);
    };
  },
  async answer(services, { id }, push) {
    const answered = { project_id: id, ...push };
    const answers = services.repositories.followers.map((follower) => follower.answer?.(services, answered) ?? []);
    return (await Promise.all(answers)).flat();
  },
  measure: async (services, project) => void (await measureRepository(services, project)),
};

/** The default branch of a project after a move, which opens the project if these are its first branches. */
async function defaultBranchAfter(
  tx: Database,
  services: RepositoryServices,
  project_id: number,
  moved: readonly RefUpdate[],
): Promise<string> {
  const pushed = pushedBranches(moved);
  const project = await tx
    .selectFrom('projects')
    .select(['empty_repo', 'default_branch'])
    .where('id', '=', project_id)
    .executeTakeFirstOrThrow();
  return project.empty_repo && pushed.length > 0
    ? openProject(tx, services, project_id, pushed)
    : project.default_branch;
}

/**
 * Opens a project with its first branches: the configured branch becomes the default branch if it is among them. Of several concurrent pushes, the first one decides.
 * @returns the default branch
 */
async function openProject(
  tx: Database,
  services: RepositoryServices,
  id: number,
  pushed: readonly string[],
): Promise<string> {
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
  // Before the commit: if it fails, the row remains, and all of this is repeated.
  if (default_branch !== before.default_branch) await setHead(repositoryOf(services, before), default_branch);
  return default_branch;
}
