/** Exports of dependencies (docs/reference/dependencies.md#exports). */
import { Readable } from 'node:stream';
import { type Static, Type } from 'typebox';
import { holds } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { bytes, get, Id, one, post, resource, Timestamp, withStatus } from '../../../http/index.ts';
import { dependencyReader, exportOwner, type StoredExport } from './access.ts';
import { exportMediaTypes, exportTypes, writerOf } from './export_present.ts';
import { exportedDependencies } from './export_queries.ts';

const plan = 'ultimate';

const DependencyListExport = resource('DependencyListExport', {
  id: Id,
  has_finished: Type.Boolean({ description: 'Always true: the file is written while it is downloaded' }),
  export_type: Type.Enum([...exportTypes]),
  self: Type.String({ description: 'The address of the export' }),
  download: Type.String({ description: 'The address of its file' }),
  expires_at: Timestamp,
});

function present({ id, export_type, expires_at }: StoredExport, url: string): Static<typeof DependencyListExport> {
  const self = `${url}/api/v4/dependency_list_exports/${id}`;
  return { id, has_finished: true, export_type, self, download: `${self}/download`, expires_at };
}

const addExport = (db: Database, row: { project_id: number; user_id: number; export_type: StoredExport['export_type'] }) =>
  db.insertInto('dependency_list_exports').values(row).returning(['id', 'expires_at']).executeTakeFirstOrThrow();

export const dependencyExportRoutes = [
  post('/projects/:id/dependency_list_exports', {
    operation: 'createDependencyListExport',
    summary: 'Export the dependencies of a project',
    description: 'The export can be downloaded for seven days, by the user who made it.',
    access: dependencyReader,
    plan,
    input: { export_type: Type.Enum([...exportTypes], { default: 'cyclonedx_1_6_json' }) },
    returns: one(DependencyListExport),
    handle: async ({ db, url, caller, project, input: { export_type } }) =>
      present({ export_type, ...(await addExport(db, { project_id: project.id, user_id: caller.id, export_type })) }, url),
  }),
  get('/dependency_list_exports/:export_id', {
    operation: 'getDependencyListExport',
    summary: 'Get an export of dependencies',
    access: exportOwner,
    plan,
    input: { export_id: Id },
    returns: one(DependencyListExport),
    handle: ({ url, stored }) => present(stored, url),
  }),
  get('/dependency_list_exports/:export_id/download', {
    operation: 'downloadDependencyListExport',
    summary: 'Download the file of an export of dependencies, as they are now',
    description: 'Vulnerabilities are part of it if the caller can read them.',
    access: exportOwner,
    plan,
    input: { export_id: Id },
    returns: withStatus(200, bytes(exportMediaTypes, { 'Content-Disposition': 'The name of the file, to save it' })),
    handle: ({ db, url, project, stored }) => {
      const { write, media_type, extension } = writerOf(stored.export_type);
      const with_vulnerabilities = holds(project, 'read_vulnerability', 'project');
      const rows = () => exportedDependencies(db, project.id, with_vulnerabilities);
      const body = Readable.from(write({ project, url, at: new Date(), with_vulnerabilities, rows }));
      const name = `${project.path}-dependencies.${extension}`;
      return { body, headers: { 'content-type': media_type, 'content-disposition': `attachment; filename="${name}"` } };
    },
  }),
];
