/** Rules that grant a project: each loads it together with what the caller may do in it, in one statement. */
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { DB } from '../db/index.ts';
import type { Access, AccessCall, Caller } from '../http/endpoint.ts';
import { forbidden, notFound, unauthorized } from '../http/errors.ts';
import { admin } from './instance.ts';
import { levels, type Role } from './levels.ts';

export interface Project {
  id: number;
  name: string;
  path: string;
  full_path: string;
  namespace_id: number;
  visibility: 'private' | 'internal' | 'public';
  default_branch: string;
  empty_repo: boolean;
  archived: boolean;
  storage: string;
  issues_access_level: FeatureLevel;
  repository_access_level: FeatureLevel;
  merge_requests_access_level: FeatureLevel;
  forking_access_level: FeatureLevel;
  snippets_access_level: FeatureLevel;
  environments_access_level: FeatureLevel;
  /** The caller's level: 50 for administrators, 0 for who is no member. */
  access_level: number;
}

type FeatureLevel = 'disabled' | 'private' | 'enabled';
export type Feature = 'issues' | 'repository' | 'merge_requests' | 'forking' | 'snippets' | 'environments';

/** Who is granted a project without being signed in. */
export type MaybeCaller = Caller | undefined;

const columns = sql.raw(
  [
    'id name path full_path namespace_id visibility default_branch empty_repo archived storage',
    'issues_access_level repository_access_level merge_requests_access_level forking_access_level snippets_access_level environments_access_level',
  ]
    .join(' ')
    .split(' ')
    .map((column) => `projects.${column}`)
    .join(', '),
);

/** The caller's level in the project of each row of `projects`. */
export const projectLevel = (caller: MaybeCaller): RawBuilder<number> =>
  !caller
    ? sql`0`
    : caller.admin
      ? sql`50`
      : sql`coalesce((select max(access_level) from project_authorizations
                       where user_id = ${caller.id} and project_id = projects.id and (expires_at is null or expires_at > current_date)), 0)`;

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
  const isOpen =
    !caller || caller.external ? sql<SqlBool>`projects.visibility = 'public'` : sql<SqlBool>`projects.visibility <> 'private'`;
  return caller ? sql`(${isOpen} or ${isMemberOfProject(caller, 1)})` : isOpen;
}

/** Whether text in the place of an id is one; any other text is a path. */
const isId = (text: string) => /^-?\d+$/.test(text);

/**
 * The project that `id` names, with the caller's level in it.
 * @param id an id or a full path, compared without case
 */
export async function projectFor(db: Kysely<DB>, caller: MaybeCaller, id: string): Promise<Project | undefined> {
  if (isId(id) ? !Number.isSafeInteger(Number(id)) : !id.includes('/')) return undefined;
  const { rows } = await sql<Project>`
    select ${columns}, ${projectLevel(caller)} as access_level from projects
     where ${isId(id) ? sql`projects.id = ${Number(id)}` : sql`projects.full_path = ${id}`}`.execute(db);
  return rows[0];
}

/** Whether the caller may know of a project. */
export function mayRead(caller: MaybeCaller, project: Pick<Project, 'visibility' | 'access_level'>): boolean {
  if (project.access_level > 0 || project.visibility === 'public') return true;
  return project.visibility === 'internal' && caller !== undefined && !caller.external;
}

/** Whether a feature of the project is there for the caller: switched off for all, kept for members, or open. */
export function mayUse(project: Project, feature: Feature, memberLevel: number = levels.guest): boolean {
  const setting = project[`${feature}_access_level`];
  return setting === 'enabled' || (setting === 'private' && project.access_level >= memberLevel);
}

/** The project in `:id`, if the caller may know of it. */
async function visibleProject({ db, caller, params }: AccessCall): Promise<Project> {
  const project = await projectFor(db, caller, params.id!);
  if (!project || !mayRead(caller, project)) throw notFound('Project');
  return project;
}

const changes = (method: string) => method !== 'GET' && method !== 'HEAD';

/** Grants the project in `:id` to everyone who may know of it, signed in or not. */
export const projectVisible: Access<{ caller: MaybeCaller; project: Project }> = {
  rule: 'project:visible',
  async check(call) {
    if (!call.caller && changes(call.method)) throw unauthorized();
    return { caller: call.caller, project: await visibleProject(call) };
  },
};

/** Grants administrators the project in `:id`. Others learn nothing of it, not even whether it is there. */
export const projectForAdmin: Access<{ caller: Caller; project: Project }> = {
  rule: 'project:admin',
  async check(call) {
    const { caller } = await admin.check(call);
    return { caller, project: await visibleProject(call) };
  },
};

interface ProjectRoleOptions {
  /** A feature that must be there for the caller. */
  feature?: Feature;
  /** Whether the call also works on an archived project, whose content cannot be changed otherwise. */
  archived?: true;
}

/**
 * Grants the project in `:id` to members who hold at least `role`; `guest` admits everyone signed in who may know of the project. Hidden projects answer
 * 404, visible ones 403.
 */
export const projectRole = (
  role: Role,
  { feature, archived }: ProjectRoleOptions = {},
): Access<{ caller: Caller; project: Project }> => ({
  rule: `project:${role}`,
  async check(call) {
    const { caller } = call;
    if (!caller) throw unauthorized();
    const project = await visibleProject(call);
    if (project.access_level < levels[role] && role !== 'guest') throw forbidden();
    if (feature && !mayUse(project, feature)) throw forbidden();
    if (project.archived && !archived && changes(call.method)) throw forbidden();
    return { caller, project };
  },
});

/** Whether the caller may read the code: everyone where it is open, otherwise members from Reporter on (conventions.md section 14). */
export function mayReadCode(project: Project): boolean {
  if (project.access_level >= levels.reporter) return project.repository_access_level !== 'disabled';
  return project.repository_access_level === 'enabled' && project.visibility !== 'private';
}

/** Grants the project in `:id` to those who may read its code. Without a repository feature there is no repository to find. */
export const codeReader: Access<{ caller: MaybeCaller; project: Project }> = {
  rule: 'project:read_code',
  async check(call) {
    const project = await visibleProject(call);
    if (project.repository_access_level === 'disabled') throw notFound('Repository');
    if (!mayReadCode(project)) throw forbidden();
    return { caller: call.caller, project };
  },
};

/** Grants the project in `:id` to those who may push to it; which branches is decided where refs move. */
export const codeWriter: Access<{ caller: Caller; project: Project }> = {
  rule: 'project:push_code',
  async check(call) {
    const granted = await projectRole('developer').check(call);
    if (granted.project.repository_access_level === 'disabled') throw forbidden();
    return granted;
  },
};
