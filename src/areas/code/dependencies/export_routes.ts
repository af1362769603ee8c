/** Exports of dependencies (docs/reference/dependencies.md#exports). */
import { type Static, Type } from 'typebox';
import { holds } from '../../../access/index.ts';
import {
  byOutcome,
  fileReply,
  get,
  Id,
  notFound,
  one,
  post,
  resource,
  storedFile,
  Timestamp,
} from '../../../http/index.ts';
import { dependencyReader, exportOwner, type StoredExport } from './access.ts';
import { addExport } from './export_actions.ts';
import { exportMediaTypes, exportTypes, writerOf } from './export_present.ts';

const plan = 'ultimate';

const Status = Type.Enum(['created', 'running', 'finished', 'failed']);

const DependencyListExport = resource('DependencyListExport', {
  id: Id,
  status: Status,
  has_finished: Type.Boolean({ description: 'Whether the file can be downloaded' }),
  export_type: Type.Enum([...exportTypes]),
  self: Type.String({ description: 'The address of the export' }),
  download: Type.String({ description: 'The address of its file' }),
  expires_at: Timestamp,
});

type Shown = Pick<StoredExport, 'id' | 'export_type' | 'status' | 'expires_at'>;

function present({ id, export_type, status, expires_at }: Shown, url: string): Static<typeof DependencyListExport> {
  const self = `${url}/api/v4/dependency_list_exports/${id}`;
  return {
    id,
    status: status as Static<typeof Status>,
    has_finished: status === 'finished',
    export_type,
    self,
    download: `${self}/download`,
    expires_at,
  };
}

const isPending = (status: string) => status === 'created' || status === 'running';

export const dependencyExportRoutes = [
  post('/projects/:id/dependency_list_exports', {
    operation: 'createDependencyListExport',
    summary: 'Export the dependencies of a project',
    description:
      'Its file is written in the background, with vulnerabilities if the caller can read them, and can be downloaded for seven days, by the user who asked for it.',
    access: dependencyReader,
    plan,
    input: { export_type: Type.Enum([...exportTypes], { default: 'cyclonedx_1_6_json' }) },
    returns: one(DependencyListExport),
    handle: async ({ db, url, caller, project, input: { export_type } }) => {
      const with_vulnerabilities = holds(project, 'read_vulnerability', 'project');
      const asked = { project_id: project.id, user_id: caller.id, export_type, with_vulnerabilities };
      return present({ export_type, ...(await addExport(db, asked)) }, url);
    },
  }),
  get('/dependency_list_exports/:export_id', {
    operation: 'getDependencyListExport',
    summary: 'Get an export of dependencies',
    access: exportOwner,
    plan,
    input: { export_id: Id },
    returns: byOutcome(DependencyListExport, { 202: 'The file is still being written' }),
    handle: ({ url, stored }) => ({ body: present(stored, url), ...(isPending(stored.status) && { status: 202 }) }),
  }),
  get('/dependency_list_exports/:export_id/download', {
    operation: 'downloadDependencyListExport',
    summary: 'Download the file of an export of dependencies',
    access: exportOwner,
    plan,
    input: { export_id: Id },
    returns: storedFile(exportMediaTypes, {
      'Content-Disposition': 'The name of the file, to save it',
      'Content-Range': 'The part that was requested',
    }),
    refusals: { 404: '404 DependencyListExport Not Found', 416: '416 Range Not Satisfiable' },
    handle: ({ blobs, project, stored: { export_type, blob_key, size_bytes }, reading }) => {
      if (blob_key === null || size_bytes === null) throw notFound('DependencyListExport');
      const { media_type, extension } = writerOf(export_type);
      return fileReply(blobs, { key: blob_key, size_bytes }, reading, {
        'content-type': media_type,
        'content-disposition': `attachment; filename="${project.path}-dependencies.${extension}"`,
      });
    },
  }),
];
