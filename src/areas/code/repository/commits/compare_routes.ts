/** Comparison of commits, and contributors (docs/reference/repository.md). */
import { Type } from 'typebox';
import { codeReader, type Project } from '../../../../access/index.ts';
import {
  alsoSeeing,
  changedFiles,
  contributorsTo,
  listCommits,
  mergeBase,
  type Repository,
  readCommit,
  repositoryOf,
  resolveCommit,
} from '../../../../git/index.ts';
import {
  ApiError,
  badRequest,
  found,
  get,
  NotBlank,
  notFound,
  nullable,
  one,
  optional,
  pageOf,
  resource,
} from '../../../../http/index.ts';
import { gitPaging, mapPage, pageOfArray } from '../../../../lists/index.ts';
import { comparedProjectFor } from '../owners/fork_network_queries.ts';
import { Commit, comparePage, presentCommit } from '../present.ts';
import { Diff, diffsOf } from './diff_present.ts';

export const Comparison = resource('Comparison', {
  commit: nullable(Commit),
  commits: Type.Array(Commit, { description: 'Oldest first' }),
  diffs: Type.Array(Diff),
  compare_timeout: Type.Boolean({ description: 'Whether commits, files or diffs are omitted' }),
  compare_same_ref: Type.Boolean(),
  web_url: Type.String(),
});
export const Contributor = resource('Contributor', {
  name: Type.String(),
  email: Type.String(),
  commits: Type.Integer(),
  additions: Type.Integer(),
  deletions: Type.Integer(),
});

const maximumCommits = 10_000;
const maximumFiles = 1_000;
const maximumRefs = 100;

async function commitsOf(repository: Repository, refs: readonly string[]): Promise<string[]> {
  const ids = await Promise.all(refs.map((ref) => resolveCommit(repository, ref)));
  const missing = refs.filter((_, index) => ids[index] === undefined);
  if (missing.length > 0) throw badRequest(`Could not find ref${missing.length > 1 ? 's' : ''}: ${missing.join(', ')}`);
  return ids.filter((id) => id !== undefined);
}

/** The commit that a history starts from; undefined for an empty repository if no ref was given. */
async function startOf(repository: Repository, project: Project, ref: string | undefined): Promise<string | undefined> {
  const id = await resolveCommit(repository, ref || project.default_branch);
  if (id === undefined && ref) throw new ApiError(404, { message: '404 Not Found' });
  return id;
}

const byText = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);

export const compareRoutes = [
  get('/projects/:id/repository/compare', {
    operation: 'compareCommits',
    summary: 'Compare branches, tags or commits',
    description:
      'At most 10 MiB of diffs, 1,000 files and 10,000 commits are returned; if there are more, `compare_timeout` is set. A single diff above 200 KiB is omitted (`too_large`).',
    access: codeReader,
    input: {
      from: NotBlank({ description: 'Branch, tag or commit' }),
      to: NotBlank({ description: 'Branch, tag or commit' }),
      from_project_id: optional(Type.Integer({ description: 'The project of `from`, in the same fork network' })),
      straight: Type.Boolean({ default: false, description: 'Compare with `from` itself instead of the merge base' }),
      unidiff: Type.Boolean({ default: false, description: 'Include file headers in diffs' }),
    },
    returns: one(Comparison),
    refusals: {
      400: 'Target project id:<id> is not a fork of project id:<id>',
      403: "403 Forbidden - You don't have access to this fork's parent project",
      404: '404 Ref Not Found',
    },
    handle: async ({ project, caller, input, ...services }) => {
      const { from_project_id = project.id } = input;
      const other =
        from_project_id === project.id
          ? project
          : await comparedProjectFor(services.db, caller, project, from_project_id);
      const [repository, source] = [repositoryOf(services, project), repositoryOf(services, other)];
      const [start, end] = await Promise.all([resolveCommit(source, input.from), resolveCommit(repository, input.to)]);
      const [from, to] = [found('Ref', start), found('Ref', end)];
      const env = other.id === project.id ? undefined : alsoSeeing(source);
      const base = input.straight ? from : ((await mergeBase(repository, [from, to], env)) ?? null);
      const range = { from: base, to, env };
      const [commits, files] = await Promise.all([
        listCommits(repository, { from: [to], not: [from], limit: maximumCommits + 1, env }),
        changedFiles(repository, { ...range, renames: true }),
      ]);
      const shown = commits
        .slice(0, maximumCommits)
        .reverse()
        .map((commit) => presentCommit(services.url, project, commit));
      const diffs = await diffsOf(repository, range, files.slice(0, maximumFiles), {
        unidiff: input.unidiff,
        isPage: false,
      });
      return {
        commit: shown.at(-1) ?? null,
        commits: shown,
        diffs,
        compare_timeout:
          commits.length > maximumCommits || files.length > maximumFiles || diffs.some(({ collapsed }) => collapsed),
        compare_same_ref: from === to,
        web_url: services.url + comparePage(project.full_path, `${from}${input.straight ? '..' : '...'}${to}`),
      };
    },
  }),
  get('/projects/:id/repository/contributors', {
    operation: 'listContributors',
    summary: 'List the contributors of a repository',
    access: codeReader,
    input: {
      ref: optional(Type.String({ description: 'Branch, tag or commit; the default branch if left out' })),
      order_by: Type.Enum(['name', 'email', 'commits'], { default: 'commits' }),
      sort: Type.Enum(['asc', 'desc'], { default: 'asc' }),
      ...gitPaging,
    },
    returns: pageOf(Contributor),
    handle: async ({ project, input, ...services }) => {
      const repository = repositoryOf(services, project);
      const start = await startOf(repository, project, input.ref);
      const { order_by, sort } = input;
      const authors = (start === undefined ? [] : await contributorsTo(repository, start)).toSorted((one, other) => {
        const order = order_by === 'commits' ? one.commits - other.commits : byText(one[order_by], other[order_by]);
        return sort === 'asc' ? order : -order;
      });
      const page = pageOfArray(authors, input);
      return mapPage(page, (author) => ({ ...author, additions: 0, deletions: 0 }));
    },
  }),
  get('/projects/:id/repository/merge_base', {
    operation: 'getMergeBase',
    summary: 'Get the merge base of refs',
    description: 'Takes 2 to 100 refs.',
    access: codeReader,
    input: { refs: Type.Array(Type.String(), { description: 'Two or more branches, tags or commits' }) },
    returns: one(Commit),
    refusals: {
      400: [
        'Provide at least 2 refs',
        'Provide at most <count> refs',
        'Could not find ref: <ref>',
        'Could not find refs: <refs>',
      ],
      404: '404 Merge Base Not Found',
    },
    handle: async ({ project, input, ...services }) => {
      if (input.refs.length < 2) throw badRequest('Provide at least 2 refs');
      if (input.refs.length > maximumRefs) throw badRequest(`Provide at most ${maximumRefs} refs`);
      const repository = repositoryOf(services, project);
      const commits = await commitsOf(repository, input.refs);
      const base = await mergeBase(repository, commits);
      if (base === undefined) throw notFound('Merge Base');
      return presentCommit(services.url, project, await readCommit(repository, base));
    },
  }),
];
