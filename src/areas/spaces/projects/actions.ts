/** Creating and updating projects (docs/reference/projects.md). */
import { sql } from 'kysely';
import { isMoreVisible, type Project, refreshAuthorizations, type VisibilityName } from '../../../access/index.ts';
import { type Database, stamped } from '../../../db/index.ts';
import {
  createRepository,
  deleteRepository,
  type RefUpdate,
  type Repository,
  repositoryOf,
  resolveBranch,
  updateRefs,
  writeCommit,
} from '../../../git/index.ts';
import { ApiError, badRequest, found, invalid, type Services } from '../../../http/index.ts';
import { recordEvent } from '../../activity/events/index.ts';
import { addNotification } from '../../activity/notifications/index.ts';
import { giveDefault } from '../../code/compliance_frameworks/index.ts';
import { protectionFor } from '../../code/protected_branches/index.ts';
import { copyTemplate, firstCommitRefusals } from '../../code/push_rules/index.ts';
import { announceHead, followDefaultBranch, projectRepositories, refsBegun } from '../../code/repository/index.ts';
import { refuseOtherDefault } from '../../code/security_policies/index.ts';
import { storageForNew } from '../../instance/application_settings/index.ts';
import { isPathTaken, lockNamespace, tellOfProjects } from '../../people/namespaces/index.ts';
import { limitReached, namingProblems } from './rules.ts';

export interface NewProject {
  name: string;
  path: string;
  namespace: { id: number; full_path: string };
  creator_id: number;
  default_branch: string;
  object_format?: 'sha1' | 'sha256' | undefined;
  /** Name of the git storage; by default chosen by weight. */
  storage?: string | undefined;
  /** Other columns, stored as given. */
  columns?: {
    visibility?: VisibilityName | undefined;
    description?: string | null | undefined;
    forked_from_id?: number;
    import_status?: 'scheduled';
    /** Now if omitted. */
    created_at?: string;
  };
  /**
   * Whether it is imported from another server: no notifications are sent, no event is recorded, and it does not start
   * with the push rule of its group.
   */
  is_quiet?: true;
  /** Further work in the transaction that inserts the row. */
  also?(tx: Database, id: number): Promise<void>;
  /** The author of a first commit with a README.md; if omitted, the repository stays empty. */
  readme_by?: { name: string; email: string } | undefined;
}

/**
 * Creates a project and its repository. The repository comes first: without a row it is only garbage, while a row without it would be a broken project; and the
 * tree is not locked while git works, so that many projects are created in one namespace at a time.
 * @returns the ID of the project
 * @throws ApiError 400 when name or path are taken in the namespace, the project would be more visible than its group or its first commit breaks the push rule, 403 when the limit of projects in a
 * user's namespace is reached
 */
export async function createProject(services: Services, project: NewProject): Promise<number> {
  const { db } = services;
  // Checked again under the lock. Checking here first saves disk access for ordinary refusals.
  await refuseUnfit(db, project.namespace, project);
  const { rows } = await sql<{ id: number }>`select nextval(pg_get_serial_sequence('projects', 'id')) as id`.execute(
    db,
  );
  const { id } = rows[0]!;
  const { default_branch, object_format = 'sha1', storage = await storageForNew(services) } = project;
  const repository = repositoryOf(services, { id, storage });
  try {
    await createRepository(repository.path, { defaultBranch: default_branch, objectFormat: object_format });
    const begun = project.readme_by && (await commitReadme(services, repository, project, project.readme_by));
    const owner = { id, storage, default_branch };
    const mover = { kind: projectRepositories, owner, user_id: project.creator_id };
    const recordBegun = begun && (await refsBegun(services, mover, [begun]));
    await db.transaction().execute(async (tx) => {
      await insertProject(tx, { ...project, id, storage, object_format });
      await recordBegun?.(tx);
      await project.also?.(tx, id);
    });
  } catch (error) {
    // If the connection breaks during the commit, we cannot tell whether the row exists. In doubt the repository stays:
    // garbage does no harm.
    if (!(await isThere(db, id).catch(() => true))) await deleteRepository(repository);
    throw error;
  }
  return id;
}

/** Whether the row of a project exists. */
export const isThere = async (db: Database, id: number): Promise<boolean> =>
  (await db.selectFrom('projects').select('id').where('id', '=', id).executeTakeFirst()) !== undefined;

/** Creates the first commit before the project is visible, so that it never appears empty. */
async function commitReadme(
  services: Services,
  repository: Repository,
  { name, namespace, creator_id, default_branch, columns }: NewProject,
  by: { name: string; email: string },
): Promise<RefUpdate> {
  const author = { ...by, date: new Date() };
  const text = `# ${name}\n${columns?.description ? `\n${columns.description}\n` : ''}`;
  const { id } = await writeCommit(repository, {
    parent: null,
    message: 'Initial commit',
    author,
    committer: author,
    changes: [{ op: 'put', path: 'README.md', mode: '100644', content: Buffer.from(text) }],
  });
  const begun = { ref: `refs/heads/${default_branch}`, old: null, new: id };
  const push = { project: { namespace_id: namespace.id, default_branch }, caller: { id: creator_id } };
  const [refusal] = await firstCommitRefusals(services, push, repository, [begun]);
  if (refusal !== undefined) throw badRequest(refusal);
  await updateRefs(repository, [begun]);
  return begun;
}

async function insertProject(
  tx: Database,
  project: NewProject & { id: number; storage: string; object_format: string },
): Promise<void> {
  const place = await lockNamespace(tx, project.namespace.id);
  await refuseUnfit(tx, place, project);
  const { id, name, path, creator_id, default_branch, storage, object_format, columns } = project;
  const reasons = visibilityReasons(columns?.visibility ?? 'private', place);
  if (reasons.length > 0) throw invalid({ visibility_level: reasons });
  const row = {
    ...columns,
    name,
    path,
    full_path: `${place.full_path}/${path}`,
    namespace_id: place.id,
    creator_id,
    default_branch,
    storage,
    repository_object_format: object_format,
  };
  await sql`
    insert into projects (id, ${sql.join(Object.keys(row).map((column) => sql.ref(column)))}) overriding system value
    values (${id}, ${sql.join(Object.values(row))})`.execute(tx);
  if (!project.is_quiet) {
    await copyTemplate(tx, { id, namespace_id: place.id });
    await giveDefault(tx, id);
  }
  await refreshAuthorizations(tx, { project_id: id });
  if (project.is_quiet) return;
  await recordEvent(tx, {
    project_id: id,
    author_id: creator_id,
    action: 'created',
    target_type: 'Project',
    target_id: id,
  });
  await tellOfProjects(tx, 'project_create', sql`projects.id = ${id}`);
}

/** Reasons against a visibility in a namespace, empty if there are none. */
export function visibilityReasons(
  visibility: VisibilityName,
  place: { kind: string; visibility: VisibilityName },
): string[] {
  if (place.kind === 'user' || !isMoreVisible(visibility, place.visibility)) return [];
  return [`${visibility} is not allowed in a ${place.visibility} group.`];
}

/** Reasons against the visibility of a fork, empty if there are none. A fork must not show what its source does not. */
export const forkVisibilityReasons = (visibility: VisibilityName, source: VisibilityName | null): string[] =>
  source && isMoreVisible(visibility, source)
    ? [`${visibility} is not allowed since the fork source project has lower visibility.`]
    : [];

/** Refuses a new project when its name or path is taken or the limit of projects is reached. */
async function refuseUnfit(
  tx: Database,
  place: { id: number; full_path: string },
  { name, path }: { name: string; path: string },
): Promise<void> {
  const reached = await limitReason(tx, place.id);
  if (reached) throw new ApiError(403, { message: reached, error: [reached] });
  await refuseTaken(tx, place.id, { name, full_path: `${place.full_path}/${path}` });
}

/**
 * The reason why a namespace takes no further project, undefined if it does. Namespaces of groups have no limit.
 * @param tx the transaction of the new project, with the tree locked
 */
export async function limitReason(tx: Database, namespace_id: number): Promise<string | undefined> {
  const owner = await tx
    .selectFrom('namespaces')
    .innerJoin('users', 'users.id', 'namespaces.owner_id')
    .select(['users.projects_limit', 'users.external'])
    .select(sql<number>`(select count(*) from projects where namespace_id = namespaces.id)`.as('count'))
    .where('namespaces.id', '=', namespace_id)
    .executeTakeFirst();
  return owner && limitReached(owner.external ? 0 : owner.projects_limit, owner.count);
}

const taken = ['has already been taken'];

/**
 * @param given the new name and full path, if they change
 * @throws ApiError 400 when another project or a subgroup has one of them
 */
export async function refuseTaken(
  tx: Database,
  namespace_id: number,
  { name, full_path }: { name?: string | undefined; full_path?: string | undefined },
): Promise<void> {
  const namesake =
    name === undefined
      ? undefined
      : await tx
          .selectFrom('projects')
          .select('id')
          .where('namespace_id', '=', namespace_id)
          .where('name', '=', name)
          .executeTakeFirst();
  const isTaken = full_path !== undefined && (await isPathTaken(tx, full_path));
  if (!namesake && !isTaken) return;
  throw invalid({
    ...(namesake ? { 'project_namespace.name': taken, name: taken } : {}),
    ...(isTaken ? { path: taken } : {}),
  });
}

/** Notifies the members of a project that its path has changed. */
export const tellOfMove = (tx: Database, project_id: number, actor_id: number): Promise<void> =>
  addNotification(tx, {
    event: 'moved_project',
    target_type: 'Project',
    target_id: project_id,
    actor_id,
    user_ids: [],
  });

/** @throws ApiError 403 if a policy keeps the default branch as it is */
async function refuseMovedHead(db: Database, project: Project): Promise<void> {
  const { is_protected } = (await protectionFor(db, project, undefined))(project.default_branch);
  await refuseOtherDefault(db, project.id, { name: project.default_branch, is_protected });
}

export interface ProjectChanges {
  name?: string | undefined;
  path?: string | undefined;
  default_branch?: string | undefined;
  visibility?: VisibilityName | undefined;
  description?: string | null | undefined;
}

/**
 * Updates a project: its columns, and the default branch of its repository.
 * @param changes columns by name; omitted columns do not change
 * @param also further work in the transaction; its argument is whether the path of the project has changed
 * @throws ApiError 400 for invalid values, 404 when the project no longer exists
 */
export async function changeProject(
  services: Services,
  project: Project,
  changes: ProjectChanges,
  also: (tx: Database, has_moved: boolean) => Promise<void>,
): Promise<void> {
  const { name, path, default_branch, visibility, description } = changes;
  const problems = namingProblems({ name, path, description });
  if (Object.keys(problems).length > 0) throw invalid(problems);
  const repository = repositoryOf(services, project);
  const movesHead = default_branch !== undefined && default_branch !== project.default_branch;
  if (movesHead && !(await resolveBranch(repository, default_branch)))
    throw invalid({ base: ['Could not set the default branch'] });
  if (movesHead) await refuseMovedHead(services.db, project);
  const announced = await services.db.transaction().execute(async (tx) => {
    const place = await lockNamespace(tx, project.namespace_id);
    const before = found(
      'Project',
      await tx
        .selectFrom('projects')
        .select(['name', 'full_path', 'visibility'])
        .select((q) =>
          q
            .selectFrom('projects as source')
            .select('source.visibility')
            .whereRef('source.id', '=', 'projects.forked_from_id')
            .$castTo<{ visibility: VisibilityName }>()
            .as('source_visibility'),
        )
        .where('id', '=', project.id)
        .where('namespace_id', '=', place.id)
        .executeTakeFirst(),
    );
    const full_path = path === undefined ? before.full_path : `${place.full_path}/${path}`;
    const reasons =
      visibility === undefined || visibility === before.visibility
        ? []
        : [...visibilityReasons(visibility, place), ...forkVisibilityReasons(visibility, before.source_visibility)];
    if (reasons.length > 0) throw invalid({ visibility_level: reasons });
    await refuseTaken(tx, place.id, {
      name: name === before.name ? undefined : name,
      // Paths are compared without case, so a path that changes only its case would conflict with itself.
      full_path: full_path.toLowerCase() === before.full_path.toLowerCase() ? undefined : full_path,
    });
    await tx
      .updateTable('projects')
      .set(stamped({ ...changes, full_path }, full_path !== before.full_path))
      .where('id', '=', project.id)
      .execute();
    await also(tx, full_path !== before.full_path);
    const isThis = sql`projects.id = ${project.id}`;
    if (full_path === before.full_path) await tellOfProjects(tx, 'project_update', isThis);
    else await tellOfProjects(tx, 'project_rename', isThis, before.full_path);
    return movesHead ? await announceHead(services, tx, { ...project, default_branch }) : undefined;
  });
  if (announced !== undefined) await followDefaultBranch(services, announced);
}
