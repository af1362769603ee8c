/** Who may read dependencies (docs/reference/dependencies.md#permissions). */
import { holds, mayRead, mayReadCode, type Project, projectFor, projectRole } from '../../../access/index.ts';
import type { BlobKey } from '../../../blobs/index.ts';
import { type Access, type Caller, forbidden, found, idIn, notFound, unauthorized } from '../../../http/index.ts';
import type { ExportType } from './export_present.ts';

const visible = projectRole('guest', { archived: true });

const mayReadDependencies = (project: Project): boolean =>
  mayReadCode(project) ||
  (project.repository_access_level !== 'disabled' && holds(project, 'read_dependency', 'project'));

/** Grants the project in `:id` to signed-in callers who may read its code, and to holders of `read_dependency`. */
export const dependencyReader: Access<{ caller: Caller; project: Project }> = {
  rule: 'project:read_code or read_dependency',
  async check(call) {
    const granted = await visible.check(call);
    if (!mayReadDependencies(granted.project)) throw forbidden();
    return granted;
  },
};

export interface StoredExport {
  id: number;
  export_type: ExportType;
  status: string;
  expires_at: string;
  /** Null until the file is written. */
  blob_key: BlobKey | null;
  size_bytes: number | null;
}

/** Grants the export in `:export_id` with its project to the user who requested it, while they may read its content. Others do not learn whether it exists. */
export const exportOwner: Access<{ caller: Caller; project: Project; stored: StoredExport }> = {
  rule: 'dependency_list_export:owner',
  async check({ db, caller, params }) {
    if (!caller) throw unauthorized();
    const { project_id, with_vulnerabilities, ...row } = found(
      undefined,
      await db
        .selectFrom('dependency_list_exports')
        .select([
          'id',
          'project_id',
          'export_type',
          'status',
          'with_vulnerabilities',
          'expires_at',
          'blob_key',
          'size_bytes',
        ])
        .where('id', '=', idIn(params.export_id!) ?? 0)
        .where('user_id', '=', caller.id)
        .where('expires_at', '>', new Date().toISOString())
        .executeTakeFirst(),
    );
    const project = await projectFor(db, caller, String(project_id));
    if (!project || !mayRead(caller, project)) throw notFound('Project');
    if (!mayReadDependencies(project)) throw forbidden();
    if (with_vulnerabilities && !holds(project, 'read_vulnerability', 'project')) throw forbidden();
    return {
      caller,
      project,
      stored: { ...row, export_type: row.export_type as ExportType, blob_key: row.blob_key as BlobKey | null },
    };
  },
};
