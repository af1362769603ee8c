/** Dependencies of projects, read from files of their default branch (docs/reference/dependencies.md). */
import { type RawBuilder, sql } from 'kysely';
import { Type } from 'typebox';
import { type Group, groupRole, holds, type Project } from '../../../access/index.ts';
import { type Database, isAmong } from '../../../db/index.ts';
import { CommaList, get, Id, nullable, optional, pageOf, resource } from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { type FoundVulnerability, vulnerabilitiesOfDependency } from '../vulnerabilities/queries.ts';
import { dependencyReader } from './access.ts';
import {
  Dependency,
  dependencyColumns,
  dependencyMembers,
  knownLicenses,
  PackageManager,
  presentDependency,
} from './present.ts';

const plan = 'ultimate';

const filters = {
  package_manager: optional(CommaList(PackageManager)),
  ...paging,
};

function managedBy(managers: readonly string[] = []): RawBuilder<boolean> {
  if (managers.length === 0) return sql`true`;
  // The index returns the rows of one manager in list order.
  return managers.length === 1 ? sql`package_manager = ${managers[0]}` : isAmong('package_manager', managers, 'text[]');
}

/** The vulnerabilities of each row, null for callers who may not read them. */
const vulnerabilitiesFor = (mayRead: boolean) =>
  (mayRead ? vulnerabilitiesOfDependency : sql<FoundVulnerability[] | null>`null::json`)
    .$castTo<FoundVulnerability[] | null>()
    .as('vulnerabilities');

const dependenciesOf = (db: Database, project: Project, managers: readonly string[] | undefined) =>
  db
    .selectFrom('dependencies')
    .select(dependencyColumns)
    .select(knownLicenses)
    .select(vulnerabilitiesFor(holds(project, 'read_vulnerability', 'project')))
    .where('project_id', '=', project.id)
    .where(managedBy(managers))
    .orderBy('id');

export const GroupDependency = resource('GroupDependency', {
  ...dependencyMembers,
  project: Type.Object({ id: Id, name: Type.String(), path_with_namespace: Type.String() }),
});

const dependenciesBelow = (db: Database, group: Group, managers: readonly string[] | undefined) =>
  db
    .selectFrom('dependencies')
    .innerJoin('projects', 'projects.id', 'dependencies.project_id')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .select(dependencyColumns.map((column) => `dependencies.${column}` as const))
    .select(knownLicenses)
    .select(vulnerabilitiesFor(holds(group, 'read_vulnerability', 'group')))
    .select(['projects.id as project_id', 'projects.name as project_name', 'projects.full_path'])
    .where(sql<boolean>`namespaces.traversal_ids @> array[${group.id}]::bigint[]`)
    .where('projects.repository_access_level', '<>', 'disabled')
    .where(managedBy(managers))
    .orderBy('dependencies.id');

const DependencyFile = resource('DependencyFile', {
  path: Type.String(),
  package_manager: nullable(PackageManager),
  document_id: nullable(Id),
  count: Type.Integer({ description: 'The packages that it lists' }),
  error: nullable(Type.String({ description: 'Why it cannot be read' })),
});

export const dependencyRoutes = [
  get('/projects/:id/dependencies', {
    operation: 'listProjectDependencies',
    summary: 'List the dependencies of a project',
    description:
      'They are read from the lock files and bills of materials of the default branch, a moment after each change of it.',
    access: dependencyReader,
    plan,
    input: filters,
    returns: pageOf(Dependency),
    handle: async ({ db, url, project, input }) => {
      const page = await paginate(db, dependenciesOf(db, project, input.package_manager), input);
      return mapPage(page, (row) => presentDependency(row, { url, full_path: project.full_path }));
    },
  }),
  get('/projects/:id/dependencies/files', {
    operation: 'listProjectDependencyFiles',
    summary: 'List the files that the dependencies of a project are read from, by path',
    access: dependencyReader,
    plan,
    input: paging,
    returns: pageOf(DependencyFile),
    handle: ({ db, project, input }) =>
      paginate(
        db,
        db
          .selectFrom('dependency_files')
          .select(['path', 'count', 'error'])
          .select(sql<number | null>`case when blob_id is null and job_id is null then id end`.as('document_id'))
          .select(sql<(typeof PackageManager)['enum'][number] | null>`package_manager`.as('package_manager'))
          .where('project_id', '=', project.id)
          .orderBy('path')
          .orderBy('id'),
        input,
      ),
  }),
  get('/groups/:id/dependencies', {
    operation: 'listGroupDependencies',
    summary: 'List the dependencies of the projects of a group and its subgroups',
    access: groupRole('reporter', { permission: 'read_dependency' }),
    plan,
    input: filters,
    returns: pageOf(GroupDependency),
    handle: async ({ db, url, group, input }) =>
      mapPage(await paginate(db, dependenciesBelow(db, group, input.package_manager), input), (row) => ({
        ...presentDependency(row, { url, full_path: row.full_path }),
        project: { id: row.project_id, name: row.project_name, path_with_namespace: row.full_path },
      })),
  }),
];
