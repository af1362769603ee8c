/** Projects: a repository with everything that belongs to it, in the namespace of a group or of a user. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import {
  admin,
  anyone,
  groupVisible,
  levels,
  type MaybeCaller,
  type Project,
  projectForAdmin,
  projectRole,
  projectVisible,
  signedIn,
} from '../../access/index.ts';
import {
  ApiError,
  atLeastOneOf,
  containing,
  forbidden,
  get,
  Id,
  keysetPaging,
  NotBlank,
  one,
  optional,
  pageAsked,
  pageOf,
  paginate,
  paging,
  post,
  put,
  resource,
  type Services,
  Timestamp,
} from '../../http/index.ts';
import { namespaceFullName, PublicGroupDetails, presentPublicGroup } from '../namespaces/index.ts';
import { diskPath } from '../repository/index.ts';
import { presentUserBasic, UserBasic, userBasicColumns } from '../users/index.ts';
import { addProject, changeProject, type ProjectChanges } from './actions.ts';
import { filtered, projectFilters } from './filters.ts';
import {
  ProjectForm,
  ProjectWithAccessForm,
  presentProject,
  presentProjectBasic,
  presentProjectPage,
  presentProjectWithAccess,
} from './present.ts';
import { creatorOf, namespaceOfUser, projectRow, projectsByKey, statisticsOf, visibleProjectRows } from './queries.ts';
import { beginnings, columnsOfSettings, settings } from './rules.ts';

const form = {
  simple: Type.Boolean({ default: false, description: 'Whether the basic fields are enough' }),
  statistics: Type.Boolean({ default: false, description: 'Whether Reporters see how much the repository holds' }),
};

/** Going further by offset costs more with every page. */
const maximumOffset = 50_000;

function refuseFarPage({ page, per_page }: { page: number; per_page: number }): void {
  if (page * per_page <= maximumOffset) return;
  const text = `Offset pagination has a maximum allowed offset of ${maximumOffset} for requests that return objects of type Project. Remaining records can be retrieved using keyset pagination.`;
  throw new ApiError(405, { message: text, error: text });
}

const lists = [
  get('/projects', {
    summary: 'List the projects that the caller may know of, newest first',
    access: anyone,
    input: { ...paging, pagination: keysetPaging.pagination, ...form, ...projectFilters },
    returns: pageOf(ProjectWithAccessForm),
    handle: async ({ caller, input, ...services }) => {
      const { db } = services;
      if (input.pagination === 'keyset')
        return presentProjectPage(services, caller, await projectsByKey(db, caller, input), input);
      refuseFarPage(pageAsked(input));
      const rows = filtered(visibleProjectRows(db, caller), caller, input);
      return presentProjectPage(services, caller, await paginate(db, rows, input), input);
    },
  }),
  get('/users/:user_id/projects', {
    summary: 'List the projects in the namespace of a user, newest first',
    access: anyone,
    input: { user_id: Type.String({ description: 'Id or name' }), ...paging, ...form, ...projectFilters },
    returns: pageOf(ProjectWithAccessForm),
    handle: async ({ caller, input, ...services }) => {
      const { db } = services;
      const namespace_id = await namespaceOfUser(db, input.user_id);
      const rows = filtered(visibleProjectRows(db, caller).where('namespace_id', '=', namespace_id), caller, input);
      return presentProjectPage(services, caller, await paginate(db, rows, input), input);
    },
  }),
  get('/groups/:id/projects', {
    summary: 'List the projects of a group, newest first',
    access: groupVisible,
    input: {
      ...paging,
      simple: form.simple,
      include_subgroups: Type.Boolean({ default: false }),
      include_ancestor_groups: Type.Boolean({ default: false }),
      ...projectFilters,
    },
    returns: pageOf(ProjectWithAccessForm),
    handle: async ({ caller, group, input, ...services }) => {
      const { db } = services;
      const above = input.include_ancestor_groups ? group.traversal_ids : [group.id];
      const inside = visibleProjectRows(db, caller).where((q) =>
        input.include_subgroups
          ? sql<boolean>`namespace_id in (select id from namespaces where traversal_ids @> ${[group.id]}::bigint[] or id = any(${above}))`
          : q('namespace_id', 'in', above),
      );
      const page = await paginate(db, filtered(inside, caller, input), input);
      const present = (row: (typeof page.items)[number]) =>
        input.simple ? presentProjectBasic(services, row) : presentProject(services, caller, row);
      return { ...page, items: page.items.map(present) };
    },
  }),
];

const reply = async (services: Services, caller: MaybeCaller, id: number) =>
  presentProject(services, caller, await projectRow(services.db, caller, id));

const names = { name: optional(Type.String()), path: optional(Type.String()) };
const creation = { namespace_id: optional(Id), ...beginnings, ...settings };
const change = { ...names, default_branch: optional(Type.String()), ...settings };

/**
 * What takes more than a Maintainer: saying who sees a project, and moving its address.
 * @throws ApiError 403
 */
function refuseBeyondMaintainer(project: Project, { path, visibility }: ProjectChanges): void {
  const isMoved = path !== undefined && path !== project.path;
  const isShown = visibility !== undefined && visibility !== project.visibility;
  if ((isMoved || isShown) && project.access_level < levels.owner) throw forbidden();
}

const ProjectStorage = resource('ProjectStorage', {
  project_id: Id,
  disk_path: Type.String(),
  created_at: Timestamp,
  repository_storage: Type.String(),
});

const single = [
  post('/projects', {
    summary: 'Add a project to a group or to the own namespace',
    access: signedIn,
    input: { ...names, ...creation },
    rules: [atLeastOneOf('name', 'path')],
    returns: one(ProjectForm),
    handle: async ({ caller, input, ...services }) =>
      reply(services, caller, await addProject(services, caller, { ...input, columns: columnsOfSettings(input) })),
  }),
  post('/projects/user/:user_id', {
    summary: 'Add a project as a user, by default to his own namespace',
    access: admin,
    input: { user_id: Id, ...names, name: NotBlank(), ...creation },
    returns: one(ProjectForm),
    handle: async ({ caller, input, ...services }) => {
      const creator = await creatorOf(services, input.user_id);
      return reply(services, caller, await addProject(services, creator, { ...input, columns: columnsOfSettings(input) }));
    },
  }),
  get('/projects/:id', {
    summary: 'Show one project',
    access: projectVisible,
    input: { statistics: form.statistics },
    returns: one(ProjectWithAccessForm),
    handle: async ({ caller, project, input, ...services }) => {
      const row = await projectRow(services.db, caller, project.id);
      return presentProjectWithAccess(services, caller, row, input.statistics ? await statisticsOf(services, row) : undefined);
    },
  }),
  put('/projects/:id', {
    summary: 'Change a project; its path and visibility only as its owner',
    // Settings are no content: those of an archived project can be changed.
    access: projectRole('maintainer', { archived: true }),
    input: change,
    rules: [atLeastOneOf(...Object.keys(change))],
    returns: one(ProjectForm),
    handle: async ({ caller, project, input, ...services }) => {
      refuseBeyondMaintainer(project, input);
      const { name, path, default_branch } = input;
      await changeProject(services, project, { name, path, default_branch, ...columnsOfSettings(input) });
      return reply(services, caller, project.id);
    },
  }),
  get('/projects/:id/storage', {
    summary: 'Show where the repository of a project lies',
    access: projectForAdmin,
    returns: one(ProjectStorage),
    handle: async ({ caller, project, db }) => {
      const { created_at, storage } = await projectRow(db, caller, project.id);
      return { project_id: project.id, disk_path: diskPath(project.id), created_at, repository_storage: storage };
    },
  }),
];

const belonging = [
  get('/projects/:id/users', {
    summary: 'List the people who are members of a project or of a group above it',
    access: projectVisible,
    input: { ...paging, search: optional(Type.String()), skip_users: optional(Type.Array(Id)) },
    returns: pageOf(UserBasic),
    handle: async ({ db, url, project, input }) => {
      const pattern = input.search && containing(input.search);
      const members = sql<boolean>`exists (
        select from project_authorizations
         where project_id = ${project.id} and user_id = users.id and (expires_at is null or expires_at > current_date))`;
      const users = db
        .selectFrom('users')
        .select(userBasicColumns)
        .where(members)
        .$if(pattern !== undefined, (q) => q.where(sql<boolean>`(name ilike ${pattern} or username::text ilike ${pattern})`))
        .$if(input.skip_users !== undefined, (q) => q.where(sql<boolean>`id <> all(${input.skip_users})`))
        .orderBy('id');
      const page = await paginate(db, users, input);
      return { ...page, items: page.items.map((user) => presentUserBasic(url, user)) };
    },
  }),
  get('/projects/:id/groups', {
    summary: 'List the groups that a project stands in, from the top down',
    access: projectVisible,
    input: { ...paging, search: optional(Type.String()), skip_groups: optional(Type.Array(Id)) },
    returns: pageOf(PublicGroupDetails),
    handle: async ({ db, url, project, input }) => {
      const pattern = input.search && containing(input.search);
      const groups = db
        .selectFrom('namespaces')
        .select(['id', 'name', 'full_path', namespaceFullName().as('full_name')])
        .where('kind', '=', 'group')
        .where(
          sql<boolean>`id = any((select traversal_ids from namespaces place where place.id = ${project.namespace_id})::bigint[])`,
        )
        .$if(pattern !== undefined, (q) => q.where(sql<boolean>`(name ilike ${pattern} or full_path::text ilike ${pattern})`))
        .$if(input.skip_groups !== undefined, (q) => q.where(sql<boolean>`id <> all(${input.skip_groups})`))
        .orderBy(sql`cardinality(traversal_ids)`);
      const page = await paginate(db, groups, input);
      return { ...page, items: page.items.map((group) => presentPublicGroup(url, group)) };
    },
  }),
];

export const projectRoutes = [...lists, ...single, ...belonging];
