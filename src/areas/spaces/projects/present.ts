/** How projects appear in responses. */
import { type Static, type TObject, Type } from 'typebox';
import {
  levels,
  type MaybeCaller,
  mayDownloadCode,
  mayReadCode,
  mayUse,
  projectPage,
  registrationToken,
} from '../../../access/index.ts';
import { replyOf, shownOf } from '../../../fields/index.ts';
import {
  allOptional,
  type Caller,
  cloneUrls,
  DateOnly,
  deprecated,
  Id,
  nullable,
  optional,
  type Page,
  resource,
  type Services,
  since,
  Timestamp,
  Visibility,
} from '../../../http/index.ts';
import { mapInSlices, toHtml } from '../../../markdown/index.ts';
import { presentProjectMirror, projectMirrorFields } from '../../code/mirrors/index.ts';
import { blobPage } from '../../code/repository/index.ts';
import { avatarUrl } from '../../people/avatars/index.ts';
import { attributeMember, showAttributes } from '../../people/custom_attributes/index.ts';
import {
  NamespaceBasic,
  ProjectIdentity,
  presentNamespaceBasic,
  SharedWithGroup,
} from '../../people/namespaces/index.ts';
import { presentUserBasic, UserBasic } from '../../people/users/index.ts';
import { accessFields, codeFields, featureFields, mergeFields, usageFields } from './fields.ts';
import { fixedProjectFields, fixedProjectValues } from './fixed_present.ts';
import { openIssuesOf, type ProjectRow, type ProjectSource, projectRow, statisticsOf } from './queries.ts';
import type { FormAsked } from './rules.ts';

const basicFields = {
  ...ProjectIdentity.properties,
  default_branch: optional(Type.String({ description: 'Only for callers who may read the code' })),
  tag_list: deprecated('use `topics`', Type.Array(Type.String())),
  topics: Type.Array(Type.String()),
  ssh_url_to_repo: Type.String({ description: 'Empty when the server does not speak SSH' }),
  http_url_to_repo: Type.String(),
  web_url: Type.String(),
  readme_url: optional(
    nullable(
      Type.String({
        description:
          'The README of the default branch, null where there is none; only for callers who may read the code',
      }),
    ),
  ),
  forks_count: optional(Type.Integer({ description: 'Only for callers who may read the code' })),
  avatar_url: nullable(Type.String()),
  star_count: Type.Integer(),
  last_activity_at: Timestamp,
  visibility: Visibility,
  namespace: NamespaceBasic,
};

const enabledFields = {
  issues_enabled: Type.Boolean({ description: 'Whether issues are available to the caller' }),
  merge_requests_enabled: Type.Boolean({ description: 'Whether merge requests are available to the caller' }),
  snippets_enabled: Type.Boolean({ description: 'Whether snippets are available to the caller' }),
  wiki_enabled: Type.Boolean({ description: 'Whether the wiki is available to the caller' }),
  jobs_enabled: Type.Boolean({ description: 'Whether `builds_access_level` is not `disabled`' }),
};

const detailFields = {
  _links: Type.Object({
    self: Type.String(),
    issues: optional(Type.String()),
    merge_requests: optional(Type.String()),
    repo_branches: Type.String(),
    labels: Type.String(),
    events: Type.String(),
    members: Type.String(),
  }),
  empty_repo: Type.Boolean(),
  archived: Type.Boolean(),
  owner: optional(UserBasic),
  repository_object_format: Type.Enum(['sha1', 'sha256']),
  ...enabledFields,
  ...replyOf(featureFields),
  can_create_merge_request_in: Type.Boolean(),
  emails_disabled: Type.Boolean(),
  ...replyOf(usageFields),
  ...replyOf(codeFields),
  dependency_paths: optional(
    Type.Array(Type.String(), {
      description:
        'Lock files that are read although they are in a folder of tests or foreign code; only for callers who can read the code',
    }),
  ),
  creator_id: nullable(Id),
  forked_from_project: optional(
    Type.Object(basicFields, { description: 'For forks: the source, if it is visible to the caller' }),
  ),
  import_status: Type.Enum(['none', 'scheduled', 'started', 'finished', 'failed'], {
    description: 'Progress of copying the repository of a fork, or of another server',
  }),
  import_error: optional(nullable(Type.String({ description: 'Maintainers only' }))),
  open_issues_count: optional(
    Type.Integer({
      description: 'Only where issues are available to the caller; without confidential ones below Planner',
    }),
  ),
  description_html: Type.String(),
  updated_at: Timestamp,
  marked_for_deletion_on: nullable(DateOnly),
  marked_for_deletion_at: deprecated('use `marked_for_deletion_on`', nullable(Type.String({ format: 'date' }))),
  shared_with_groups: Type.Array(SharedWithGroup, { description: 'Invited groups that are visible to the caller' }),
  ...replyOf(accessFields),
  ...replyOf(mergeFields),
  ...projectMirrorFields,
  repository_storage: optional(Type.String({ description: 'Administrators only' })),
  runners_token: optional(
    Type.String({ description: 'Of single projects, for Maintainers: the token with which runners register' }),
  ),
  ...fixedProjectFields,
  compliance_frameworks: since('premium', Type.Array(Type.String(), { description: 'Their names' })),
};

/** The settings that all readers see. */
const shownSettings = shownOf({ ...featureFields, ...usageFields, ...codeFields, ...accessFields, ...mergeFields });

const unstored = () => Type.Integer({ description: 'Always 0: nothing of the kind is stored' });

const unstoredFields = {
  pipeline_artifacts_size: unstored(),
  packages_size: unstored(),
};

/** The values of `unstoredFields`. */
export const unstoredSizes: Static<TObject<typeof unstoredFields>> = {
  pipeline_artifacts_size: 0,
  packages_size: 0,
};

/** The fields that the statistics of projects and of groups share. */
export const statisticsFields = {
  storage_size: Type.Integer({ description: 'Bytes of everything that is stored' }),
  repository_size: Type.Integer(),
  lfs_objects_size: Type.Integer(),
  job_artifacts_size: Type.Integer({ description: 'Bytes of the files that jobs have left' }),
  uploads_size: Type.Integer({ description: 'Bytes of uploads and of the images of incidents' }),
  snippets_size: Type.Integer({ description: 'Bytes of the repositories of snippets' }),
  wiki_size: Type.Integer({ description: 'Bytes of the repositories of wikis' }),
  ...unstoredFields,
};

const Membership = nullable(Type.Object({ access_level: Type.Integer(), notification_level: Type.Integer() }));

/** The basic fields of a project. */
export const ProjectBasicForm = resource('ProjectBasic', basicFields);
/** The response to creating and updating a project. */
export const ProjectForm = resource('Project', { ...basicFields, ...detailFields });
/** A project in lists and on its own. Anonymous callers, and requests for the simple form, get only the basic fields. */
export const ProjectWithAccessForm = resource('ProjectWithAccess', {
  ...basicFields,
  ...allOptional(detailFields),
  permissions: optional(Type.Object({ project_access: Membership, group_access: Membership })),
  statistics: optional(
    Type.Object({
      commit_count: Type.Integer({ description: 'Of the default branch' }),
      ...statisticsFields,
      container_registry_size: unstored(),
    }),
  ),
  ...attributeMember,
});

/** A lost repository counts as empty, whatever was recorded before. */
const readmeUrl = (url: string, { full_path, default_branch, readme_path, empty_repo }: ProjectSource) =>
  readme_path && !empty_repo ? url + blobPage(full_path, default_branch, readme_path) : null;

/** @param project a row of `projectRows`, or the source in one */
export function presentProjectBasic(
  services: Pick<Services, 'url' | 'ssh_url'>,
  project: ProjectSource,
): Static<typeof ProjectBasicForm> {
  const { namespace, full_path, default_branch } = project;
  const { http, ssh } = cloneUrls(services, full_path);
  return {
    id: project.id,
    description: project.description,
    name: project.name,
    name_with_namespace: `${namespace.full_name} / ${project.name}`,
    path: project.path,
    path_with_namespace: full_path,
    created_at: project.created_at,
    tag_list: project.topics,
    topics: project.topics,
    ssh_url_to_repo: ssh,
    http_url_to_repo: http,
    web_url: services.url + projectPage(full_path),
    ...(mayReadCode(project)
      ? {
          default_branch,
          readme_url: readmeUrl(services.url, project),
          forks_count: project.forks_count,
        }
      : {}),
    avatar_url: avatarUrl(services.url, 'project', project),
    star_count: project.star_count,
    last_activity_at: project.last_activity_at,
    visibility: project.visibility,
    namespace: presentNamespaceBasic(services.url, namespace),
  };
}

function links(url: string, project: ProjectRow): Static<(typeof detailFields)['_links']> {
  const self = `${url}/api/v4/projects/${project.id}`;
  return {
    self,
    ...(mayUse(project, 'issues') ? { issues: `${self}/issues` } : {}),
    ...(mayUse(project, 'merge_requests') ? { merge_requests: `${self}/merge_requests` } : {}),
    repo_branches: `${self}/repository/branches`,
    labels: `${self}/labels`,
    events: `${self}/events`,
    members: `${self}/members`,
  };
}

/** A row with the additional columns of the full form. */
export type CompleteProjectRow = ProjectRow & { open_issues_count: number; description_html: string };

/**
 * Completes rows for the full form: open issues are counted in one statement, and rendering long descriptions does not
 * block other requests.
 * @param rows rows of `projectRows` for the caller
 */
export async function completeRows(db: Services['db'], rows: readonly ProjectRow[]): Promise<CompleteProjectRow[]> {
  const open = await openIssuesOf(db, rows);
  return mapInSlices(rows, async (row) => ({
    ...row,
    open_issues_count: open.get(row.id) ?? 0,
    description_html: row.description ? await toHtml(row.description) : '',
  }));
}

/**
 * @param caller the caller who sees the project
 * @param project a row of `completeRows` for this caller
 */
export function presentProject(
  services: Pick<Services, 'url' | 'ssh_url'>,
  caller: MaybeCaller,
  project: CompleteProjectRow,
): Static<typeof ProjectForm> {
  const { owner } = project.namespace;
  const marked_on = project.marked_for_deletion_at?.slice(0, 10) ?? null;
  return {
    ...presentProjectBasic(services, project),
    _links: links(services.url, project),
    empty_repo: project.empty_repo,
    archived: project.archived,
    ...(owner ? { owner: presentUserBasic(services.url, owner) } : {}),
    repository_object_format: project.repository_object_format as 'sha1' | 'sha256',
    issues_enabled: mayUse(project, 'issues'),
    merge_requests_enabled: mayUse(project, 'merge_requests'),
    snippets_enabled: mayUse(project, 'snippets'),
    wiki_enabled: mayUse(project, 'wiki'),
    jobs_enabled: project.builds_access_level !== 'disabled',
    can_create_merge_request_in:
      caller !== undefined && !project.read_only && mayDownloadCode(project) && mayUse(project, 'merge_requests'),
    emails_disabled: !project.emails_enabled,
    ...(mayReadCode(project) ? { dependency_paths: project.dependency_paths } : {}),
    creator_id: project.creator_id,
    ...(project.forked_from ? { forked_from_project: presentProjectBasic(services, project.forked_from) } : {}),
    import_status: project.import_status as Static<(typeof detailFields)['import_status']>,
    ...(project.access_level >= levels.maintainer ? { import_error: project.import_error } : {}),
    ...(mayUse(project, 'issues') ? { open_issues_count: project.open_issues_count } : {}),
    description_html: project.description_html,
    updated_at: project.updated_at,
    marked_for_deletion_on: marked_on,
    marked_for_deletion_at: marked_on,
    shared_with_groups: project.shared_with_groups,
    ...shownSettings(project),
    ...presentProjectMirror(project.mirroring, project.access_level >= levels.maintainer),
    ...(caller?.admin ? { repository_storage: project.storage } : {}),
    ...fixedProjectValues,
    compliance_frameworks: project.compliance_frameworks,
  };
}

/** A membership in responses. Notification level 3 is the global setting, which applies unless another one is set for the project or group. */
const membership = (access_level: number | null): Static<typeof Membership> =>
  access_level === null ? null : { access_level, notification_level: 3 };

/** @param project a row of `projectRows` for the caller */
export function presentPermissions(caller: Caller, project: ProjectRow) {
  const owns = project.namespace.owner?.id === caller.id;
  return {
    project_access: membership(owns ? levels.owner : project.project_access),
    group_access: membership(project.group_access),
  };
}

/**
 * Projects in the requested form, or the one that the caller may see, in the same order.
 * @param rows rows of `projectRows` for this caller
 */
export async function presentProjects(
  services: Services,
  caller: MaybeCaller,
  rows: readonly ProjectRow[],
  { simple = false, statistics, with_custom_attributes }: Omit<FormAsked, 'simple'> & Partial<FormAsked>,
): Promise<Static<typeof ProjectWithAccessForm>[]> {
  if (simple || !caller) return rows.map((row) => presentProjectBasic(services, row));
  const complete = await completeRows(services.db, rows);
  const measured = statistics ? await statisticsOf(services, rows) : [];
  const shown = complete.map((row, index) => ({
    ...presentProject(services, caller, row),
    permissions: presentPermissions(caller, row),
    ...(measured[index] ? { statistics: { ...measured[index], ...unstoredSizes, container_registry_size: 0 } } : {}),
  }));
  return showAttributes(services.db, 'project', { caller, input: { with_custom_attributes } }, shown);
}

/** The same for a page of a list. */
export const presentProjectPage = async (
  services: Services,
  caller: MaybeCaller,
  page: Page<ProjectRow>,
  form: FormAsked,
): Promise<Page<Static<typeof ProjectWithAccessForm>>> => ({
  ...page,
  items: await presentProjects(services, caller, page.items, form),
});

/**
 * The response to a change of a project.
 * @param id ID of a project that existed a moment ago
 * @throws ApiError 404 if it was deleted in the meantime
 */
export async function projectReply(
  services: Services,
  caller: MaybeCaller,
  id: number,
): Promise<Static<typeof ProjectForm>> {
  const [row] = await completeRows(services.db, [await projectRow(services.db, caller, id)]);
  return { ...presentProject(services, caller, row!), ...runnersToken(services, row!) };
}

/** The token with which runners register, for Maintainers. */
export const runnersToken = (
  services: Pick<Services, 'secrets'>,
  { id, access_level, runner_registration_version: version }: ProjectRow,
): { runners_token?: string } =>
  access_level >= levels.maintainer
    ? { runners_token: registrationToken(services, { kind: 'project', id, version }) }
    : {};
