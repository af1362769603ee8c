/** The values that fill the placeholders of badges. */
import { isVisibleProject, type MaybeCaller, mayReadCode, type Project, projectFor } from '../../../access/index.ts';
import { listTags, repositoryOf, resolveBranch } from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';
import type { BadgeOwner } from './queries.ts';
import { asksFor, type Placeholder } from './rules.ts';

type Values = Partial<Record<Placeholder, string>>;

/** The project whose values fill the badges of an owner; for a group, the first one that the caller can see. */
async function projectOf({ db }: Services, caller: MaybeCaller, owner: BadgeOwner): Promise<Project | undefined> {
  if (owner.kind === 'project') return owner.project;
  const first = db.selectFrom('projects').select('id').where('namespace_id', '=', owner.group.id);
  const row = await first.where(isVisibleProject(caller)).orderBy('id').limit(1).executeTakeFirst();
  return row && projectFor(db, caller, String(row.id));
}

async function kindOf({ db }: Services, namespace_id: number): Promise<{ full_path: string; kind: string }> {
  const namespace = db.selectFrom('namespaces').select(['full_path', 'kind']).where('id', '=', namespace_id);
  return namespace.executeTakeFirstOrThrow();
}

/**
 * The values for placeholders in addresses. git runs only for placeholders that occur, and only for callers who may
 * read code: others get empty texts.
 * @returns none for a group without a project
 */
export async function valuesFor(
  services: Services,
  { caller, owner, urls }: { caller: MaybeCaller; owner: BadgeOwner; urls: readonly string[] },
): Promise<Values> {
  if (!urls.some((url) => url.includes('%{'))) return {};
  const project = await projectOf(services, caller, owner);
  if (!project) return {};
  const { full_path, kind } = await kindOf(services, project.namespace_id);
  const repository = repositoryOf(services, project);
  const readsCode = mayReadCode(project);
  const isAsked = (name: Placeholder) => readsCode && urls.some((url) => asksFor(url, name));
  return {
    project_path: project.full_path,
    project_title: project.name,
    project_name: project.path,
    project_id: String(project.id),
    project_namespace: full_path,
    group_name: kind === 'group' ? full_path : '',
    gitlab_server: new URL(services.url).host,
    default_branch: readsCode ? project.default_branch : '',
    commit_sha: (isAsked('commit_sha') && (await resolveBranch(repository, project.default_branch))) || '',
    latest_tag:
      (isAsked('latest_tag') && (await listTags(repository, { sort: 'updated', order: 'desc' }))[0]?.name) || '',
  };
}
