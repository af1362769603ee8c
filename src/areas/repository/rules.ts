/** What a repository refuses, whoever asks: a push, or an endpoint that moves a branch or a tag (repository.md section 7). */
import { levels, type Project } from '../../access/index.ts';
import type { RefUpdate } from '../../git/index.ts';

/** A name that git could take for the id of a commit. */
const likeAnId = /^[0-9a-f]{40}/i;

export const idLikeName = 'You cannot create a branch with a 40-character hexadecimal branch name.';

function branchRefusals(project: Pick<Project, 'default_branch'>, name: string, update: RefUpdate): string[] {
  if (update.new === null && name === project.default_branch) return ['The default branch of a project cannot be deleted.'];
  if (update.old === null && likeAnId.test(name)) return [idLikeName];
  return [];
}

function tagRefusals(project: Pick<Project, 'access_level'>, update: RefUpdate): string[] {
  const isChange = update.old !== null && update.new !== null;
  return isChange && project.access_level < levels.maintainer
    ? ['You are not allowed to change existing tags on this project.']
    : [];
}

/**
 * Why references may not move so, each reason once; empty when they may.
 * @param project with the level of whoever moves them
 */
export function pushRefusals(
  project: Pick<Project, 'access_level' | 'default_branch' | 'archived'>,
  updates: readonly RefUpdate[],
): string[] {
  if (project.archived) return ["You can't push code to an archived project."];
  if (project.access_level < levels.developer) return ['You are not allowed to push code to this project.'];
  const refusals = updates.flatMap((update) => {
    const [, kind, name = ''] = /^refs\/(heads|tags)\/(.+)$/.exec(update.ref) ?? [];
    if (kind === 'heads') return branchRefusals(project, name, update);
    return kind === 'tags' ? tagRefusals(project, update) : [];
  });
  return [...new Set(refusals)];
}

/**
 * Whether a name is found by a search: anywhere, or at its start with `^`, at its end with `$`; without regard to case.
 */
export function matchesSearch(name: string, search: string): boolean {
  const text = name.toLowerCase();
  const [fromStart, toEnd] = [search.startsWith('^'), search.endsWith('$')];
  const wanted = search.slice(fromStart ? 1 : 0, toEnd ? -1 : undefined).toLowerCase();
  if (fromStart && toEnd) return text === wanted;
  if (fromStart) return text.startsWith(wanted);
  return toEnd ? text.endsWith(wanted) : text.includes(wanted);
}
