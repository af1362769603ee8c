/** Forks of projects. */
import { Type } from 'typebox';
import { mayRead, projectFor, projectRole, projectVisible } from '../../../access/index.ts';
import {
  CommaList,
  del,
  deprecated,
  get,
  Id,
  IdOrName,
  mutuallyExclusive,
  nothing,
  nullable,
  one,
  optional,
  pageOf,
  post,
  Visibility,
} from '../../../http/index.ts';
import { paging } from '../../../lists/index.ts';
import { projectFilters, unpairedText } from './filters.ts';
import { forkProject, relateFork, unrelateFork } from './fork_actions.ts';
import { ProjectForm, ProjectWithAccessForm, presentProjectPage, projectReply } from './present.ts';
import { projectsByOffset, visibleProjectRows } from './queries.ts';
import { columnsOfMergeSettings, form, mergeSettings } from './rules.ts';

export const projectForkRoutes = [
  get('/projects/:id/forks', {
    operation: 'listProjectForks',
    summary: 'List the visible forks of a project, newest first',
    access: projectVisible,
    input: { ...paging, ...form, ...projectFilters },
    returns: pageOf(ProjectWithAccessForm),
    refusals: { 400: unpairedText },
    handle: async ({ caller, project, input, ...services }) => {
      const { db } = services;
      const forks = visibleProjectRows(db, caller).where('forked_from_id', '=', project.id);
      return presentProjectPage(services, caller, await projectsByOffset(db, caller, forks, input), input);
    },
  }),
  post('/projects/:id/fork', {
    operation: 'forkProject',
    audits: ['project_created'],
    summary: 'Fork a project; `import_status` shows when the repository is copied',
    // The source does not change, so it may be archived.
    access: projectRole('guest', { archived: true }),
    input: {
      namespace_id: optional(Id),
      namespace_path: optional(Type.String()),
      namespace: optional(deprecated('use `namespace_id` or `namespace_path`', IdOrName(''))),
      name: optional(Type.String()),
      path: optional(Type.String()),
      description: optional(nullable(Type.String())),
      visibility: optional(Visibility),
      branches: optional(CommaList(Type.String({ description: 'Branches to copy; by default all branches and tags' }))),
      ...mergeSettings,
    },
    rules: [mutuallyExclusive('namespace_id', 'namespace_path', 'namespace')],
    returns: one(ProjectForm),
    refusals: {
      404: ['404 Target Namespace Not Found', '404 Source Branch Not Found', '404 Project Not Found'],
      409: ['The project is still being copied from its own source.', '<parameter>: <reason>'],
    },
    handle: async ({ caller, project, input, ...services }) => {
      const { name, path, description, visibility, branches } = input;
      const namespace = input.namespace_id ?? input.namespace_path ?? input.namespace;
      const settings = columnsOfMergeSettings(input);
      const request = { namespace, name, path, description, visibility, branches, settings };
      return projectReply(services, caller, await forkProject(services, caller, project, request));
    },
  }),
  post('/projects/:id/fork/:forked_from_id', {
    operation: 'createForkRelation',
    summary: 'Create a fork relationship between existing projects',
    access: projectRole('owner'),
    input: { forked_from_id: Type.String({ description: 'ID or full path' }) },
    returns: one(ProjectForm),
    refusals: { 404: '404 Source Project Not Found', 409: 'Project already forked' },
    handle: async ({ caller, project, input, ...services }) => {
      const source = await projectFor(services.db, caller, input.forked_from_id);
      await relateFork(services.db, project, source && mayRead(caller, source) ? source : undefined);
      return projectReply(services, caller, project.id);
    },
  }),
  del('/projects/:id/fork', {
    operation: 'deleteForkRelation',
    summary: 'Delete the fork relationship of a project',
    access: projectRole('owner'),
    returns: nothing,
    refusals: { 304: 'The project is not a fork.' },
    handle: ({ db, caller, project }) => db.transaction().execute((tx) => unrelateFork(tx, caller, project.id)),
  }),
];
