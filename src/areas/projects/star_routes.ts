/** Stars of projects. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { anyone, projectRole, projectVisible } from '../../access/index.ts';
import { containing, get, one, optional, pageOf, paginate, paging, post, resource, Timestamp } from '../../http/index.ts';
import { presentUserBasic, UserBasic, userBasicColumns } from '../users/index.ts';
import { filtered, projectFilters, starredBy } from './filters.ts';
import { ProjectForm, ProjectWithAccessForm, presentProjectPage, projectReply } from './present.ts';
import { userNamed, visibleProjectRows } from './queries.ts';
import { form } from './rules.ts';
import { starProject, unstarProject } from './stars.ts';

// Everybody who sees a project may, also where nobody can change it any more.
const seen = projectRole('guest', { archived: true });

const Starrer = resource('Starrer', { starred_since: Timestamp, user: UserBasic });

export const projectStarRoutes = [
  post('/projects/:id/star', {
    summary: 'Give a project a star',
    access: seen,
    returns: one(ProjectForm),
    handle: async ({ caller, project, ...services }) => {
      await starProject(services.db, project.id, caller.id);
      return projectReply(services, caller, project.id);
    },
  }),
  post('/projects/:id/unstar', {
    summary: "Take the caller's star from a project",
    access: seen,
    returns: one(ProjectForm),
    handle: async ({ caller, project, ...services }) => {
      await unstarProject(services.db, project.id, caller.id);
      return projectReply(services, caller, project.id);
    },
  }),
  get('/projects/:id/starrers', {
    summary: 'List who has given a project a star',
    access: projectVisible,
    input: { ...paging, search: optional(Type.String({ description: 'Part of the name or username' })) },
    returns: pageOf(Starrer),
    handle: async ({ db, url, caller, project, input }) => {
      const pattern = input.search && containing(input.search);
      const starrers = db
        .selectFrom('project_stars')
        .innerJoin('users', 'users.id', 'project_stars.user_id')
        .select(userBasicColumns)
        .select('project_stars.created_at as starred_since')
        .where('project_id', '=', project.id)
        // What somebody has starred says something of him, who may have hidden that.
        .where(
          caller?.admin
            ? sql<boolean>`true`
            : sql<boolean>`(not users.private_profile or users.id = ${caller?.id ?? null}::bigint)`,
        )
        .$if(pattern !== undefined, (q) => q.where(sql<boolean>`(name ilike ${pattern} or username::text ilike ${pattern})`))
        .orderBy('project_stars.user_id');
      const page = await paginate(db, starrers, input);
      return {
        ...page,
        items: page.items.map(({ starred_since, ...user }) => ({ starred_since, user: presentUserBasic(url, user) })),
      };
    },
  }),
  get('/users/:user_id/starred_projects', {
    summary: 'List the projects that a user has given a star, newest first',
    access: anyone,
    input: { user_id: Type.String({ description: 'Id or name' }), ...paging, ...form, ...projectFilters },
    returns: pageOf(ProjectWithAccessForm),
    handle: async ({ caller, input, ...services }) => {
      const { db } = services;
      const user = await userNamed(db, input.user_id);
      const isHidden = user.private_profile && !caller?.admin && caller?.id !== user.id;
      const starred = visibleProjectRows(db, caller).where(starredBy(isHidden ? undefined : user.id));
      return presentProjectPage(services, caller, await paginate(db, filtered(starred, caller, input), input), input);
    },
  }),
];
