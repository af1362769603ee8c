/** Access rules that grant a project. Each loads it together with the caller's access to it, in one statement. */

import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { type DB, dataLoader, ofAnyLength, type Slots, statement } from '../db/index.ts';
import { type Access, type AccessCall, type Caller, isReading } from '../http/endpoint.ts';
import { forbidden, Moved, notFound, unauthorized } from '../http/errors.ts';
import { idIn } from '../http/ids.ts';
import { both, isReachableProject, reachesProject } from './client_addresses.ts';
import { deployLevel } from './deploy_tokens.ts';
import { countsToday } from './expiry.ts';
import { admin, type MaybeCaller, type Reading } from './instance.ts';
import { letsJobsIn } from './job_token_scope.ts';
import { levels, type Role } from './levels.ts';
import {
  heldTogether,
  holds,
  mayAct,
  type Permission,
  permissionsOfRoles,
  type RoleOptions,
  rolesCount,
  ruleOf,
} from './permissions.ts';
import { changesAreBlocked } from './plans.ts';
import { movedFrom } from './redirects.ts';
import { keptWithRights } from './rights_version.ts';
import { isListedProject, isProject, stateOfProject } from './states.ts';

export interface Project {
  id: number;
  name: string;
  path: string;
  full_path: string;
  namespace_id: number;
  visibility: 'private' | 'internal' | 'public';
  default_branch: string;
  empty_repo: boolean;
  /** Whether the project or one of its ancestors is archived. */
  archived: boolean;
  /** Whether the project or one of its ancestors is marked for deletion. Only members see it then. */
  marked_for_deletion: boolean;
  /** Whether its content cannot be changed: archived, marked for deletion, a fork that is still being copied, or blocked by an expired license. */
  read_only: boolean;
  /** Whether it is a fork or an import that is still being filled with a copy of its source. */
  being_copied: boolean;
  storage: string;
  /** Whether freeze periods block changes to its protected branches. */
  freeze_blocks_pushes: boolean;
  issues_access_level: FeatureLevel;
  repository_access_level: FeatureLevel;
  merge_requests_access_level: FeatureLevel;
  forking_access_level: FeatureLevel;
  snippets_access_level: FeatureLevel;
  environments_access_level: FeatureLevel;
  wiki_access_level: FeatureLevel;
  feature_flags_access_level: FeatureLevel;
  releases_access_level: FeatureLevel;
  builds_access_level: FeatureLevel;
  /** The caller's access level: 50 for administrators, 0 without a membership. */
  access_level: number;
  /** The permissions that custom roles add. */
  permissions: readonly Permission[];
}

export type FeatureLevel = 'disabled' | 'private' | 'enabled';
export type Feature =
  | 'issues'
  | 'repository'
  | 'merge_requests'
  | 'forking'
  | 'snippets'
  | 'environments'
  | 'wiki'
  | 'feature_flags'
  | 'releases'
  | 'builds';

const columns = sql.raw(
  [
    'id name path full_path namespace_id visibility default_branch empty_repo storage freeze_blocks_pushes',
    'issues_access_level repository_access_level merge_requests_access_level forking_access_level snippets_access_level environments_access_level',
    'wiki_access_level feature_flags_access_level releases_access_level builds_access_level',
  ]
    .join(' ')
    .split(' ')
    .map((column) => `projects.${column}`)
    .join(', '),
);

const isBeingCopied = sql`projects.import_status in ('scheduled', 'started')`;

/** The effective states of each row of `projects`, including those of its ancestors. */
export const projectState = {
  archived: sql<boolean>`${isProject('archived')}`,
  marked_for_deletion: sql<boolean>`${isProject('marked_for_deletion')}`,
  read_only: sql<boolean>`(${isBeingCopied} or ${isProject('archived')} or ${isProject('marked_for_deletion')} or ${changesAreBlocked})`,
};

/** The caller's access level in each row of `projects`. */
export const projectLevel = (caller: MaybeCaller): RawBuilder<number> =>
  !caller
    ? sql`0`
    : caller.admin
      ? sql`50`
      : sql`coalesce((select max(access_level) from project_authorizations
                       where user_id = ${caller.id} and project_id = projects.id and ${countsToday()}), 0)`;

/** The permissions that custom roles give the caller in each row of `projects`. */
export const projectPermissions = (caller: Reading): RawBuilder<Permission[]> =>
  !caller || caller.admin
    ? sql`'{}'::text[]`
    : sql`case when ${rolesCount} then array(
        select distinct unnest(member_roles.permissions) from project_authorizations join member_roles on member_roles.id = member_role_id
         where user_id = ${caller.id} and project_id = projects.id and ${countsToday()}) else '{}' end`;

/**
 * A predicate on rows of `projects`: the caller is a member. Administrators need a membership for this.
 * @param level the minimum access level
 */
export const isMemberOfProject = (caller: Reading, level: number): RawBuilder<SqlBool> =>
  !caller
    ? sql`false`
    : both(
        sql`exists (select from project_authorizations
                   where user_id = ${caller.id} and project_id = projects.id and access_level >= ${level}
                     and ${countsToday()})`,
        isReachableProject(caller),
      );

/** A predicate on rows of `projects`: the caller may read internal notes on what they may read in the project. */
export const readsInternalNotesIn = (caller: Reading): RawBuilder<boolean> =>
  caller?.admin ? sql`true` : sql`${isMemberOfProject(caller, levels.planner)}`;

/** A predicate on rows of `projects`: the project is visible to the caller, as `mayRead` decides for one. */
export function isVisibleProject(caller: Reading): RawBuilder<SqlBool> {
  if (caller?.admin) return sql`true`;
  const isShown =
    !caller || caller.external
      ? sql<SqlBool>`projects.visibility = 'public'`
      : sql<SqlBool>`projects.visibility <> 'private'`;
  const isOpen = both(sql`(${isShown} and not ${isListedProject('marked_for_deletion')})`, isReachableProject(caller));
  return caller ? sql`(${isOpen} or ${isMemberOfProject(caller, 1)})` : isOpen;
}

/** The values that decide on the access level of a caller. */
type Asker = (Pick<Caller, 'id' | 'admin'> & Partial<Pick<Caller, 'deploys' | 'job'>>) | undefined;

/** How a request names a project. */
interface ProjectQuestion {
  caller: Asker;
  /** Exactly one of the two is set. */
  project_id: number | null;
  full_path: string | null;
}

/** The part of the caller that decides on the access level. */
const callerKey = (caller: Asker) => (caller?.admin ? 'admin' : (caller?.id ?? 'anyone'));

const keyOf = ({ caller, project_id, full_path }: ProjectQuestion): string =>
  `${callerKey(caller)} ${project_id ?? full_path}`;

interface AskedColumns {
  ids: (number | null)[];
  paths: (string | null)[];
  users: (number | null)[];
}

/** `question`, from 1, is the number of the question that a row answers. */
const projectsAsked = statement(
  ({ ids, paths, users }: Slots<AskedColumns>) => sql<{ question: number } & Project>`
    select asked.question, ${columns}, state.archived, state.marked_for_deletion,
           ${isBeingCopied} as being_copied, state.archived or state.marked_for_deletion or ${isBeingCopied} or ${changesAreBlocked} as read_only,
           held.access_level, ${permissionsOfRoles(sql`held.roles`)} as permissions
      from unnest(${ofAnyLength(ids, 'bigint[]')}, ${ofAnyLength(paths, 'citext[]')}, ${ofAnyLength(users, 'bigint[]')})
           with ordinality asked(project_id, full_path, user_id, question),
           lateral (select id from projects where id = asked.project_id union all select id from projects where full_path = asked.full_path) named
           join projects on projects.id = named.id, ${stateOfProject},
           lateral (select ${heldTogether} from project_authorizations
                     where user_id = asked.user_id and project_id = projects.id and ${countsToday()}) held`,
);

async function answersOf(db: Kysely<DB>, asked: readonly ProjectQuestion[]): Promise<Map<string, Project>> {
  const rows = await projectsAsked(db, {
    ids: asked.map(({ project_id }) => project_id),
    paths: asked.map(({ full_path }) => full_path),
    users: asked.map(({ caller }) => (caller && !caller.admin ? caller.id : null)),
  });
  return new Map(
    rows.map((project) => {
      const one = asked[project.question - 1]!;
      return [keyOf(one), one.caller?.admin ? { ...project, access_level: levels.owner } : project];
    }),
  );
}

const grantedProject = keptWithRights('project', keyOf, dataLoader<ProjectQuestion, Project>(keyOf, answersOf));

/**
 * A project as a job may use it: its own, and those that let its project in, as a Developer at most, others as a stranger.
 * @param project with the level of the job's user
 */
async function asJobSees(
  db: Kysely<DB>,
  project: Project,
  { project_id }: NonNullable<Caller['job']>,
): Promise<Project> {
  const access_level = Math.min(project.access_level, levels.developer);
  if (project.id === project_id) return { ...project, access_level };
  const isIn = access_level > 0 && (await letsJobsIn(db, project.id, project_id));
  return { ...project, access_level: isIn ? access_level : 0, permissions: [] };
}

/**
 * The project that `id` names, with the caller's access level in it. Deploy tokens and deploy keys have the level that they grant, regardless of the user who added
 * them. A job is a Developer at most.
 * @param id an ID or a full path, compared without case
 * @param version the version of rights that applies; without one, the database is queried
 */
export async function projectFor(
  db: Kysely<DB>,
  caller: Asker,
  id: string,
  version?: string,
): Promise<Project | undefined> {
  if (caller?.job) {
    const own = await projectNamed(db, { id: caller.id, admin: caller.job.of_admin }, id, version);
    return own && asJobSees(db, own, caller.job);
  }
  if (!caller?.deploys) return projectNamed(db, caller, id, version);
  const project = await projectNamed(db, undefined, id, version);
  return project && { ...project, access_level: await deployLevel(db, caller.deploys, project) };
}

async function projectNamed(db: Kysely<DB>, caller: Asker, id: string, version?: string): Promise<Project | undefined> {
  const project = await knownProject(db, caller, id, version);
  return project && (await reachesProject(db, caller, project.id)) ? project : undefined;
}

async function knownProject(db: Kysely<DB>, caller: Asker, id: string, version?: string): Promise<Project | undefined> {
  const project_id = idIn(id);
  if (project_id !== undefined) return grantedProject(db, { caller, project_id, full_path: null }, version);
  // PostgreSQL accepts no NUL in texts.
  return id.includes('/') && !id.includes('\0')
    ? grantedProject(db, { caller, project_id: null, full_path: id }, version)
    : undefined;
}

/** Whether a project is visible to the caller. */
export function mayRead(
  caller: MaybeCaller,
  project: Pick<Project, 'visibility' | 'access_level' | 'marked_for_deletion'>,
): boolean {
  if (project.access_level > 0) return true;
  if (project.marked_for_deletion) return false;
  if (project.visibility === 'public') return true;
  return project.visibility === 'internal' && caller !== undefined && !caller.external;
}

/**
 * Whether a feature is available to the caller: it can be disabled, for members only, or enabled.
 * @param place a project, or a group for its wiki, that is visible to the caller
 */
export function mayUse<F extends Feature>(
  place: Record<`${F}_access_level`, FeatureLevel> & Pick<Project, 'access_level'>,
  feature: F,
  memberLevel: number = levels.guest,
): boolean {
  const setting = place[`${feature}_access_level`];
  return setting === 'enabled' || (setting === 'private' && place.access_level >= memberLevel);
}

/**
 * The project that had a path before, if it is visible to the caller.
 * @param path a full path that no project has now
 */
export async function movedProject(db: Kysely<DB>, caller: MaybeCaller, path: string): Promise<Project | undefined> {
  const id = await movedFrom(db, 'project', path);
  const project = id === undefined ? undefined : await projectFor(db, caller, String(id));
  return project && mayRead(caller, project) ? project : undefined;
}

/**
 * The project that `id` names, if it is visible to the caller; for projects that a parameter names.
 * @throws ApiError 404
 */
export async function visibleProject(db: Kysely<DB>, caller: MaybeCaller, id: string): Promise<Project> {
  const project = await projectFor(db, caller, id);
  if (!project || !mayRead(caller, project)) throw notFound('Project');
  return project;
}

/** The project in `:id`, if it is visible to the caller. A project that moved is answered with a redirect. */
export async function projectInPath({ db, caller, params, rightsVersion }: AccessCall): Promise<Project> {
  const id = params.id!;
  const project = await projectFor(db, caller, id, await rightsVersion());
  if (project && mayRead(caller, project)) return project;
  const moved = project ? undefined : await movedProject(db, caller, id);
  throw moved ? new Moved('project', moved.id) : notFound('Project');
}

/** Grants the project in `:id` to everyone who can see it, signed in or not. */
export const projectVisible: Access<{ caller: MaybeCaller; project: Project }> = {
  rule: 'project:visible',
  anonymous: true,
  async check(call) {
    if (!call.caller && !isReading(call.method)) throw unauthorized();
    return { caller: call.caller, project: await projectInPath(call) };
  },
};

/** Grants administrators the project in `:id`. Others do not learn whether it exists. */
export const projectForAdmin: Access<{ caller: Caller; project: Project }> = {
  rule: 'project:admin',
  async check(call) {
    const { caller } = await admin.check(call);
    return { caller, project: await projectInPath(call) };
  },
};

/** The reason why a fork or an imported project accepts no changes yet, as a sentence. */
export const projectIsBeingFilled =
  'The project is still being filled. Try again when its `import_status` is `finished`.';

/** The reason why the content of a read-only project cannot be changed, as a sentence. */
export function reasonForReadOnly({
  archived,
  marked_for_deletion,
  being_copied,
}: Pick<Project, 'archived' | 'marked_for_deletion' | 'being_copied'>): string {
  if (being_copied) return projectIsBeingFilled;
  if (archived) return 'The project is archived.';
  return marked_for_deletion
    ? 'The project is marked for deletion.'
    : 'The license has expired, so projects cannot be changed.';
}

/** @throws ApiError 403 when the content of the project cannot be changed */
export function refuseReadOnly(project: Project): void {
  if (project.read_only) throw forbidden(reasonForReadOnly(project));
}

interface ProjectRoleOptions extends RoleOptions {
  /** A feature that must be available to the caller, or several. */
  feature?: Feature | readonly Feature[];
  /** Whether the endpoint also works on a read-only project, for instance an archived one. */
  archived?: true;
}

/**
 * Grants the project in `:id` to members who have at least `role` or the given permission; `guest` admits every signed-in caller who can see the project. Hidden
 * projects answer 404, visible ones 403.
 */
export const projectRole = (
  role: Role,
  { feature, archived, permission }: ProjectRoleOptions = {},
): Access<{ caller: Caller; project: Project }> => {
  const features = [feature ?? []].flat();
  return {
    rule: ruleOf(`project:${role}`, permission),
    async check(call) {
      const { caller } = call;
      if (!caller) throw unauthorized();
      const project = await projectInPath(call);
      if (!mayAct(project, role, permission)) throw forbidden();
      if (features.some((each) => !mayUse(project, each))) throw forbidden();
      if (!archived && !isReading(call.method)) refuseReadOnly(project);
      return { caller, project };
    },
  };
};

/** Whether the caller may download the code: everyone if it is enabled and the project is not private, otherwise Reporters (docs/reference/access.md#code). */
export function mayDownloadCode(project: Project): boolean {
  if (project.access_level >= levels.reporter) return project.repository_access_level !== 'disabled';
  return project.repository_access_level === 'enabled' && project.visibility !== 'private';
}

/** A predicate on visible rows of `projects`: the caller may download the code, as `mayDownloadCode` decides for one. */
export function isDownloadable(caller: Reading): RawBuilder<SqlBool> {
  if (caller?.admin) return sql`projects.repository_access_level <> 'disabled'`;
  return sql`
    ((projects.repository_access_level = 'enabled' and projects.visibility <> 'private')
     or (projects.repository_access_level <> 'disabled' and ${isMemberOfProject(caller, levels.reporter)}))`;
}

/** Whether the caller may read the code, at least file by file. */
export const mayReadCode = (project: Project): boolean =>
  mayDownloadCode(project) ||
  (project.repository_access_level !== 'disabled' && holds(project, 'read_code', 'project'));

const codeRule = (
  rule: string,
  admits: (project: Project) => boolean,
): Access<{ caller: MaybeCaller; project: Project }> => ({
  rule,
  anonymous: true,
  async check(call) {
    const project = await projectInPath(call);
    if (project.repository_access_level === 'disabled') throw notFound('Repository');
    if (!admits(project)) throw forbidden();
    return { caller: call.caller, project };
  },
});

/** Grants the project in `:id` to callers who may read its code. With the repository disabled, the response is 404. */
export const codeReader = codeRule('project:read_code', mayReadCode);
/** The same for callers who may download the code. */
export const codeDownloader = codeRule('project:download_code', mayDownloadCode);

/** Grants the project in `:id` to callers who may push to it. Branch protection is checked when refs are updated. */
export const codeWriter: Access<{ caller: Caller; project: Project }> = {
  rule: 'project:push_code',
  async check(call) {
    const granted = await projectRole('developer').check(call);
    if (granted.project.repository_access_level === 'disabled') throw forbidden();
    return granted;
  },
};
