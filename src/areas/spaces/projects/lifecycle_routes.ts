/** The life of a project after its creation: archived, moved, marked for deletion, restored. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { projectRole } from '../../../access/index.ts';
import {
  accepted,
  containing,
  del,
  get,
  NotBlank,
  one,
  optional,
  pageOf,
  paginate,
  paging,
  post,
  put,
} from '../../../http/index.ts';
import { maintainRepository } from '../../code/repository/index.ts';
import { namespaceFullName, PublicGroupDetails, presentPublicGroup } from '../../people/namespaces/index.ts';
import { setArchived } from './archive_actions.ts';
import { endProject, restoreProject } from './deletion_actions.ts';
import { ProjectForm, projectReply } from './present.ts';
import { takesProjectsOf, transferProject } from './transfer_actions.ts';

// What is said of a project as a whole can also be said of one that is archived or marked.
const owner = projectRole('owner', { archived: true });
const archivist = projectRole('owner', { archived: true, permission: 'archive_project' });
const remover = projectRole('owner', { archived: true, permission: 'remove_project' });

const archiving = (verb: 'archive' | 'unarchive', summary: string) =>
  post(`/projects/:id/${verb}`, {
    summary,
    access: archivist,
    returns: one(ProjectForm),
    handle: async ({ caller, project, ...services }) => {
      await setArchived(services.db, project, verb === 'archive');
      return projectReply(services, caller, project.id);
    },
  });

export const projectLifecycleRoutes = [
  del('/projects/:id', {
    summary: 'Mark a project for deletion, or remove one that is marked without waiting',
    access: remover,
    input: {
      permanently_remove: Type.Boolean({ default: false }),
      full_path: optional(Type.String({ description: 'With `permanently_remove`: the path, to show that it is meant' })),
    },
    returns: accepted,
    handle: ({ db, project, input, unmodified_since }) => endProject(db, project, { ...input, unmodified_since }),
  }),
  post('/projects/:id/restore', {
    summary: 'Take the mark for deletion from a project',
    access: owner,
    returns: one(ProjectForm),
    handle: async ({ caller, project, ...services }) => {
      await restoreProject(services.db, project.id);
      return projectReply(services, caller, project.id);
    },
  }),
  archiving('archive', 'Archive a project: it can be read, and nothing in it changes'),
  archiving('unarchive', 'Bring a project back from the archive'),
  put('/projects/:id/transfer', {
    summary: 'Move a project to another namespace; its old address leads to the new one',
    access: owner,
    input: { namespace: NotBlank({ description: 'Id or full path of the namespace' }) },
    returns: one(ProjectForm),
    handle: async ({ caller, project, input: { namespace }, ...services }) => {
      const target = /^\d+$/.test(namespace) ? Number(namespace) : namespace;
      await services.db.transaction().execute((tx) => transferProject(tx, caller, project.id, target));
      return projectReply(services, caller, project.id);
    },
  }),
  post('/projects/:id/housekeeping', {
    summary: 'Have the repository of a project tidied up soon',
    access: owner,
    returns: one(Type.Null()),
    handle: async ({ db, project }) => {
      await maintainRepository.enqueue(db, { project_id: project.id }, { key: String(project.id) });
      return null;
    },
  }),
  get('/projects/:id/transfer_locations', {
    summary: 'List the groups that a project can be moved to',
    access: owner,
    input: { ...paging, search: optional(Type.String({ description: 'Part of the name or of the full path' })) },
    returns: pageOf(PublicGroupDetails),
    handle: async ({ db, url, caller, project, input }) => {
      const pattern = input.search && containing(input.search);
      const groups = db
        .selectFrom('namespaces')
        .select(['id', 'name', 'full_path', namespaceFullName().as('full_name')])
        .where(takesProjectsOf(caller))
        .where('id', '<>', project.namespace_id)
        .$if(pattern !== undefined, (q) => q.where(sql<boolean>`(name ilike ${pattern} or full_path::text ilike ${pattern})`))
        .orderBy('name')
        .orderBy('id');
      const page = await paginate(db, groups, input);
      return { ...page, items: page.items.map((group) => presentPublicGroup(url, group)) };
    },
  }),
];
