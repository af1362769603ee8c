/** Rules of names and settings of projects (docs/reference/projects.md#parameters). */
import { type Static, type TObject, Type } from 'typebox';
import { levels } from '../../../access/index.ts';
import { editOf, givenColumns, pick } from '../../../fields/index.ts';
import { type Caller, deprecated, optional } from '../../../http/index.ts';
import { attributeForm } from '../../people/custom_attributes/index.ts';
import { pathReasons, projectDescriptionReasons, projectNameReasons } from '../../people/namespaces/index.ts';
import { mergeFields, projectFields, Topics } from './fields.ts';

const oldNames = {
  tag_list: optional(deprecated('use `topics`', Topics())),
  issues_enabled: optional(deprecated('use `issues_access_level`', Type.Boolean())),
  merge_requests_enabled: optional(deprecated('use `merge_requests_access_level`', Type.Boolean())),
  snippets_enabled: optional(deprecated('use `snippets_access_level`', Type.Boolean())),
  wiki_enabled: optional(deprecated('use `wiki_access_level`', Type.Boolean())),
  jobs_enabled: optional(deprecated('use `builds_access_level`', Type.Boolean())),
  emails_disabled: optional(deprecated('use `emails_enabled`', Type.Boolean())),
};

/** The parameters of merge settings. */
export const mergeSettings = editOf(mergeFields);
export type MergeSettings = Static<TObject<typeof mergeSettings>>;

const columns = editOf(projectFields);
type Columns = Static<TObject<typeof columns>>;

/** Parameters of creation and updates. */
export const settings = { ...columns, ...oldNames, ...mergeSettings };

/** The columns of the given settings; an empty template is stored as null. */
export const columnsOfMergeSettings = (given: MergeSettings): MergeSettings =>
  Object.fromEntries(
    Object.entries(pick(given, givenColumns(mergeFields))).map(([name, value]) => [name, value === '' ? null : value]),
  );

/**
 * Converts parameters to columns. Omitted parameters do not change; a deprecated name applies if the new one is
 * omitted.
 * @param options.is_admin whether limits of the server change, too
 */
export function columnsOfSettings(
  given: Columns & Static<TObject<typeof oldNames>> & MergeSettings,
  { is_admin }: { is_admin: boolean },
): Columns & MergeSettings {
  const level = (isEnabled: boolean | undefined) =>
    isEnabled === undefined ? undefined : isEnabled ? 'enabled' : 'disabled';
  const topics = given.topics ?? given.tag_list;
  const said: Columns = {
    issues_access_level: level(given.issues_enabled),
    merge_requests_access_level: level(given.merge_requests_enabled),
    snippets_access_level: level(given.snippets_enabled),
    wiki_access_level: level(given.wiki_enabled),
    builds_access_level: level(given.jobs_enabled),
    emails_enabled: given.emails_disabled === undefined ? undefined : !given.emails_disabled,
    ...given,
    topics: topics && [...new Set(topics)].toSorted(),
    ...(is_admin ? {} : { max_artifacts_size: undefined }),
  };
  return { ...pick(said, givenColumns(projectFields)), ...columnsOfMergeSettings(given) };
}

/** Parameters that select the representation in a list. */
export const form = {
  simple: Type.Boolean({ default: false, description: 'Whether to return only the basic fields' }),
  statistics: Type.Boolean({
    default: false,
    description: 'Whether to include `statistics`; Reporters and above',
  }),
  ...attributeForm,
};
export type FormAsked = Static<TObject<typeof form>>;

/** Parameters of creation only. */
export const beginnings = {
  default_branch: optional(Type.String()),
  initialize_with_readme: Type.Boolean({ default: false }),
  repository_object_format: Type.Enum(['sha1', 'sha256'], { default: 'sha1' }),
  repository_storage: optional(
    Type.String({ description: 'Name of the git storage; administrators only, ignored for others' }),
  ),
};

/** A path from a name: `My Project, 2nd` becomes `my-project-2nd`. Empty when no character of the name is allowed in a path. */
export const pathFrom = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replaceAll(/^-|-$/g, '');

interface Named {
  name?: string | undefined;
  path?: string | undefined;
  description?: string | null | undefined;
}

/** Reasons against names, by parameter. A path is reported under both names that clients look for. */
export function namingProblems({ name, path, description }: Named): Record<string, string[]> {
  const ofPath = path === undefined ? [] : pathReasons(path, false);
  const problems = {
    name: name === undefined ? [] : projectNameReasons(name),
    'project_namespace.path': ofPath,
    path: ofPath,
    description: projectDescriptionReasons(description ?? ''),
  };
  return Object.fromEntries(Object.entries(problems).filter(([, reasons]) => reasons.length > 0));
}

/** The settings that decide whether a user may create projects in a namespace. */
export interface CreationRules {
  owner_id: number | null;
  project_creation_level: string;
  /** The creator's access level: 50 for administrators. */
  access_level: number;
  archived: boolean;
  marked_for_deletion: boolean;
}

const creationLevels: Record<string, number> = {
  owner: levels.owner,
  maintainer: levels.maintainer,
  developer: levels.developer,
};

/** Whether a creator may create projects in a namespace. The level `noone` also excludes administrators. */
export function mayCreateIn(creator: Pick<Caller, 'id' | 'admin'>, namespace: CreationRules): boolean {
  if (namespace.archived || namespace.marked_for_deletion) return false;
  if (namespace.owner_id !== null) return creator.admin || namespace.owner_id === creator.id;
  if (namespace.project_creation_level === 'administrator') return creator.admin;
  return namespace.access_level >= (creationLevels[namespace.project_creation_level] ?? Number.POSITIVE_INFINITY);
}

/**
 * The reason why a user cannot have more personal projects, undefined if they can.
 * @param limit the user's limit
 * @param count the number of their personal projects
 */
export function limitReached(limit: number, count: number): string | undefined {
  if (count < limit) return undefined;
  if (limit <= 0) return 'You cannot create projects in your personal namespace. Contact your administrator.';
  return `You've reached your limit of ${limit} projects created. Contact your administrator.`;
}
