/** Requests for new projects: permissions and defaults (docs/reference/projects.md). */
import { sql } from 'kysely';
import {
  groupLevel,
  isGroup,
  isMemberOfGroup,
  lesserVisibility,
  levels,
  type VisibilityName,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { isValidBranchName } from '../../../git/index.ts';
import { type Caller, invalid, type Services } from '../../../http/index.ts';
import {
  defaultVisibility,
  restrictionReasons,
  type Settings,
  settingsOf,
} from '../../instance/application_settings/index.ts';
import { createProject, type NewProject, visibilityReasons } from './actions.ts';
import { type CreationRules, mayCreateIn, namingProblems, pathFrom } from './rules.ts';

/** The creator of a project, with the name and email address of the first commit. */
export type Creator = Pick<Caller, 'id' | 'admin' | 'name' | 'commit_email'>;

export interface ProjectRequest {
  name?: string | undefined;
  path?: string | undefined;
  /** The creator's own namespace by default. */
  namespace_id?: number | undefined;
  default_branch?: string | undefined;
  initialize_with_readme: boolean;
  repository_object_format: 'sha1' | 'sha256';
  /** Administrators only; ignored for others. */
  repository_storage?: string | undefined;
  columns: NonNullable<NewProject['columns']>;
  also: NewProject['also'];
}

/**
 * Creates a project as requested, if the creator may create it there.
 * @returns its ID
 * @throws ApiError 400 for a namespace where the creator may not create projects and for invalid values; and as `createProject`
 */
export async function addProject(services: Services, creator: Creator, request: ProjectRequest): Promise<number> {
  const namespace = await namespaceFor(services.db, creator, request.namespace_id);
  if (!namespace || !mayCreateIn(creator, namespace)) throw invalid({ namespace: ['is not valid'] });
  const { initialize_with_readme, repository_object_format } = request;
  const settings = await settingsOf(services.db);
  const columns = {
    ...request.columns,
    visibility: request.columns.visibility ?? usualVisibility(settings, creator, namespace),
  };
  const name = request.name || request.path || '';
  const path = request.path || pathFrom(name);
  const default_branch = request.default_branch || namespace.default_branch || settings.default_branch_name || 'main';
  const storage = creator.admin ? request.repository_storage : undefined;
  const restricted = await restrictionReasons(services.db, creator, request.columns.visibility);
  const visibility = [...restricted, ...visibilityReasons(columns.visibility, namespace)];
  const problems = {
    ...namingProblems({ name, path, description: columns.description }),
    ...(visibility.length > 0 ? { visibility_level: visibility } : {}),
    ...(isValidBranchName(default_branch) ? {} : { default_branch: ['is invalid'] }),
    ...(storage === undefined || Object.hasOwn(services.storages, storage)
      ? {}
      : { repository_storage: ['is not included in the list'] }),
  };
  if (Object.keys(problems).length > 0) throw invalid(problems);
  return createProject(services, {
    name,
    path,
    namespace,
    creator_id: creator.id,
    default_branch,
    object_format: repository_object_format,
    storage,
    columns,
    also: request.also,
    readme_by: initialize_with_readme ? { name: creator.name, email: creator.commit_email } : undefined,
  });
}

/** The default visibility: from the application settings, but at most that of the group. */
function usualVisibility(settings: Settings, creator: Creator, { kind, visibility }: TargetNamespace): VisibilityName {
  const usual = defaultVisibility(settings, 'project', creator);
  return kind === 'user' ? usual : lesserVisibility(usual, visibility);
}

type TargetNamespace = CreationRules & {
  id: number;
  kind: string;
  full_path: string;
  visibility: VisibilityName;
  default_branch: string | null;
};

/** Namespaces, with the columns that decide whether the creator may create a project there. */
const targets = (db: Database, creator: Pick<Creator, 'id' | 'admin'>) =>
  db
    .selectFrom('namespaces')
    .select(['id', 'kind', 'owner_id', 'full_path', 'visibility', 'project_creation_level', 'default_branch'])
    .select([groupLevel(creator).as('access_level'), isGroup('marked_for_deletion').as('marked_for_deletion')])
    .select(isGroup('archived').as('archived'))
    .$castTo<TargetNamespace>();

/**
 * The namespace for a new project, with the columns that decide whether the creator may create it.
 * @param namespace its ID or full path; if omitted, the creator's own
 */
export function namespaceFor(
  db: Database,
  creator: Pick<Creator, 'id' | 'admin'>,
  namespace: number | string | undefined,
): Promise<TargetNamespace | undefined> {
  return targets(db, creator)
    .where((q) => {
      if (namespace === undefined) return q('owner_id', '=', creator.id);
      return typeof namespace === 'number' ? q('id', '=', namespace) : q('full_path', '=', namespace);
    })
    .executeTakeFirst();
}

/** The maximum number of namespaces offered for choice. */
const maximumOffered = 500;

/** The namespaces in which a creator may create projects as a member: their own, and groups by their path. */
export async function namespacesFor(
  db: Database,
  creator: Pick<Caller, 'id' | 'admin' | 'external'>,
): Promise<{ id: number; full_path: string }[]> {
  const own = sql`select namespaces.id from namespaces where owner_id = ${creator.id}`;
  const joined = sql`select namespaces.id from namespaces where ${isMemberOfGroup(creator, levels.developer)}`;
  const known = await targets(db, creator)
    .where(sql<boolean>`namespaces.id in (${own} union all ${joined})`)
    .orderBy(sql`kind desc, full_path`)
    .limit(maximumOffered)
    .execute();
  return known.filter((namespace) => mayCreateIn(creator, namespace));
}
