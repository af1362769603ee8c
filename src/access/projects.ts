/** Rules that grant a project: each loads it together with what the caller may do in it, in one statement. */
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { type DB, inBatches, ofAnyLength } from '../db/index.ts';
import type { Access, AccessCall, Caller } from '../http/endpoint.ts';
import { forbidden, Moved, notFound, unauthorized } from '../http/errors.ts';
import { admin } from './instance.ts';
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
  /** Whether it or a group above it is archived. */
  archived: boolean;
  /** Whether it or a group above it is going to be removed. Only members know of it then. */
  marked_for_deletion: boolean;
  /** Whether its content cannot be changed: archived, marked for deletion, a fork that is still being copied, or of a server whose licence stops changes. */
  read_only: boolean;
  storage: string;
  issues_access_level: FeatureLevel;
  repository_access_level: FeatureLevel;
  merge_requests_access_level: FeatureLevel;
  forking_access_level: FeatureLevel;
  snippets_access_level: FeatureLevel;
  environments_access_level: FeatureLevel;
  /** The caller's level: 50 for administrators, 0 for who is no member. */
  access_level: number;
  /** What roles add to it. */
  permissions: readonly Permission[];
}

type FeatureLevel = 'disabled' | 'private' | 'enabled';
export type Feature = 'issues' | 'repository' | 'merge_requests' | 'forking' | 'snippets' | 'environments';

/** Who is granted a project without being signed in. */
export type MaybeCaller = Caller | undefined;

const columns = sql.raw(
  [
    'id name path full_path namespace_id visibility default_branch empty_repo storage',
    'issues_access_level repository_access_level merge_requests_access_level forking_access_level snippets_access_level environments_access_level',
  ]
    .join(' ')
    .split(' ')
    .map((column) => `projects.${column}`)
    .join(', '),
);

const isBeingCopied = sql`projects.import_status in ('scheduled', 'started')`;

/** What holds for the project of each row of `projects`, also because of the groups above it. */
export const projectState = {
  archived: sql<boolean>`${isProject('archived')}`,
  marked_for_deletion: sql<boolean>`${isProject('marked_for_deletion')}`,
  read_only: sql<boolean>`(${isBeingCopied} or ${isProject('archived')} or ${isProject('marked_for_deletion')} or ${changesAreBlocked})`,
};

/** The caller's level in the project of each row of `projects`. */
export const projectLevel = (caller: MaybeCaller): RawBuilder<number> =>
  !caller
    ? sql`0`
    : caller.admin
      ? sql`50`
      : sql`coalesce((select max(access_level) from project_authorizations
                       where user_id = ${caller.id} and project_id = projects.id and (expires_at is null or expires_at > current_date)), 0)`;

/** What roles add to the caller's level in the project of each row of `projects`. */
export const projectPermissions = (caller: MaybeCaller): RawBuilder<Permission[]> =>
  !caller || caller.admin
    ? sql`'{}'::text[]`
    : sql`case when ${rolesCount} then array(
        select distinct unnest(member_roles.permissions) from project_authorizations join member_roles on member_roles.id = member_role_id
         where user_id = ${caller.id} and project_id = projects.id and (expires_at is null or expires_at > current_date)) else '{}' end`;

/**
 * A predicate on rows of `projects`: the caller is a member. What an administrator may do without being one does not count.
 * @param level the least access level
 */
export const isMemberOfProject = (caller: MaybeCaller, level: number): RawBuilder<SqlBool> =>
  !caller
    ? sql`false`
    : sql`exists (select from project_authorizations
                   where user_id = ${caller.id} and project_id = projects.id and access_level >= ${level}
                     and (expires_at is null or expires_at > current_date))`;

/** A predicate on rows of `projects`: the caller may know of it, as `mayRead` says for one project. */
export function isVisibleProject(caller: MaybeCaller): RawBuilder<SqlBool> {
  if (caller?.admin) return sql`true`;
  const isShown =
    !caller || caller.external ? sql<SqlBool>`projects.visibility = 'public'` : sql<SqlBool>`projects.visibility <> 'private'`;
  const isOpen = sql<SqlBool>`(${isShown} and not ${isListedProject('marked_for_deletion')})`;
  return caller ? sql`(${isOpen} or ${isMemberOfProject(caller, 1)})` : isOpen;
}

/** Whether text in the place of an id is one; any other text is a path. */
const isId = (text: string) => /^-?\d+$/.test(text);

interface Asked {
  caller: MaybeCaller;
  /** One of the two. */
  project_id: number | null;
  full_path: string | null;
}

/** Who asks, as far as it decides on the level. */
const standing = (caller: MaybeCaller) => (caller?.admin ? 'admin' : (caller?.id ?? 'anyone'));

const keyOf = ({ caller, project_id, full_path }: Asked) => `${standing(caller)} ${project_id ?? full_path}`;

const grantedProject = inBatches<Asked, Project>(keyOf, async (db, asked) => {
  const ids = asked.map(({ project_id }) => project_id);
  const paths = asked.map(({ full_path }) => full_path);
  const users = asked.map(({ caller }) => (caller && !caller.admin ? caller.id : null));
  const { rows } = await sql<{ question: number } & Project>`
    select asked.question, ${columns}, state.archived, state.marked_for_deletion,
           state.archived or state.marked_for_deletion or ${isBeingCopied} or ${changesAreBlocked} as read_only,
           held.access_level, ${permissionsOfRoles(sql`held.roles`)} as permissions
      from unnest(${ofAnyLength(ids, 'bigint[]')}, ${ofAnyLength(paths, 'citext[]')}, ${ofAnyLength(users, 'bigint[]')}) with ordinality asked(project_id, full_path, user_id, question),
           lateral (select id from projects where id = asked.project_id union all select id from projects where full_path = asked.full_path) named
           join projects on projects.id = named.id, ${stateOfProject},
           lateral (select ${heldTogether} from project_authorizations
                     where user_id = asked.user_id and project_id = projects.id and (expires_at is null or expires_at > current_date)) held`.execute(
    db,
  );
  return new Map(
    rows.map(({ question, ...project }) => {
      const one = asked[question - 1]!;
      return [keyOf(one), one.caller?.admin ? { ...project, access_level: levels.owner } : project];
    }),
  );
});

/**
 * The project that `id` names, with the caller's level in it.
 * @param id an id or a full path, compared without case
 */
export async function projectFor(db: Kysely<DB>, caller: MaybeCaller, id: string): Promise<Project | undefined> {
  if (isId(id)) {
    const project_id = Number(id);
    return Number.isSafeInteger(project_id) ? grantedProject(db, { caller, project_id, full_path: null }) : undefined;
  }
  // PostgreSQL knows no text with NUL.
  return id.includes('/') && !id.includes('\0') ? grantedProject(db, { caller, project_id: null, full_path: id }) : undefined;
}

/** Whether the caller may know of a project. */
export function mayRead(
  caller: MaybeCaller,
  project: Pick<Project, 'visibility' | 'access_level' | 'marked_for_deletion'>,
): boolean {
  if (project.access_level > 0) return true;
  if (project.marked_for_deletion) return false;
  if (project.visibility === 'public') return true;
  return project.visibility === 'internal' && caller !== undefined && !caller.external;
}

/** Whether a feature of the project is there for the caller: switched off for all, kept for members, or open. */
export function mayUse(project: Project, feature: Feature, memberLevel: number = levels.guest): boolean {
  const setting = project[`${feature}_access_level`];
  return setting === 'enabled' || (setting === 'private' && project.access_level >= memberLevel);
}

/**
 * The project that stood at a path before it got another one, if the caller may know of it.
 * @param path a full path that no project has now
 */
export async function movedProject(db: Kysely<DB>, caller: MaybeCaller, path: string): Promise<Project | undefined> {
  const id = await movedFrom(db, 'project', path);
  const project = id === undefined ? undefined : await projectFor(db, caller, String(id));
  return project && mayRead(caller, project) ? project : undefined;
}

/**
 * The project that `id` names, if the caller may know of it; for projects that a parameter names.
 * @throws ApiError 404
 */
export async function visibleProject(db: Kysely<DB>, caller: MaybeCaller, id: string): Promise<Project> {
  const project = await projectFor(db, caller, id);
  if (!project || !mayRead(caller, project)) throw notFound('Project');
  return project;
}

/** The project in `:id`, or where it has moved to, if the caller may know of it. */
async function projectInPath({ db, caller, params }: AccessCall): Promise<Project> {
  const id = params.id!;
  const project = await projectFor(db, caller, id);
  if (project && mayRead(caller, project)) return project;
  const moved = project ? undefined : await movedProject(db, caller, id);
  throw moved ? new Moved('project', moved.id) : notFound('Project');
}

const changes = (method: string) => method !== 'GET' && method !== 'HEAD';

/** Grants the project in `:id` to everyone who may know of it, signed in or not. */
export const projectVisible: Access<{ caller: MaybeCaller; project: Project }> = {
  rule: 'project:visible',
  async check(call) {
    if (!call.caller && changes(call.method)) throw unauthorized();
    return { caller: call.caller, project: await projectInPath(call) };
  },
};

/** Grants administrators the project in `:id`. Others learn nothing of it, not even whether it is there. */
export const projectForAdmin: Access<{ caller: Caller; project: Project }> = {
  rule: 'project:admin',
  async check(call) {
    const { caller } = await admin.check(call);
    return { caller, project: await projectInPath(call) };
  },
};

interface ProjectRoleOptions extends RoleOptions {
  /** A feature that must be there for the caller. */
  feature?: Feature;
  /** Whether the call also works on a project that is read-only, for instance because it is archived. */
  archived?: true;
}

/**
 * Grants the project in `:id` to members who hold at least `role`, or the permission that stands in for it; `guest` admits everyone signed in who may know of
 * the project. Hidden projects answer 404, visible ones 403.
 */
export const projectRole = (
  role: Role,
  { feature, archived, permission }: ProjectRoleOptions = {},
): Access<{ caller: Caller; project: Project }> => ({
  rule: ruleOf(`project:${role}`, permission),
  async check(call) {
    const { caller } = call;
    if (!caller) throw unauthorized();
    const project = await projectInPath(call);
    if (!mayAct(project, role, permission)) throw forbidden();
    if (feature && !mayUse(project, feature)) throw forbidden();
    if (project.read_only && !archived && changes(call.method)) throw forbidden();
    return { caller, project };
  },
});

/** Whether the caller may have a copy of the code: everyone where it is open, otherwise members from Reporter on (conventions.md section 14). */
export function mayDownloadCode(project: Project): boolean {
  if (project.access_level >= levels.reporter) return project.repository_access_level !== 'disabled';
  return project.repository_access_level === 'enabled' && project.visibility !== 'private';
}

/** Whether the caller may read the code, if only file by file. */
export const mayReadCode = (project: Project): boolean =>
  mayDownloadCode(project) || (project.repository_access_level !== 'disabled' && holds(project, 'read_code', 'project'));

const codeRule = (rule: string, admits: (project: Project) => boolean): Access<{ caller: MaybeCaller; project: Project }> => ({
  rule,
  async check(call) {
    const project = await projectInPath(call);
    if (project.repository_access_level === 'disabled') throw notFound('Repository');
    if (!admits(project)) throw forbidden();
    return { caller: call.caller, project };
  },
});

/** Grants the project in `:id` to those who may read its code. Without a repository feature there is no repository to find. */
export const codeReader = codeRule('project:read_code', mayReadCode);
/** The same for those who may have a copy of it all. */
export const codeDownloader = codeRule('project:download_code', mayDownloadCode);

/** Grants the project in `:id` to those who may push to it; which branches is decided where refs move. */
export const codeWriter: Access<{ caller: Caller; project: Project }> = {
  rule: 'project:push_code',
  async check(call) {
    const granted = await projectRole('developer').check(call);
    if (granted.project.repository_access_level === 'disabled') throw forbidden();
    return granted;
  },
};
