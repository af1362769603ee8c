/** Queries for projects. Each row has the caller's access and the namespace, so that responses need no further query. */
import { type RawBuilder, type Selectable, sql } from 'kysely';
import {
  commitEmailOf,
  countsToday,
  isPrimaryProved,
  isVisibleProject,
  levels,
  type MaybeCaller,
  type Project,
  projectLevel,
  projectPermissions,
  projectState,
  takesInstanceRunners,
} from '../../../access/index.ts';
import { type Database, type DB, momentInJson, ofAnyLength } from '../../../db/index.ts';
import { found, type Page, type Services } from '../../../http/index.ts';
import { idsOnPage, keysetUnavailable, type Paging, pageAsked, paginate, rowsOf } from '../../../lists/index.ts';
import { fromOf } from '../../../services/index.ts';
import { frameworkNames } from '../../code/compliance_frameworks/index.ts';
import { type ProjectMirrorRow, projectMirrorJson } from '../../code/mirrors/index.ts';
import { repositorySizes } from '../../code/repository/index.ts';
import {
  type NamespaceRow,
  namespaceAvatar,
  namespaceFullName,
  type SharedWithGroupRow,
  sharedWithGroups,
} from '../../people/namespaces/index.ts';
import { type UserBasicRow, userBasicColumns } from '../../people/users/index.ts';
import type { Creator } from './creation_actions.ts';
import { filtered, inOrder, likestFirst, type ProjectFilters, type Projects } from './filters.ts';

/** A project as visible to a caller. */
export type ProjectRow = Omit<Selectable<DB['projects']>, 'shared_runners_enabled'> &
  Project & {
    /** The setting in force. */
    shared_runners_enabled: boolean;
    /** With the full name, and the owner of a user's namespace. */
    namespace: NamespaceRow & { full_name: string; owner: UserBasicRow | null };
    /** The level of the caller's membership in the project itself. */
    project_access: number | null;
    /** The level of the caller's highest membership in ancestor groups. */
    group_access: number | null;
    forks_count: number;
    /** The source of a fork, if it is visible to the caller, without sources of its own. */
    forked_from: ProjectSource | null;
    shared_with_groups: SharedWithGroupRow[];
    /** The mirror that it is pulled from. */
    mirroring: ProjectMirrorRow | null;
    /** The names of its frameworks. */
    compliance_frameworks: string[];
  };

export type ProjectSource = Omit<
  ProjectRow,
  'forked_from' | 'shared_with_groups' | 'project_access' | 'group_access' | 'mirroring' | 'compliance_frameworks'
>;

const owner = sql`
  (select json_build_object(${sql.join(userBasicColumns.flatMap((column) => [sql.lit(column.split('.')[1]!), sql.ref(column)]))})
     from users where users.id = above.owner_id)`;

const namespace = sql<ProjectRow['namespace']>`
  (select json_build_object('id', above.id, 'name', above.name, 'path', above.path, 'kind', above.kind, 'full_path', above.full_path,
                            'parent_id', above.parent_id, 'avatar_path', ${namespaceAvatar('above')}, 'full_name', ${namespaceFullName('above')}, 'owner', ${owner})
     from namespaces above where above.id = projects.namespace_id)`;

const projectAccess = (caller: MaybeCaller): RawBuilder<number | null> =>
  caller
    ? sql`(select access_level from members where project_id = projects.id and user_id = ${caller.id} and ${countsToday('members')})`
    : sql`null::integer`;

const groupAccess = (caller: MaybeCaller): RawBuilder<number | null> =>
  caller
    ? sql`(select max(access_level) from members
            where group_id = any((select traversal_ids from namespaces place where place.id = projects.namespace_id)::bigint[])
              and user_id = ${caller.id} and ${countsToday('members')})`
    : sql`null::integer`;

/** Counts only forks that are visible to the caller, so that the existence of private ones is not revealed. */
const forksCount = (caller: MaybeCaller) => sql<number>`
  (select (select count(*) from projects where projects.forked_from_id = origin.id and ${isVisibleProject(caller)}) from (select projects.id) origin)`;

const source = (caller: MaybeCaller) => sql<ProjectSource | null>`
  (select (select to_jsonb(projects) || jsonb_build_object(
             'created_at', ${momentInJson('projects.created_at')}, 'last_activity_at', ${momentInJson('projects.last_activity_at')},
             'access_level', ${projectLevel(caller)}, 'permissions', ${projectPermissions(caller)}, 'namespace', ${namespace}, 'forks_count', ${forksCount(caller)})
             from projects where projects.id = fork.forked_from_id and ${isVisibleProject(caller)})
     from (select projects.forked_from_id where projects.forked_from_id is not null) fork)`;

/** All projects, including those that are not visible to the caller. */
const projectRows = (db: Database, caller: MaybeCaller) =>
  db
    .selectFrom('projects')
    .selectAll('projects')
    .select([
      projectLevel(caller).as('access_level'),
      projectPermissions(caller).as('permissions'),
      namespace.as('namespace'),
      projectAccess(caller).as('project_access'),
      groupAccess(caller).as('group_access'),
      forksCount(caller).as('forks_count'),
      source(caller).as('forked_from'),
      sharedWithGroups(caller, 'projects').as('shared_with_groups'),
      projectMirrorJson.as('mirroring'),
      frameworkNames.as('compliance_frameworks'),
      // The last column of a name wins: the effective state replaces the project's own column.
      projectState.archived.as('archived'),
      projectState.marked_for_deletion.as('marked_for_deletion'),
      projectState.read_only.as('read_only'),
      takesInstanceRunners.as('shared_runners_enabled'),
    ])
    .$castTo<ProjectRow>();

/** The projects that are visible to the caller. */
export const visibleProjectRows = (db: Database, caller: MaybeCaller) =>
  projectRows(db, caller).where(isVisibleProject(caller));

/**
 * One project, with the caller's access.
 * @param id ID of a project that existed a moment ago
 * @throws ApiError 404 if it was deleted in the meantime
 */
export const projectRow = async (db: Database, caller: MaybeCaller, id: number): Promise<ProjectRow> =>
  found('Project', await projectRows(db, caller).where('projects.id', '=', id).executeTakeFirst());

/**
 * The number of open issues of each project that has any, without confidential ones if the caller may not see all of
 * them.
 * @param projects rows of `projectRows` for the caller
 */
export async function openIssuesOf(
  db: Database,
  projects: readonly Pick<ProjectRow, 'id' | 'access_level'>[],
): Promise<ReadonlyMap<number, number>> {
  const all = projects.map(({ id }) => id);
  const seeingAll = projects.filter(({ access_level }) => access_level >= levels.planner).map(({ id }) => id);
  const { rows } = await sql<{ project_id: number; count: number }>`
    select project_id, sum(case when project_id = any(${ofAnyLength(seeingAll, 'bigint[]')}) then opened else opened - confidential end) as count
      from open_issue_counts where project_id = any(${ofAnyLength(all, 'bigint[]')}) group by project_id`.execute(db);
  return new Map(rows.map(({ project_id, count }) => [project_id, count]));
}

/**
 * A page of projects, with the filters and the order given in `input`.
 * @param projects rows without order
 * @param isTree whether the projects belong to one tree of groups, which may contain few projects or most of all, so
 * that the query is planned for this tree
 * @throws ApiError as `filtered` and `pageAsked`
 */
export async function projectsByOffset(
  db: Database,
  caller: MaybeCaller,
  projects: Projects<ProjectRow>,
  input: ProjectFilters & Paging,
  isTree = false,
): Promise<Page<ProjectRow>> {
  const { order_by, search, sort } = input;
  const matching = filtered(projects, caller, input);
  if (order_by === 'similarity' && search && caller)
    return await paginate(db, matching, input, { parts: likestFirst(db, matching, search, sort) });
  const ordered = inOrder(matching, input);
  return await paginate(db, ordered, input, { varies: isTree });
}

/**
 * A page of visible projects, by keyset. The next page starts after the ID of the last row, through the existing filter
 * parameter.
 * @throws ApiError 405 for another order than by ID
 */
export async function projectsByKey(
  db: Database,
  caller: MaybeCaller,
  input: ProjectFilters & { page: number; per_page: number },
): Promise<Page<ProjectRow>> {
  if (input.order_by !== 'id') throw keysetUnavailable();
  const { per_page } = pageAsked(input);
  const query = inOrder(filtered(visibleProjectRows(db, caller), caller, input), input);
  const { ids, has_more } = await idsOnPage(query, { per_page });
  const next = has_more ? { [input.sort === 'asc' ? 'id_after' : 'id_before']: String(ids.at(-1)) } : null;
  return { items: await rowsOf(query, ids), page: 1, per_page, has_more, next };
}

/**
 * A user with the ID of their namespace, which is null for users without one, such as service accounts.
 * @param who ID or username
 * @throws ApiError 404
 */
export async function userNamed(db: Database, who: number | string) {
  const row = await db
    .selectFrom('users')
    .leftJoin('namespaces', 'namespaces.owner_id', 'users.id')
    .select(['users.id', 'users.private_profile', 'namespaces.id as namespace_id'])
    .where((q) => (typeof who === 'number' ? q('users.id', '=', who) : q('users.username', '=', who)))
    .executeTakeFirst();
  return found('User', row);
}

/**
 * A user as the creator of a project.
 * @throws ApiError 404
 */
export async function creatorOf({ db, url }: Services, user_id: number): Promise<Creator> {
  const user = await db
    .selectFrom('users')
    .select(['id', 'username', 'name', 'admin', 'email', 'commit_email', isPrimaryProved.as('has_proved_email')])
    .where('id', '=', user_id)
    .executeTakeFirst();
  const { id, name, admin, ...addresses } = found('User', user);
  return { id, name, admin, commit_email: commitEmailOf({ id, ...addresses }, url) };
}

/** The statistics of a project, in bytes except for `commit_count`. */
export interface Statistics {
  /** The number of commits on the default branch. */
  commit_count: number;
  /** The size of all data of the project. */
  storage_size: number;
  /** The size of the repository's objects. */
  repository_size: number;
  lfs_objects_size: number;
  /** The size of the files that jobs have left. */
  job_artifacts_size: number;
  /** The size of uploads, and of the images of incidents. */
  uploads_size: number;
  /** The size of the objects in repositories of snippets. */
  snippets_size: number;
  /** The size of the objects in repositories of wikis. */
  wiki_size: number;
}

type Measuring = Pick<Services, 'db' | 'stored_files'>;

type StoredSizes = Omit<Statistics, 'commit_count' | 'storage_size' | 'repository_size'>;

/**
 * The sizes of data stored outside of repositories, for projects and for groups themselves, summed by `id` in one
 * statement.
 * @param owners a subquery with the columns `id`, and `project_id` or `group_id`
 */
async function storedSizesOf(
  { db, stored_files }: Measuring,
  owners: RawBuilder<unknown>,
): Promise<ReadonlyMap<number, StoredSizes>> {
  const filesOf = sql.join(
    stored_files
      .filter(({ are_uploads }) => are_uploads)
      .map(
        (files) =>
          sql`select ${sql.ref(files.size_bytes!)} as size_bytes from ${sql.raw(fromOf(files))} where ${sql.ref(files.project_id!)} = stored.project_id`,
      ),
    sql` union all `,
  );
  const { rows } = await sql<StoredSizes & { id: number }>`
    with stored as (${owners}),
         lfs as (select stored.id, sum(size) as bytes from stored join lfs_objects_projects using (project_id) join lfs_objects on lfs_objects.id = lfs_object_id
                  group by stored.id),
         files as (select stored.id, sum(size_bytes) as bytes from stored, lateral (${filesOf}) file group by stored.id),
         artifacts as (select stored.id, sum(size_bytes) as bytes from stored join job_artifacts using (project_id) group by stored.id),
         snippets as (select stored.id, sum(size_bytes) as bytes from stored join snippets using (project_id) group by stored.id),
         wikis as (select id, sum(size_bytes) as bytes
                     from (select stored.id, size_bytes from stored join wikis using (project_id)
                            union all
                           select stored.id, size_bytes from stored join wikis using (group_id)) repositories group by id)
    select id, coalesce(lfs.bytes, 0)::bigint as lfs_objects_size, coalesce(files.bytes, 0)::bigint as uploads_size, coalesce(artifacts.bytes, 0)::bigint as job_artifacts_size,
           coalesce(snippets.bytes, 0)::bigint as snippets_size, coalesce(wikis.bytes, 0)::bigint as wiki_size
      from (select distinct id from stored) places left join lfs using (id) left join files using (id) left join snippets using (id)
      left join wikis using (id) left join artifacts using (id)`.execute(db);
  return new Map(rows.map(({ id, ...sizes }) => [id, sizes]));
}

const storageSize = (
  repository_size: number,
  { lfs_objects_size, uploads_size, job_artifacts_size, snippets_size, wiki_size }: StoredSizes,
) => repository_size + lfs_objects_size + uploads_size + job_artifacts_size + snippets_size + wiki_size;

/** The sizes of data in each group and in the projects directly in it, with the repositories as last measured. */
export async function groupStatistics(
  services: Measuring,
  group_ids: readonly number[],
): Promise<ReadonlyMap<number, Omit<Statistics, 'commit_count'>>> {
  const ids = ofAnyLength(group_ids, 'bigint[]');
  const projects = sql`select namespace_id as id, id as project_id, null::bigint as group_id from projects where namespace_id = any(${ids})`;
  const { rows } = await sql<{ id: number; repository_size: number }>`
    select id, coalesce(sum(size_bytes), 0)::bigint as repository_size from (${projects}) inside join repository_sizes using (project_id)
     group by id`.execute(services.db);
  const repositories = new Map(rows.map(({ id, repository_size }) => [id, repository_size]));
  const sizes = await storedSizesOf(
    services,
    sql`${projects} union all select id, null, id from unnest(${ids}) own(id)`,
  );
  return new Map(
    group_ids.map((id) => {
      const stored = sizes.get(id)!;
      const repository_size = repositories.get(id) ?? 0;
      return [id, { storage_size: storageSize(repository_size, stored), repository_size, ...stored }];
    }),
  );
}

/**
 * Statistics in the order of the projects; undefined where the caller is below Reporter.
 * @param projects rows of `projectRows`
 */
export async function statisticsOf(
  services: Measuring & Pick<Services, 'storages'>,
  projects: readonly ProjectRow[],
): Promise<(Statistics | undefined)[]> {
  const measured = projects.filter(({ access_level }) => access_level >= levels.reporter);
  const ids = ofAnyLength(
    measured.map(({ id }) => id),
    'bigint[]',
  );
  const sizes = await storedSizesOf(
    services,
    sql`select id, id as project_id, null::bigint as group_id from unnest(${ids}) project(id)`,
  );
  const repositories = await repositorySizes(services, measured);
  return projects.map(({ id }) => {
    const [stored, repository] = [sizes.get(id), repositories.get(id)];
    if (!stored || !repository) return undefined;
    const { commit_count, size_bytes: repository_size } = repository;
    return { commit_count, storage_size: storageSize(repository_size, stored), repository_size, ...stored };
  });
}
