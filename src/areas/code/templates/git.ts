/** Templates for issues and merge requests in the repositories of projects. */
import { mayReadCode, type Project } from '../../../access/index.ts';
import { entryAt, listTree, type Repository, readBlob, repositoryOf, resolveBranch } from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';

export const textKinds = ['issues', 'merge_requests'] as const;
export type TextKind = (typeof textKinds)[number];

const folders: Readonly<Record<TextKind, string>> = {
  issues: '.gitlab/issue_templates',
  merge_requests: '.gitlab/merge_request_templates',
};

const maximumTemplates = 1000;
const maximum_bytes = 1024 * 1024;

async function headOf(
  services: Services,
  project: Project,
): Promise<{ repository: Repository; head: string } | undefined> {
  if (!mayReadCode(project)) return undefined;
  const repository = repositoryOf(services, project);
  const head = await resolveBranch(repository, project.default_branch);
  return head === undefined ? undefined : { repository, head };
}

/** Names that can be part of a URL. */
const namePattern = /^[^./+\\]+$/;
const isName = (name: string): boolean => namePattern.test(name) && !/%2f/i.test(name);
const ending = '.md';

/** The names of the templates of a project, in git's order; none for callers who may not read its code. */
export async function namesIn(services: Services, project: Project, kind: TextKind): Promise<string[]> {
  const at = await headOf(services, project);
  if (!at) return [];
  const folder = await entryAt(at.repository, at.head, folders[kind]);
  if (folder?.type !== 'tree') return [];
  const listing = await listTree(at.repository, folder.id);
  return listing
    .entries(0, maximumTemplates)
    .filter(({ type, name }) => type === 'blob' && name.endsWith(ending))
    .map(({ name }) => name.slice(0, -ending.length))
    .filter(isName);
}

/** A template of a project; undefined if it does not exist or is too large. */
export async function textNamed(
  services: Services,
  project: Project,
  kind: TextKind,
  name: string,
): Promise<string | undefined> {
  if (!isName(name)) return undefined;
  const at = await headOf(services, project);
  if (!at) return undefined;
  const entry = await entryAt(at.repository, at.head, `${folders[kind]}/${name}${ending}`);
  if (entry?.type !== 'blob') return undefined;
  try {
    return (await readBlob(at.repository, entry.id, maximum_bytes)).toString();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
