/** Branches of a repository (docs/reference/repository.md). */
import { type Static, Type } from 'typebox';
import { codeReader, codeWriter, type MaybeCaller, type Project, projectRole } from '../../../../access/index.ts';
import { InvalidExpression, MatchingTimeout, matchEach } from '../../../../expressions/index.ts';
import {
  type Branch as GitBranch,
  isAncestor,
  isValidBranchName,
  listBranches,
  type Repository,
  reachableFrom,
  readCommit,
  repositoryOf,
  resolveBranch,
} from '../../../../git/index.ts';
import {
  accepted,
  badParams,
  badRequest,
  checkUnmodified,
  del,
  found,
  get,
  head,
  mutuallyExclusive,
  NotBlank,
  nothing,
  one,
  optional,
  type Page,
  pageOf,
  post,
  put,
  type Services,
} from '../../../../http/index.ts';
import { gitPaging, pageOfArray } from '../../../../lists/index.ts';
import { protectByRole, unprotectIfProtected } from '../../protected_branches/actions.ts';
import { protectionFor } from '../../protected_branches/queries.ts';
import type { BranchProtection } from '../../protected_branches/rules.ts';
import { branchRefusalText } from '../../security_policies/branch_checks.ts';
import { defaultHead } from '../git.ts';
import { Branch, presentCommit, treePage } from '../present.ts';
import { branchTexts, movedText } from '../push_checks/refusal_rules.ts';
import { matchesSearch } from '../rules.ts';
import { createBranch, deleteBranch, deleteMergedBranches } from './actions.ts';

type ShownBranch = Static<typeof Branch>;

async function present(
  url: string,
  project: Project,
  repository: Repository,
  branch: GitBranch,
  merged: boolean,
  { is_protected, developers_can_push, developers_can_merge, may_push }: BranchProtection,
): Promise<ShownBranch> {
  return {
    name: branch.name,
    commit: presentCommit(url, project, await readCommit(repository, branch.commit_id)),
    merged,
    protected: is_protected,
    // Both are false for an unprotected branch, although developers may push and merge there.
    developers_can_push,
    developers_can_merge,
    can_push: may_push && !project.read_only,
    default: branch.name === project.default_branch,
    web_url: url + treePage(project.full_path, branch.name),
  };
}

/** A branch at the head of the default branch does not count as merged: it may just have been created. */
async function isMerged(repository: Repository, project: Project, commit_id: string): Promise<boolean> {
  const into = await defaultHead(repository, project);
  return into !== undefined && into !== commit_id && (await isAncestor(repository, commit_id, into));
}

/** The caller and the requested project. */
interface Viewer {
  project: Project;
  caller: MaybeCaller;
}

async function presentOne(
  { url, db }: Services,
  { project, caller }: Viewer,
  repository: Repository,
  branch: GitBranch,
) {
  const [protection, merged] = await Promise.all([
    protectionFor(db, project, caller),
    isMerged(repository, project, branch.commit_id),
  ]);
  return present(url, project, repository, branch, merged, protection(branch.name));
}

async function presentPage(
  services: Services,
  { project, caller }: Viewer,
  page: Page<GitBranch>,
): Promise<Page<ShownBranch>> {
  const repository = repositoryOf(services, project);
  const [protection, into] = await Promise.all([
    protectionFor(services.db, project, caller),
    defaultHead(repository, project),
  ]);
  const heads = page.items.map(({ commit_id }) => commit_id);
  const merged = into === undefined ? new Set() : await reachableFrom(repository, into, heads);
  const items = await Promise.all(
    page.items.map((branch) => {
      const isMergedIn = branch.commit_id !== into && merged.has(branch.commit_id);
      return present(services.url, project, repository, branch, isMergedIn, protection(branch.name));
    }),
  );
  return { ...page, items };
}

/** More than a thousand times what real names and expressions need. */
const maximumMatching_ms = 1_000;

/**
 * The branches whose names match a regular expression.
 * @throws ApiError 400 for an invalid expression, or on a timeout
 */
async function branchesMatching(branches: GitBranch[], regex: string): Promise<GitBranch[]> {
  try {
    const names = branches.map(({ name }) => name);
    const matches = await matchEach({ source: regex }, names, maximumMatching_ms);
    return branches.filter((_, index) => matches[index]);
  } catch (error) {
    if (error instanceof InvalidExpression) throw badParams('regex is invalid');
    if (error instanceof MatchingTimeout) throw badParams('regex takes too long to match');
    throw error;
  }
}

/** The branches after the last one of a keyset page. When sorted by name, that branch may have been deleted. */
function branchesAfter(branches: GitBranch[], page_token: string, isByName: boolean): GitBranch[] {
  const position = branches.findIndex(({ name }) => name === page_token);
  if (position >= 0) return branches.slice(position + 1);
  if (!isByName) throw badParams('page_token is invalid');
  return branches.filter(({ name }) => Buffer.compare(Buffer.from(name), Buffer.from(page_token)) > 0);
}

function keysetPage(branches: GitBranch[], per_page: number): Page<GitBranch> {
  const page = pageOfArray(branches, { page: 1, per_page });
  return { ...page, next: page.has_more ? { page_token: page.items.at(-1)!.name } : null };
}

async function branchNamed(repository: Repository, name: string): Promise<GitBranch> {
  if (!isValidBranchName(name)) throw badRequest('The branch refname is invalid');
  return { name, commit_id: found('Branch', await resolveBranch(repository, name)) };
}

const sorts = { name_asc: 'name', updated_asc: 'updated_asc', updated_desc: 'updated_desc' } as const;

export const branchRoutes = [
  get('/projects/:id/repository/branches', {
    operation: 'listBranches',
    summary: 'List the branches of a repository',
    access: codeReader,
    input: {
      search: optional(Type.String({ description: 'Part of the name; `^x` begins with x, `x$` ends with x' })),
      regex: optional(Type.String({ description: 'Regular expression (RE2)' })),
      sort: Type.Enum(['name_asc', 'updated_asc', 'updated_desc'], { default: 'name_asc' }),
      pagination: optional(Type.String({ description: '`keyset`' })),
      page_token: optional(Type.String({ description: 'Name of the last branch of the previous page' })),
      ...gitPaging,
    },
    rules: [mutuallyExclusive('search', 'regex')],
    returns: pageOf(Branch),
    handle: async ({ project, caller, input, ...services }) => {
      const { search, regex, sort, page_token } = input;
      const all = await listBranches(repositoryOf(services, project), { sort: sorts[sort] });
      const branches = regex
        ? await branchesMatching(all, regex)
        : all.filter(({ name }) => !search || matchesSearch(name, search));
      if (input.pagination !== 'keyset')
        return presentPage(services, { project, caller }, pageOfArray(branches, input));
      const rest = page_token ? branchesAfter(branches, page_token, sort === 'name_asc') : branches;
      return presentPage(services, { project, caller }, keysetPage(rest, input.per_page));
    },
  }),
  get('/projects/:id/repository/branches/:branch', {
    operation: 'getBranch',
    summary: 'Get a branch',
    access: codeReader,
    input: { branch: Type.String() },
    returns: one(Branch),
    refusals: { 400: 'The branch refname is invalid', 404: '404 Branch Not Found' },
    handle: async ({ project, caller, input, ...services }) => {
      const repository = repositoryOf(services, project);
      return presentOne(services, { project, caller }, repository, await branchNamed(repository, input.branch));
    },
  }),
  head('/projects/:id/repository/branches/:branch', {
    operation: 'checkBranch',
    summary: 'Check whether a branch exists',
    access: codeReader,
    input: { branch: Type.String() },
    returns: nothing,
    refusals: { 404: '404 Branch Not Found' },
    handle: async ({ project, input, ...services }) => {
      found('Branch', await resolveBranch(repositoryOf(services, project), input.branch));
    },
  }),
  post('/projects/:id/repository/branches', {
    operation: 'createBranch',
    summary: 'Create a branch',
    access: codeWriter,
    input: {
      branch: NotBlank({ description: 'Name of the new branch' }),
      ref: NotBlank({ description: 'Branch, tag or commit to create it from' }),
    },
    returns: one(Branch),
    refusals: {
      400: [
        'Branch already exists',
        'Branch name is invalid',
        "Failed to create branch '<name>': Branch name conflicts with existing branch hierarchy.",
        "Failed to create branch '<name>': invalid reference name '<ref>'",
        ...branchTexts,
        movedText,
      ],
    },
    handle: async ({ project, caller, input, ...services }) => {
      const commit_id = await createBranch(services, { project, caller, branch: input.branch, ref: input.ref });
      return presentOne(services, { project, caller }, repositoryOf(services, project), {
        name: input.branch,
        commit_id,
      });
    },
  }),
  del('/projects/:id/repository/branches/:branch', {
    operation: 'deleteBranch',
    summary: 'Delete a branch',
    access: codeWriter,
    input: { branch: Type.String() },
    conditional: true,
    returns: nothing,
    refusals: { 400: ['The branch refname is invalid', ...branchTexts], 404: '404 Branch Not Found', 409: movedText },
    handle: async ({ project, caller, input, unmodified_since, ...services }) => {
      const repository = repositoryOf(services, project);
      const commit_id = found('Branch', await resolveBranch(repository, input.branch));
      checkUnmodified((await readCommit(repository, commit_id)).authored_date, unmodified_since);
      await deleteBranch(services, { project, caller, branch: input.branch, commit_id });
    },
  }),
  del('/projects/:id/repository/merged_branches', {
    operation: 'deleteMergedBranches',
    summary: 'Delete merged branches',
    access: codeWriter,
    returns: accepted,
    handle: ({ project, caller, ...services }) => deleteMergedBranches(services, { project, caller }),
  }),
  put('/projects/:id/repository/branches/:branch/protect', {
    operation: 'protectBranch',
    summary: 'Protect a single branch',
    access: projectRole('maintainer'),
    deprecated: true,
    input: {
      branch: Type.String(),
      developers_can_push: optional(Type.Boolean()),
      developers_can_merge: optional(Type.Boolean()),
    },
    returns: one(Branch),
    refusals: { 404: '404 Branch Not Found' },
    handle: async ({ project, caller, input, ...services }) => {
      const repository = repositoryOf(services, project);
      const branch = await branchNamed(repository, input.branch);
      const { developers_can_push, developers_can_merge } = input;
      const change = { project, caller, name: branch.name, developers_can_push, developers_can_merge };
      await services.db.transaction().execute((tx) => protectByRole(tx, change));
      return presentOne(services, { project, caller }, repository, branch);
    },
  }),
  put('/projects/:id/repository/branches/:branch/unprotect', {
    operation: 'unprotectBranch',
    summary: 'Unprotect a single branch',
    access: projectRole('maintainer'),
    deprecated: true,
    input: { branch: Type.String() },
    returns: one(Branch),
    refusals: { 403: branchRefusalText, 404: '404 Branch Not Found' },
    handle: async ({ project, caller, input, ...services }) => {
      const repository = repositoryOf(services, project);
      const branch = await branchNamed(repository, input.branch);
      await services.db.transaction().execute((tx) => unprotectIfProtected(tx, { project, caller, name: branch.name }));
      return presentOne(services, { project, caller }, repository, branch);
    },
  }),
];
