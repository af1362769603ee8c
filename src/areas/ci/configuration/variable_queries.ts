/** The variables that a pipeline for a push has before there are jobs (docs/reference/ci_configuration.md#variables). */
import { levels, type MaybeCaller, type Project } from '../../../access/index.ts';
import { type Facts, type GivenSources, rawVariables, slugOf, variablesFor } from '../../../ci_configuration/index.ts';
import { installedBuild } from '../../../foundation/installation.ts';
import type { Commit, Tag } from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';
import { protectionFor } from '../../code/protected_branches/index.ts';
import { tagProtectionFor } from '../../code/protected_tags/index.ts';
import { freezeStateOf } from '../../deployments/freeze_periods/index.ts';
import { variablesOfJobs } from '../../deployments/variables/index.ts';
import { apiLevel } from '../../instance/metadata/index.ts';

/** What is built: a commit, and the branch or tag that it is built for. */
export interface Built {
  ref: Facts['ref'];
  /** Undefined for a project without commits. */
  commit: Commit | undefined;
  /** The message of an annotated tag. */
  tag_message?: Tag['message'];
  source: Facts['source'];
  /** The commit before a push; undefined for a new branch or tag, and for other sources. */
  before_sha?: string;
  /** Predefined variables about what starts the pipeline. */
  predefined?: Readonly<Record<string, string>>;
  /** The commit that changes of a merge request are compared with. */
  compared_with?: string;
  /** The rights, if they do not follow from the branch or tag alone. */
  rights?: Rights;
  /** The environment of a job; undefined before there are jobs. */
  environment?: string;
}

/** Whether what is for protected branches and tags is given, and whether the caller may run pipelines. */
export interface Rights {
  is_protected: boolean;
  may_run: boolean;
}

type Reading = Pick<Services, 'db' | 'secrets' | 'url' | 'ssh_url'>;

function serverVariables({ url, ssh_url }: Pick<Services, 'url' | 'ssh_url'>): Record<string, string | undefined> {
  const { hostname, host, port, protocol } = new URL(url);
  const [major = '', minor = '', patch = ''] = apiLevel.split(/[.-]/);
  const ssh = ssh_url?.startsWith('ssh:') ? new URL(ssh_url) : undefined;
  return {
    CI: 'true',
    GITLAB_CI: 'true',
    CI_SERVER: 'yes',
    CI_SERVER_NAME: 'Coppice',
    CI_SERVER_URL: url,
    CI_SERVER_HOST: hostname,
    CI_SERVER_PORT: port || (protocol === 'https:' ? '443' : '80'),
    CI_SERVER_PROTOCOL: protocol.slice(0, -1),
    CI_SERVER_FQDN: host,
    CI_SERVER_SHELL_SSH_HOST: ssh_url && hostname,
    CI_SERVER_SHELL_SSH_PORT: ssh_url && (ssh?.port ?? '22'),
    CI_SERVER_VERSION: apiLevel,
    CI_SERVER_VERSION_MAJOR: major,
    CI_SERVER_VERSION_MINOR: minor,
    CI_SERVER_VERSION_PATCH: patch,
    CI_SERVER_REVISION: installedBuild,
    CI_API_V4_URL: `${url}/api/v4`,
  };
}

async function projectVariables(db: Reading['db'], project: Project, url: string) {
  const row = await db
    .selectFrom('projects')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .select(['projects.description', 'projects.topics', 'projects.ci_config_path', 'namespaces.full_path'])
    .where('projects.id', '=', project.id)
    .executeTakeFirstOrThrow();
  return {
    CI_DEFAULT_BRANCH: project.default_branch,
    CI_CONFIG_PATH: row.ci_config_path || '.gitlab-ci.yml',
    CI_PROJECT_ID: String(project.id),
    CI_PROJECT_NAME: project.path,
    CI_PROJECT_TITLE: project.name,
    CI_PROJECT_PATH: project.full_path,
    CI_PROJECT_PATH_SLUG: slugOf(project.full_path),
    CI_PROJECT_NAMESPACE: row.full_path,
    CI_PROJECT_NAMESPACE_ID: String(project.namespace_id),
    CI_PROJECT_NAMESPACE_SLUG: slugOf(row.full_path),
    CI_PROJECT_ROOT_NAMESPACE: row.full_path.split('/')[0],
    CI_PROJECT_URL: `${url}/${project.full_path}`,
    CI_PROJECT_VISIBILITY: project.visibility,
    CI_PROJECT_DESCRIPTION: row.description ?? '',
    CI_PROJECT_TOPICS: row.topics.join(','),
  };
}

function commitVariables({ ref, commit, source, tag_message, before_sha }: Built, is_protected: boolean) {
  const isTag = ref.type === 'tag';
  return {
    CI_PIPELINE_SOURCE: source,
    CI_COMMIT_SHA: commit?.id,
    CI_COMMIT_SHORT_SHA: commit?.id.slice(0, 8),
    CI_COMMIT_BEFORE_SHA: before_sha ?? '0'.repeat(commit?.id.length ?? 40),
    CI_COMMIT_REF_NAME: ref.name,
    CI_COMMIT_REF_SLUG: slugOf(ref.name),
    CI_COMMIT_BRANCH: ref.type === 'branch' ? ref.name : undefined,
    CI_COMMIT_TAG: isTag ? ref.name : undefined,
    CI_COMMIT_TAG_MESSAGE: isTag ? (tag_message ?? '') : undefined,
    CI_COMMIT_REF_PROTECTED: String(is_protected),
    CI_COMMIT_TIMESTAMP: commit?.committed_date,
    CI_COMMIT_TITLE: commit?.title,
    CI_COMMIT_DESCRIPTION: commit?.message.slice(commit.message.indexOf('\n') + 1 || commit.message.length).trim(),
    CI_COMMIT_MESSAGE: commit?.message,
    CI_COMMIT_AUTHOR: commit && `${commit.author_name} <${commit.author_email}>`,
  };
}

/** Whether a branch or tag is protected, and whether the caller may run pipelines for it. */
export async function rightsOn(
  db: Reading['db'],
  project: Project,
  caller: MaybeCaller,
  ref: Facts['ref'],
): Promise<Rights> {
  const isDeveloper = project.access_level >= levels.developer;
  if (ref.type === 'tag') {
    const { is_protected, may_create } = (await tagProtectionFor(db, project))(ref.name);
    return { is_protected, may_run: isDeveloper && (!is_protected || may_create) };
  }
  const { is_protected, may_push, may_merge } = (await protectionFor(db, project, caller))(ref.name);
  return { is_protected, may_run: isDeveloper && (!is_protected || may_push || may_merge) };
}

/**
 * The same for a merge request: both branches must be protected and of the project, and the caller allowed to push to both.
 * @param between its branches; `is_within` if both are in the project
 */
export async function rightsBetween(
  db: Reading['db'],
  project: Project,
  caller: MaybeCaller,
  { source_branch, target_branch, is_within }: { source_branch: string; target_branch: string; is_within: boolean },
): Promise<Rights> {
  const protection = await protectionFor(db, project, caller);
  const [source, target] = [protection(source_branch), protection(target_branch)];
  const isOpen = !source.is_protected || source.may_push || source.may_merge;
  const areBoth = source.is_protected && target.is_protected && source.may_push && target.may_push;
  return { is_protected: is_within && areBoth, may_run: project.access_level >= levels.developer && isOpen };
}

/**
 * The variables of a pipeline that the caller would start. Whoever may not run one for the ref gets no protected values, and whoever may run none gets predefined ones
 * alone: what a configuration says of a value would tell it.
 */
export async function sourcesFor(
  services: Reading,
  { project, caller }: { project: Project; caller: MaybeCaller },
  built: Built,
): Promise<GivenSources> {
  const { db, url } = services;
  const [{ is_protected, may_run }, ofProject, freeze, owned] = await Promise.all([
    built.rights ?? rightsOn(db, project, caller, built.ref),
    projectVariables(db, project, url),
    freezeStateOf(db, project.id),
    project.access_level >= levels.developer ? variablesOfJobs(services, project.id) : undefined,
  ]);
  const predefined = rawVariables({
    ...serverVariables(services),
    ...ofProject,
    ...commitVariables(built, is_protected),
    ...built.predefined,
    CI_DEPLOY_FREEZE: freeze.frozen ? 'true' : undefined,
    GITLAB_USER_ID: caller && String(caller.id),
    GITLAB_USER_LOGIN: caller?.username,
    GITLAB_USER_NAME: caller?.name,
    GITLAB_USER_EMAIL: caller?.email,
  });
  if (!owned) return { predefined };
  const asked = { environment: built.environment, is_protected: is_protected && may_run };
  return {
    project: variablesFor(owned.project, asked),
    groups: owned.groups.flatMap((variables) => variablesFor(variables, asked)),
    instance: variablesFor(owned.instance, asked),
    predefined,
  };
}
