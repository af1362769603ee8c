/** Stars of projects, and the projects that users starred or contributed to. */
import { type RawBuilder, sql } from 'kysely';
import { Type } from 'typebox';
import { anyone, projectRole, projectVisible } from '../../../access/index.ts';
import { containing, get, IdOrName, one, optional, pageOf, post, resource, Timestamp } from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { presentUserBasic, UserBasic, userBasicColumns } from '../../people/users/index.ts';
import { contributedTo, projectFilters, starredBy, unpairedText } from './filters.ts';
import { ProjectForm, ProjectWithAccessForm, presentProjectPage, projectReply } from './present.ts';
import { projectsByOffset, userNamed, visibleProjectRows } from './queries.ts';
import { form } from './rules.ts';
import { starProject, unstarProject } from './star_actions.ts';

// Every signed-in user who can see a project can star it, also when it is read-only.
const seen = projectRole('guest', { archived: true });

export const Starrer = resource('Starrer', { starred_since: Timestamp, user: UserBasic });

/** @param isOf a predicate on rows of `projects`, for the ID of a user whose profile is visible to the caller */
const projectsOfUser = (
  path: 'starred_projects' | 'contributed_projects',
  summary: string,
  isOf: (user_id: number) => RawBuilder<boolean>,
) =>
  get(`/users/:user_id/${path}`, {
    operation: path === 'starred_projects' ? 'listStarredProjects' : 'listContributedProjects',
    summary,
    access: anyone,
    input: { user_id: IdOrName('ID or username'), ...paging, ...form, ...projectFilters },
    returns: pageOf(ProjectWithAccessForm),
    refusals: { 400: unpairedText, 404: '404 User Not Found' },
    handle: async ({ caller, input, ...services }) => {
      const { db } = services;
      const user = await userNamed(db, input.user_id);
      const isHidden = user.private_profile && !caller?.admin && caller?.id !== user.id;
      const projects = visibleProjectRows(db, caller).where(isHidden ? sql<boolean>`false` : isOf(user.id));
      return presentProjectPage(services, caller, await projectsByOffset(db, caller, projects, input), input);
    },
  });

export const projectStarRoutes = [
  post('/projects/:id/star', {
    operation: 'starProject',
    summary: 'Star a project',
    access: seen,
    returns: one(ProjectForm),
    refusals: { 304: 'The caller has already starred the project.' },
    handle: async ({ caller, project, ...services }) => {
      await starProject(services.db, project.id, caller.id);
      return projectReply(services, caller, project.id);
    },
  }),
  post('/projects/:id/unstar', {
    operation: 'unstarProject',
    summary: 'Unstar a project',
    access: seen,
    returns: one(ProjectForm),
    refusals: { 304: 'The caller has not starred the project.' },
    handle: async ({ caller, project, ...services }) => {
      await unstarProject(services.db, project.id, caller.id);
      return projectReply(services, caller, project.id);
    },
  }),
  get('/projects/:id/starrers', {
    operation: 'listProjectStarrers',
    summary: 'List the users who starred a project',
    access: projectVisible,
    input: { ...paging, search: optional(Type.String({ description: 'Part of the name or username' })) },
    returns: pageOf(Starrer),
    handle: async ({ db, url, caller, project, input }) => {
      const pattern = input.search && containing(input.search);
      const starrers = db
        .selectFrom('users')
        .innerJoin('project_stars', 'project_stars.user_id', 'users.id')
        .select(userBasicColumns)
        .select('project_stars.created_at as starred_since')
        .where('project_id', '=', project.id)
        // Stars are part of the profile, which may be private.
        .where(
          caller?.admin
            ? sql<boolean>`true`
            : sql<boolean>`(not users.private_profile or users.id = ${caller?.id ?? null}::bigint)`,
        )
        .$if(pattern !== undefined, (q) =>
          q.where(sql<boolean>`(name ilike ${pattern} or username::text ilike ${pattern})`),
        )
        .orderBy('project_stars.user_id');
      const page = await paginate(db, starrers, input);
      return mapPage(page, ({ starred_since, ...user }) => ({ starred_since, user: presentUserBasic(url, user) }));
    },
  }),
  projectsOfUser('starred_projects', "List a user's starred projects, newest first", starredBy),
  projectsOfUser(
    'contributed_projects',
    'List the projects that a user contributed to in the last year, newest first',
    contributedTo,
  ),
];
