/** Folders of a repository (docs/reference/repository.md). */
import { type Static, Type } from 'typebox';
import { codeReader } from '../../../../access/index.ts';
import {
  entryAt,
  type ListedEntry,
  listTree,
  OutputTooLong,
  type Repository,
  repositoryOf,
  resolveCommit,
  type TreeListing,
} from '../../../../git/index.ts';
import {
  ApiError,
  badParams,
  badRequest,
  found,
  get,
  notFound,
  optional,
  type Page,
  pageOf,
  resource,
} from '../../../../http/index.ts';
import { gitPaging, mapPage, pageAsked } from '../../../../lists/index.ts';
import { trimmedPath } from '../rules.ts';

export const TreeObject = resource('TreeObject', {
  id: Type.String(),
  name: Type.String(),
  type: Type.Enum(['tree', 'blob', 'commit'], { description: '`commit` is a submodule' }),
  path: Type.String(),
  mode: Type.String({ description: 'Six digits' }),
});

function present(folder: string, { id, name, type, path, mode }: ListedEntry): Static<typeof TreeObject> {
  return { id, name, type: type === 'symlink' ? 'blob' : type, path: folder === '' ? path : `${folder}/${path}`, mode };
}

function offsetPage(listing: TreeListing, input: { page: number; per_page: number }): Page<ListedEntry> {
  const { page, per_page, offset } = pageAsked(input);
  const items = listing.entries(offset, offset + per_page);
  return { items, page, per_page, total: listing.length, has_more: listing.length > offset + per_page };
}

function keysetPage(listing: TreeListing, input: { per_page: number; page_token?: string }): Page<ListedEntry> {
  const { per_page } = pageAsked({ page: 1, per_page: input.per_page });
  const start = input.page_token ? listing.positionAfter(input.page_token) : 0;
  if (start === undefined) throw badParams('page_token is invalid');
  const items = listing.entries(start, start + per_page);
  const has_more = listing.length > start + per_page;
  return {
    items,
    page: 1,
    per_page,
    has_more,
    next: has_more ? { page_token: listing.cursorOf(start + per_page - 1) } : null,
  };
}

const wholeList = (listing: TreeListing): Page<ListedEntry> => ({
  items: listing.entries(0, listing.length),
  page: 1,
  per_page: listing.length,
  has_more: false,
  next: null,
});

/** @throws ApiError 413 for a listing of millions of entries */
async function listingOf(repository: Repository, tree_id: string, is_recursive: boolean): Promise<TreeListing> {
  try {
    return await listTree(repository, tree_id, { is_recursive });
  } catch (error) {
    if (!(error instanceof OutputTooLong)) throw error;
    throw new ApiError(413, {
      message: '413 Request Entity Too Large - the folder holds too much to be listed with "recursive"',
    });
  }
}

export const treeRoutes = [
  get('/projects/:id/repository/tree', {
    operation: 'listRepositoryTree',
    summary: 'List a repository tree',
    access: codeReader,
    input: {
      ref: optional(Type.String({ description: 'Branch, tag or commit; the default branch if left out' })),
      path: optional(Type.String({ description: 'Folder; defaults to the root' })),
      recursive: Type.Boolean({ default: false, description: 'List all folders recursively' }),
      pagination: Type.Enum(['legacy', 'keyset', 'none'], { default: 'legacy' }),
      page_token: optional(
        Type.String({ description: 'Cursor of keyset pagination, from the link of the previous page' }),
      ),
      ...gitPaging,
    },
    returns: pageOf(TreeObject),
    refusals: {
      400: 'pagination cannot be "none" unless "recursive" is true',
      404: ['404 Tree Not Found', '404 invalid revision or path Not Found'],
    },
    handle: async ({ project, input, ...services }) => {
      const { recursive, pagination } = input;
      if (pagination === 'none' && !recursive)
        throw badRequest('pagination cannot be "none" unless "recursive" is true');
      const repository = repositoryOf(services, project);
      const commit_id = found('Tree', await resolveCommit(repository, input.ref || project.default_branch));
      const folder = trimmedPath(input.path ?? '');
      const entry = await entryAt(repository, commit_id, folder);
      if (entry?.type !== 'tree') throw notFound('invalid revision or path');
      const listing = await listingOf(repository, entry.id, recursive);
      const page =
        pagination === 'none'
          ? wholeList(listing)
          : pagination === 'keyset'
            ? keysetPage(listing, input)
            : offsetPage(listing, input);
      return mapPage(page, (item) => present(folder, item));
    },
  }),
];
