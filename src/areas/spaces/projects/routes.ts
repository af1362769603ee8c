import { type RawBuilder, sql } from 'kysely';
import { type Static, type TObject, Type } from 'typebox';
import {
  admin,
  anyone,
  countsToday,
  GroupLevel,
  groupVisible,
  isClosedToInstanceRunners,
  isVisibleGroup,
  levels,
  type MaybeCaller,
  markedText,
  type Project,
  projectForAdmin,
  projectRole,
  projectVisible,
  refuseMarked,
  signedIn,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { diskPath } from '../../../git/index.ts';
import {
  ApiError,
  atLeastOneOf,
  bytes,
  type Caller,
  containing,
  forbidden,
  furthest,
  get,
  Id,
  IdOrName,
  invalid,
  NotBlank,
  one,
  optional,
  pageOf,
  post,
  put,
  resource,
  type Services,
  Timestamp,
} from '../../../http/index.ts';
import { keysetPaging, mapPage, type Paging, paginate, paging, startOf } from '../../../lists/index.ts';
import { scanSoon } from '../../code/dependencies/index.ts';
import { importIn, mirrorChangeIn, projectMirrorInput } from '../../code/mirrors/index.ts';
import { pushRuleTexts } from '../../code/push_rules/index.ts';
import { branchRefusalText } from '../../code/security_policies/index.ts';
import { restrictionReasons } from '../../instance/application_settings/index.ts';
import { Avatar, avatarBytes, avatarTexts, avatarTypes, receiveAvatar, setAvatar } from '../../people/avatars/index.ts';
import { attributeForm, showAttributes } from '../../people/custom_attributes/index.ts';
import { PublicGroupDetails, presentPublicGroup, publicGroups } from '../../people/namespaces/index.ts';
import { presentUserBasic, UserBasic, userBasicColumns } from '../../people/users/index.ts';
import { changeProject, type ProjectChanges, tellOfMove } from './actions.ts';
import { addProject, type Creator } from './creation_actions.ts';
import { isSharedWith, type ProjectFilters, projectFilters, unpairedText } from './filters.ts';
import {
  completeRows,
  ProjectForm,
  ProjectWithAccessForm,
  presentProject,
  presentProjectBasic,
  presentProjectPage,
  presentProjects,
  projectReply,
  runnersToken,
} from './present.ts';
import { creatorOf, projectRow, projectsByKey, projectsByOffset, userNamed, visibleProjectRows } from './queries.ts';
import { beginnings, columnsOfSettings, type FormAsked, form, mergeSettings, settings } from './rules.ts';

/**
 * Refuses pages beyond the maximum offset. The limit applies however many projects there are, unlike for other lists.
 */
function refuseFarPage(input: Paging): void {
  if (!startOf(input).isBeyond) return;
  const text = `Offset pagination has a maximum allowed offset of ${furthest} for requests that return objects of type Project. Remaining records can be retrieved using keyset pagination.`;
  throw new ApiError(405, { message: text, error: text });
}

/** Whether any project is shared with the group. If not, its own projects can be read in the order of their index. */
async function hasSharedProjects(db: Database, group_id: number): Promise<boolean> {
  const links = db
    .selectFrom('group_links')
    .select('id')
    .where('invited_group_id', '=', group_id)
    .where('project_id', 'is not', null);
  return (await links.limit(1).executeTakeFirst()) !== undefined;
}

/**
 * The IDs of a group, its subgroups, and further groups. Read beforehand, because PostgreSQL has to know their number
 * to choose between reading their projects and reading all.
 */
async function groupsBelow(db: Database, group: { id: number }, others: readonly number[]): Promise<number[]> {
  const { rows } = await sql<{ ids: number[] }>`
    select array(select id from namespaces where traversal_ids @> ${[group.id]}::bigint[] or id = any(${others}::bigint[])) as ids`.execute(
    db,
  );
  return rows[0]!.ids;
}

async function groupProjects(
  services: Services,
  caller: MaybeCaller,
  wanted: RawBuilder<boolean>,
  input: ProjectFilters & Paging & Omit<FormAsked, 'statistics'> & { include_subgroups?: boolean },
) {
  const projects = visibleProjectRows(services.db, caller).where(wanted);
  const page = await projectsByOffset(services.db, caller, projects, input, input.include_subgroups);
  if (input.simple) return mapPage(page, (row) => presentProjectBasic(services, row));
  const complete = await completeRows(services.db, page.items);
  const shown = complete.map((row) => presentProject(services, caller, row));
  return { ...page, items: await showAttributes(services.db, 'project', { caller, input }, shown) };
}

const lists = [
  get('/projects', {
    operation: 'listProjects',
    summary: 'List visible projects, newest first',
    description:
      'Pages by number reach the first 50,000 projects. Links to the next page and keyset pagination by `id` have no limit.',
    access: anyone,
    rate: { setting: 'projects_api_limit', anonymous: 'projects_api_rate_limit_unauthenticated', window_s: 600 },
    input: { ...paging, pagination: keysetPaging.pagination, ...form, ...projectFilters },
    returns: pageOf(ProjectWithAccessForm),
    refusals: {
      400: unpairedText,
      405: [
        'Keyset pagination is not yet available for this type of request',
        'Offset pagination has a maximum allowed offset of 50000 for requests that return objects of type Project. Remaining records can be retrieved using keyset pagination.',
      ],
    },
    handle: async ({ caller, input, ...services }) => {
      const { db } = services;
      if (input.pagination === 'keyset')
        return presentProjectPage(services, caller, await projectsByKey(db, caller, input), input);
      refuseFarPage(input);
      const page = await projectsByOffset(db, caller, visibleProjectRows(db, caller), input);
      return presentProjectPage(services, caller, page, input);
    },
  }),
  get('/users/:user_id/projects', {
    operation: 'listUserProjects',
    summary: "List a user's personal projects, newest first",
    access: anyone,
    input: { user_id: IdOrName('ID or username'), ...paging, ...form, ...projectFilters },
    returns: pageOf(ProjectWithAccessForm),
    refusals: { 400: unpairedText, 404: '404 User Not Found' },
    handle: async ({ caller, input, ...services }) => {
      const { db } = services;
      const { namespace_id } = await userNamed(db, input.user_id);
      const isPersonal = namespace_id === null ? sql<boolean>`false` : sql<boolean>`namespace_id = ${namespace_id}`;
      const page = await projectsByOffset(db, caller, visibleProjectRows(db, caller).where(isPersonal), input);
      return presentProjectPage(services, caller, page, input);
    },
  }),
  get('/groups/:id/projects', {
    operation: 'listGroupProjects',
    summary: 'List the projects of a group and those shared with it, newest first',
    access: groupVisible,
    input: {
      ...paging,
      simple: form.simple,
      ...attributeForm,
      include_subgroups: Type.Boolean({ default: false }),
      include_ancestor_groups: Type.Boolean({ default: false }),
      with_shared: Type.Boolean({
        default: true,
        description: 'Whether to include projects that are shared with the group',
      }),
      ...projectFilters,
    },
    returns: pageOf(ProjectWithAccessForm),
    refusals: { 400: unpairedText },
    handle: async ({ caller, group, input, ...services }) => {
      const above = input.include_ancestor_groups ? group.traversal_ids : [group.id];
      const own =
        above.length === 1
          ? sql<boolean>`namespace_id = ${group.id}`
          : sql<boolean>`namespace_id = any(${above}::bigint[])`;
      const inside = input.include_subgroups
        ? sql<boolean>`namespace_id = any(${await groupsBelow(services.db, group, above)}::bigint[])`
        : own;
      const wanted =
        input.with_shared && (await hasSharedProjects(services.db, group.id))
          ? sql<boolean>`(${inside} or ${isSharedWith(group.id)})`
          : inside;
      return groupProjects(services, caller, wanted, input);
    },
  }),
  get('/groups/:id/projects/shared', {
    operation: 'listProjectsSharedWithGroup',
    summary: 'List the projects that are shared with a group, newest first',
    access: groupVisible,
    input: { ...paging, simple: form.simple, ...attributeForm, ...projectFilters },
    returns: pageOf(ProjectWithAccessForm),
    refusals: { 400: unpairedText },
    handle: ({ caller, group, input, ...services }) => groupProjects(services, caller, isSharedWith(group.id), input),
  }),
];

const names = { name: optional(Type.String()), path: optional(Type.String()) };
const creation = { namespace_id: optional(Id), ...beginnings, ...settings, ...projectMirrorInput, avatar: Avatar() };
const change = {
  ...names,
  default_branch: optional(Type.String()),
  ...settings,
  ...projectMirrorInput,
  avatar: Avatar(),
};

/** The parameters that the permission `manage_merge_request_settings` allows. */
const mergeRequestSettings: ReadonlySet<string> = new Set([
  'merge_requests_access_level',
  'merge_requests_enabled',
  ...Object.keys(mergeSettings),
]);

/**
 * Refuses changes beyond the caller's role: below Maintainer everything except merge settings, and below Owner changes
 * of visibility and path.
 * @param input the given parameters
 * @throws ApiError 403
 */
function refuseBeyondRole(project: Project, input: ProjectChanges): void {
  const { path, visibility } = input;
  const isElsewhere = Object.keys(input).some((name) => !mergeRequestSettings.has(name));
  if (isElsewhere && project.access_level < levels.maintainer) throw forbidden();
  const isMoved = path !== undefined && path !== project.path;
  const isShown = visibility !== undefined && visibility !== project.visibility;
  if ((isMoved || isShown) && project.access_level < levels.owner) throw forbidden();
}

/** @throws ApiError 400 for a visibility that only administrators may choose */
async function refuseRestricted(
  db: Database,
  caller: Caller,
  project: Project,
  { visibility }: ProjectChanges,
): Promise<void> {
  const reasons = visibility === project.visibility ? [] : await restrictionReasons(db, caller, visibility);
  if (reasons.length > 0) throw invalid({ visibility_level: reasons });
}

/** @throws ApiError 400 when a group above closes its projects to runners of the instance */
async function refuseClosed(db: Database, { id }: Project, opens: boolean | undefined): Promise<void> {
  if (!opens) return;
  const query = db.selectFrom('projects').select(isClosedToInstanceRunners.as('is_closed')).where('id', '=', id);
  if ((await query.executeTakeFirst())?.is_closed)
    throw invalid({ shared_runners_enabled: ['cannot be enabled because parent group does not allow it'] });
}

/**
 * Creates a project as requested, with its avatar.
 * @returns its ID
 */
async function createdProject(
  services: Services,
  creator: Creator,
  input: Static<TObject<typeof creation>>,
): Promise<number> {
  const received = await receiveAvatar(services, input.avatar);
  const { db, secrets } = services;
  const doImport = await importIn({ db, secrets, caller: creator }, input);
  const also = async (tx: Database, id: number) => {
    await setAvatar(tx, 'projects', id, received);
    await doImport(tx, id);
  };
  return addProject(services, creator, {
    ...input,
    columns: columnsOfSettings(input, { is_admin: creator.admin }),
    also,
  });
}

const ProjectStorage = resource('ProjectStorage', {
  project_id: Id,
  disk_path: Type.String(),
  created_at: Timestamp,
  repository_storage: Type.String(),
});

const single = [
  post('/projects', {
    operation: 'createProject',
    audits: ['project_created'],
    summary: "Create a project in a group or in the caller's namespace",
    access: signedIn,
    input: { ...names, ...creation },
    rules: [atLeastOneOf('name', 'path')],
    returns: one(ProjectForm),
    refusals: {
      400: ['<parameter>: <reason>', ...avatarTexts, ...pushRuleTexts],
      403: [
        'You cannot create projects in your personal namespace. Contact your administrator.',
        "You've reached your limit of <number> projects created. Contact your administrator.",
      ],
    },
    handle: async ({ caller, input, ...services }) =>
      projectReply(services, caller, await createdProject(services, caller, input)),
  }),
  post('/projects/user/:user_id', {
    operation: 'createUserProject',
    audits: ['project_created'],
    summary: 'Create a project for a user, by default in their namespace',
    access: admin,
    input: { user_id: Id, ...names, name: NotBlank(), ...creation },
    returns: one(ProjectForm),
    refusals: {
      400: ['<parameter>: <reason>', ...avatarTexts, ...pushRuleTexts],
      403: "You've reached your limit of <number> projects created. Contact your administrator.",
      404: '404 User Not Found',
    },
    handle: async ({ caller, input, ...services }) => {
      const creator = await creatorOf(services, input.user_id);
      return projectReply(services, caller, await createdProject(services, creator, input));
    },
  }),
  get('/projects/:id', {
    operation: 'getProject',
    summary: 'Show a project',
    access: projectVisible,
    rate: { setting: 'project_api_limit', window_s: 600 },
    input: { statistics: form.statistics, ...attributeForm },
    returns: one(ProjectWithAccessForm),
    handle: async ({ caller, project, input, ...services }) => {
      const row = await projectRow(services.db, caller, project.id);
      const [shown] = await presentProjects(services, caller, [row], input);
      return { ...shown!, ...runnersToken(services, row) };
    },
  }),
  put('/projects/:id', {
    operation: 'updateProject',
    summary: 'Update a project; only owners can change its path and visibility',
    // Settings are not content: those of an archived project can be changed.
    access: projectRole('maintainer', { archived: true, permission: 'manage_merge_request_settings' }),
    input: change,
    rules: [atLeastOneOf(...Object.keys(change))],
    returns: one(ProjectForm),
    refusals: {
      400: ['<parameter>: <reason>', ...avatarTexts],
      403: [`403 Forbidden - ${markedText('project')}`, branchRefusalText],
    },
    handle: async ({ caller, project, input, ...services }) => {
      refuseMarked('project', project);
      refuseBeyondRole(project, input);
      await refuseRestricted(services.db, caller, project, input);
      await refuseClosed(services.db, project, input.shared_runners_enabled);
      const { name, path, default_branch } = input;
      const received = await receiveAvatar(services, input.avatar);
      const changes = { name, path, default_branch, ...columnsOfSettings(input, { is_admin: caller.admin }) };
      const { db, secrets } = services;
      const changeMirror = await mirrorChangeIn({ db, secrets, caller }, input);
      await changeProject(services, project, changes, async (tx, has_moved) => {
        await setAvatar(tx, 'projects', project.id, received);
        if (has_moved) await tellOfMove(tx, project.id, caller.id);
        await changeMirror(tx, project.id);
        if (input.dependency_paths) await scanSoon(tx, project.id);
      });
      return projectReply(services, caller, project.id);
    },
  }),
  get('/projects/:id/avatar', {
    operation: 'getProjectAvatar',
    summary: 'Download the avatar of a project',
    access: projectVisible,
    returns: bytes(avatarTypes),
    refusals: { 404: '404 Avatar Not Found' },
    handle: ({ project, caller: _caller, ...services }) => avatarBytes(services, 'project', project.id),
  }),
  get('/projects/:id/storage', {
    operation: 'getProjectStorage',
    summary: "Show the storage location of a project's repository",
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
    operation: 'listProjectUsers',
    summary: 'List the members of a project as users, including inherited and invited ones',
    access: projectVisible,
    input: { ...paging, search: optional(Type.String()), skip_users: optional(Type.Array(Id)) },
    returns: pageOf(UserBasic),
    handle: async ({ db, url, project, input }) => {
      const pattern = input.search && containing(input.search);
      const members = sql<boolean>`exists (
        select from project_authorizations
         where project_id = ${project.id} and user_id = users.id and ${countsToday()})`;
      const users = db
        .selectFrom('users')
        .select(userBasicColumns)
        .where(members)
        .$if(pattern !== undefined, (q) =>
          q.where(sql<boolean>`(name ilike ${pattern} or username::text ilike ${pattern})`),
        )
        .$if(input.skip_users !== undefined, (q) => q.where(sql<boolean>`id <> all(${input.skip_users})`))
        .orderBy('id');
      const page = await paginate(db, users, input);
      return mapPage(page, (user) => presentUserBasic(url, user));
    },
  }),
  get('/projects/:id/groups', {
    operation: 'listProjectGroups',
    summary: 'List the ancestor groups of a project, top-level group first',
    access: projectVisible,
    input: {
      ...paging,
      search: optional(Type.String()),
      skip_groups: optional(Type.Array(Id)),
      with_shared: Type.Boolean({ default: false, description: 'Whether to include invited groups' }),
      shared_visible_only: Type.Boolean({
        default: false,
        description: 'Whether to include only invited groups that are visible to the caller',
      }),
      shared_min_access_level: optional(GroupLevel()),
    },
    returns: pageOf(PublicGroupDetails),
    handle: async ({ db, url, caller, project, input }) => {
      const invited = sql`
        id in (select invited_group_id from group_links
                where ${countsToday('group_links')} and access_level >= ${input.shared_min_access_level ?? 0}
                  and (project_id = ${project.id} or group_id = any((select traversal_ids from namespaces place where place.id = ${project.namespace_id})::bigint[])))
        and ${input.shared_visible_only ? isVisibleGroup(caller) : sql`true`}`;
      const groups = publicGroups(db, input.search)
        .where(
          sql<boolean>`(id = any((select traversal_ids from namespaces place where place.id = ${project.namespace_id})::bigint[])
                        or ${input.with_shared} and ${invited})`,
        )
        .$if(input.skip_groups !== undefined, (q) => q.where(sql<boolean>`id <> all(${input.skip_groups})`))
        .orderBy(sql`cardinality(traversal_ids)`)
        .orderBy('id');
      const page = await paginate(db, groups, input);
      return mapPage(page, (group) => presentPublicGroup(url, group));
    },
  }),
];

export const projectRoutes = [...lists, ...single, ...belonging];
