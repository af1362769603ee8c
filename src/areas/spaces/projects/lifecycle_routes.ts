/** Archiving, transferring, deleting and restoring projects. */
import { Type } from 'typebox';
import { markedText, projectRole, refuseMarked, withChange } from '../../../access/index.ts';
import { accepted, del, get, IdOrName, one, optional, pageOf, post, put } from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { maintainSoon, projectRepositories } from '../../code/repository/index.ts';
import { PublicGroupDetails, presentPublicGroup, publicGroups } from '../../people/namespaces/index.ts';
import { setArchived } from './archive_actions.ts';
import { endProject, restoreProject } from './deletion_actions.ts';
import { ProjectForm, projectReply } from './present.ts';
import { takesProjectsOf, transferProject } from './transfer_actions.ts';

const changing = (access: ReturnType<typeof projectRole>) =>
  withChange(access, ({ project }) => ({ project_id: project.id }));

// Actions on a project as a whole also work on read-only projects.
const owner = projectRole('owner', { archived: true });
const archivist = projectRole('owner', { archived: true, permission: 'archive_project' });
const remover = changing(projectRole('owner', { archived: true, permission: 'remove_project' }));
const restorer = changing(owner);

const archiving = (verb: 'archive' | 'unarchive', summary: string) =>
  post(`/projects/:id/${verb}`, {
    operation: `${verb}Project`,
    summary,
    access: archivist,
    returns: one(ProjectForm),
    refusals: {
      400: [
        `Cannot ${verb} project since it is scheduled for deletion.`,
        `Cannot ${verb} project since one of the ancestors is archived.`,
      ],
    },
    handle: async ({ caller, project, ...services }) => {
      await setArchived(services.db, project, verb === 'archive');
      return projectReply(services, caller, project.id);
    },
  });

export const projectLifecycleRoutes = [
  del('/projects/:id', {
    operation: 'deleteProject',
    audits: ['project_deletion_marked'],
    summary: 'Mark a project for deletion, or delete a marked project immediately',
    description:
      'The project becomes read-only. Its path and name are free at once: it is renamed to `…-deletion_scheduled-<id>` until it is restored. It can be restored for `deletion_adjourned_period` days (an application setting); then a job deletes it with its repository.',
    access: remover,
    input: {
      permanently_remove: Type.Boolean({ default: false }),
      full_path: optional(
        Type.String({ description: 'With `permanently_remove`: full path of the project, as a confirmation' }),
      ),
    },
    conditional: true,
    returns: accepted,
    refusals: {
      400: [
        'Project has been already marked for deletion',
        'Project must be marked for deletion first.',
        '`full_path` is incorrect. You must enter the complete path for the project.',
      ],
    },
    handle: ({ change, input, unmodified_since }) =>
      change((tx, { project }) => endProject(tx, project, { ...input, unmodified_since })),
  }),
  post('/projects/:id/restore', {
    operation: 'restoreProject',
    audits: ['project_restored'],
    summary: 'Restore a project that is marked for deletion',
    access: restorer,
    returns: one(ProjectForm),
    refusals: {
      400: ['Project has not been marked for deletion', '<parameter>: has already been taken'],
    },
    handle: async ({ caller, project, change, ...services }) => {
      await change((tx, { project }) => restoreProject(tx, project));
      return projectReply(services, caller, project.id);
    },
  }),
  archiving('archive', 'Archive a project, which makes it read-only'),
  archiving('unarchive', 'Unarchive a project'),
  put('/projects/:id/transfer', {
    operation: 'transferProject',
    summary: 'Transfer a project to another namespace; its old path redirects to the new one',
    access: owner,
    input: { namespace: IdOrName('ID or full path of the namespace', { notBlank: true }) },
    returns: one(ProjectForm),
    refusals: {
      400: 'Failed to transfer project {:new_namespace=>[<reasons>]}',
      403: `403 Forbidden - ${markedText('project')}`,
      404: ['404 Project Not Found', '404 Namespace Not Found'],
      409: 'Another request has just transferred the project.',
    },
    handle: async ({ caller, project, input: { namespace }, ...services }) => {
      refuseMarked('project', project);
      await services.db.transaction().execute((tx) => transferProject(tx, caller, project.id, namespace));
      return projectReply(services, caller, project.id);
    },
  }),
  post('/projects/:id/housekeeping', {
    operation: 'runProjectHousekeeping',
    summary: "Start housekeeping of a project's repository",
    access: owner,
    returns: one(Type.Null()),
    handle: async ({ db, project }) => {
      await maintainSoon(db, projectRepositories, project.id, 0);
      return null;
    },
  }),
  get('/projects/:id/transfer_locations', {
    operation: 'listProjectTransferLocations',
    summary: 'List the groups that a project can be transferred to',
    access: owner,
    input: { ...paging, search: optional(Type.String({ description: 'Part of the name or full path' })) },
    returns: pageOf(PublicGroupDetails),
    handle: async ({ db, url, caller, project, input }) => {
      const groups = publicGroups(db, input.search)
        .where(takesProjectsOf(caller))
        .where('id', '<>', project.namespace_id)
        .orderBy('name')
        .orderBy('id');
      const page = await paginate(db, groups, input);
      return mapPage(page, (group) => presentPublicGroup(url, group));
    },
  }),
];
