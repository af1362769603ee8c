/** Forks of projects. */
import { Type } from 'typebox';
import { mayRead, projectFor, projectRole, projectVisible } from '../../../access/index.ts';
import {
  CommaList,
  del,
  get,
  Id,
  mutuallyExclusive,
  nothing,
  nullable,
  one,
  optional,
  pageOf,
  paginate,
  paging,
  post,
  Visibility,
} from '../../../http/index.ts';
import { filtered, projectFilters } from './filters.ts';
import { forkProject, relateFork, unrelateFork } from './fork_actions.ts';
import { ProjectForm, ProjectWithAccessForm, presentProjectPage, projectReply } from './present.ts';
import { visibleProjectRows } from './queries.ts';
import { form } from './rules.ts';

export const projectForkRoutes = [
  get('/projects/:id/forks', {
    summary: 'List the forks of a project that the caller may know of, newest first',
    access: projectVisible,
    input: { ...paging, ...form, ...projectFilters },
    returns: pageOf(ProjectWithAccessForm),
    handle: async ({ caller, project, input, ...services }) => {
      const { db } = services;
      const forks = visibleProjectRows(db, caller).where('forked_from_id', '=', project.id);
      return presentProjectPage(services, caller, await paginate(db, filtered(forks, caller, input), input), input);
    },
  }),
  post('/projects/:id/fork', {
    summary: 'Fork a project; `import_status` tells when its repository is copied',
    // Nothing changes in the source, which may be archived.
    access: projectRole('guest', { archived: true }),
    input: {
      namespace_id: optional(Id),
      namespace_path: optional(Type.String()),
      namespace: optional(Type.String({ description: 'Deprecated: id or full path of the namespace' })),
      name: optional(Type.String()),
      path: optional(Type.String()),
      description: optional(nullable(Type.String())),
      visibility: optional(Visibility),
      branches: optional(CommaList(Type.String({ description: 'Left out, every branch and tag' }))),
    },
    rules: [mutuallyExclusive('namespace_id', 'namespace_path', 'namespace')],
    returns: one(ProjectForm),
    handle: async ({ caller, project, input, ...services }) => {
      const { namespace_id, namespace_path, namespace, ...fork } = input;
      const named = namespace !== undefined && /^\d+$/.test(namespace) ? Number(namespace) : namespace;
      const request = { ...fork, namespace: namespace_id ?? namespace_path ?? named };
      return projectReply(services, caller, await forkProject(services, caller, project, request));
    },
  }),
  post('/projects/:id/fork/:forked_from_id', {
    summary: 'Say that a project is a fork of another',
    access: projectRole('owner'),
    input: { forked_from_id: Type.String({ description: 'Id or full path' }) },
    returns: one(ProjectForm),
    handle: async ({ caller, project, input, ...services }) => {
      const source = await projectFor(services.db, caller, input.forked_from_id);
      await relateFork(services.db, project, source && mayRead(caller, source) ? source : undefined);
      return projectReply(services, caller, project.id);
    },
  }),
  del('/projects/:id/fork', {
    summary: 'Forget that a project is a fork',
    access: projectRole('owner'),
    returns: nothing,
    handle: ({ db, project }) => unrelateFork(db, project.id),
  }),
];
