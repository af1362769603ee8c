/** The import status of a project's repository (docs/reference/projects.md#imports). */
import { type Static, Type } from 'typebox';
import { levels, projectVisible } from '../../../access/index.ts';
import { found, get, nullable, one, optional, resource, Timestamp } from '../../../http/index.ts';
import { fixed } from './fixed_present.ts';
import { presentProjectBasic } from './present.ts';
import { visibleProjectRows } from './queries.ts';

const ProjectImport = resource('ProjectImport', {
  id: Type.Integer(),
  description: nullable(Type.String()),
  name: Type.String(),
  name_with_namespace: Type.String(),
  path: Type.String(),
  path_with_namespace: Type.String(),
  created_at: Timestamp,
  import_status: Type.Enum(['none', 'scheduled', 'started', 'finished', 'failed']),
  import_error: optional(nullable(Type.String({ description: 'Maintainers only' }))),
  failed_relations: fixed(Type.Array(Type.Object({})), 'only repositories are imported in this way'),
});

export const projectImportRoutes = [
  get('/projects/:id/import', {
    operation: 'getProjectImport',
    summary: 'Show how the import or the copy of a project goes',
    access: projectVisible,
    returns: one(ProjectImport),
    handle: async ({ caller, project, ...services }) => {
      const row = found(
        'Project',
        await visibleProjectRows(services.db, caller).where('projects.id', '=', project.id).executeTakeFirst(),
      );
      return {
        ...presentProjectBasic(services, row),
        import_status: row.import_status as Static<typeof ProjectImport>['import_status'],
        ...(project.access_level >= levels.maintainer ? { import_error: row.import_error } : {}),
        failed_relations: [],
      };
    },
  }),
];
