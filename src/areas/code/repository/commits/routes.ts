/** Commits of a repository (docs/reference/repository.md). */
import { Type } from 'typebox';
import { codeReader } from '../../../../access/index.ts';
import {
  commitStats,
  isValidTagName,
  listCommits,
  type Repository,
  repositoryOf,
  resolveCommit,
} from '../../../../git/index.ts';
import { badParams, found, get, one, optional, type Page, pageOf, Timestamp } from '../../../../http/index.ts';
import { gitPaging, pageAsked } from '../../../../lists/index.ts';
import { CommitDetail, ListedCommit, presentCommit } from '../present.ts';
import { trimmedPath } from '../rules.ts';
import { commitDetail } from './git.ts';

/** git counts skipped commits in 32 bits; no history is that long. */
const maximumHistory = 2 ** 31 - 1;

const filters = {
  ref_name: optional(Type.String({ description: 'Branch, tag or commit; the default branch if left out' })),
  since: optional(Timestamp),
  until: optional(Timestamp),
  path: optional(Type.String({ description: 'Only commits that touched this file or folder' })),
  author: optional(Type.String({ maxLength: 255, description: "Part of the author's name or address" })),
  all: Type.Boolean({ default: false, description: 'The commits of every branch and tag' }),
  with_stats: Type.Boolean({ default: false }),
  first_parent: Type.Boolean({ default: false }),
  order: Type.Enum(['default', 'topo'], { default: 'default' }),
  trailers: Type.Boolean({ default: false }),
};

/** @throws ApiError 400 for text that cannot be a ref */
function refuseRefName(ref_name: string): void {
  const name = ref_name.replace(/^refs\/(heads|tags)\//, '');
  if (!isValidTagName(name)) throw badParams('ref_name is invalid');
}

/** The start of a list; empty if the ref does not exist or the repository is empty. */
async function startOf(repository: Repository, ref_name: string): Promise<string[]> {
  const commit_id = await resolveCommit(repository, ref_name);
  return commit_id === undefined ? [] : [commit_id];
}

/** The path without surrounding slashes; undefined if it leaves the repository. */
function pathInside(path: string): string | undefined {
  const inside = trimmedPath(path);
  return inside.split('/').includes('..') ? undefined : inside;
}

const emptyPage = (page: number, per_page: number): Page<never> => ({ items: [], page, per_page, has_more: false });

export const commitRoutes = [
  get('/projects/:id/repository/commits', {
    operation: 'listCommits',
    summary: 'List commits, newest first',
    access: codeReader,
    input: { ...filters, ...gitPaging },
    returns: pageOf(ListedCommit),
    handle: async ({ project, input, ...services }) => {
      const { ref_name = project.default_branch, since, until, author, all, first_parent, order } = input;
      refuseRefName(ref_name);
      const { page, per_page, offset } = pageAsked(input);
      const repository = repositoryOf(services, project);
      const from = all ? [] : await startOf(repository, ref_name);
      const path = pathInside(input.path ?? '');
      if (offset > maximumHistory || path === undefined || (from.length === 0 && !all))
        return emptyPage(page, per_page);
      const commits = await listCommits(repository, {
        from,
        all,
        first_parent,
        order,
        skip: offset,
        limit: per_page + 1,
        ...(since === undefined ? {} : { since: new Date(since) }),
        ...(until === undefined ? {} : { until: new Date(until) }),
        ...(path ? { path } : {}),
        ...(author ? { author } : {}),
      });
      const shown = commits.slice(0, per_page);
      const ids = shown.map(({ id }) => id);
      const stats = input.with_stats ? await commitStats(repository, ids) : [];
      const items = shown.map((commit, index) => ({
        ...presentCommit(services.url, project, commit, { trailers: input.trailers }),
        ...(stats[index] ? { stats: stats[index] } : {}),
      }));
      return { items, page, per_page, has_more: commits.length > per_page };
    },
  }),
  get('/projects/:id/repository/commits/:sha', {
    operation: 'getCommit',
    summary: 'Get a commit',
    access: codeReader,
    input: {
      sha: Type.String({ description: 'Commit, branch or tag' }),
      stats: Type.Boolean({ default: true, description: 'Whether to count the changed lines' }),
    },
    returns: one(CommitDetail),
    refusals: { 404: '404 Commit Not Found' },
    handle: async ({ caller, project, input, ...services }) => {
      const id = found('Commit', await resolveCommit(repositoryOf(services, project), input.sha));
      return commitDetail(services, { caller, project }, id, { stats: input.stats });
    },
  }),
];
