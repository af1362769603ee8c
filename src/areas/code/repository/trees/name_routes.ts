/** Names in a repository, for pages that choose among them: branches and tags, and paths of files. */
import { Type } from 'typebox';
import { codeReader } from '../../../../access/index.ts';
import { nextTurn } from '../../../../foundation/loop_turns.ts';
import { listBranches, listTags, listTree, readCommit, repositoryOf, resolveCommit } from '../../../../git/index.ts';
import { found, get, one, resource } from '../../../../http/index.ts';
import { matchesSearch } from '../rules.ts';
import { PathMatches } from './path_rules.ts';

const Names = Type.Object({
  names: Type.Array(Type.String()),
  total: Type.Integer({ description: 'How many there are, shown or not, whatever the search' }),
  has_more: Type.Boolean({ description: 'Whether more match the search' }),
});
export const RefNames = resource('RefNames', { branches: Names, tags: Names });

export const FoundPaths = resource('FoundPaths', {
  paths: Type.Array(Type.String(), { description: 'Files whose path has all words of the search, the best first' }),
  has_more: Type.Boolean(),
});

const maximumRefs = 20;

function namesAmong(refs: readonly { name: string }[], search: string) {
  const matching = refs.filter(({ name }) => matchesSearch(name, search));
  return {
    names: matching.slice(0, maximumRefs).map(({ name }) => name),
    total: refs.length,
    has_more: matching.length > maximumRefs,
  };
}

const maximumPaths = 100;
/** Entries of a larger repository are not looked at. */
const maximumEntries = 300_000;
/** Some milliseconds of work. */
const entriesInTurn = 2_000;

const path = '/projects/:id/repository';
const Search = Type.String({ default: '', description: 'Part of the name' });

/** For pages only: clients of the API list branches, tags and files. */
export const repositoryNameRoutes = [
  get(`${path}/ref_names`, {
    operation: 'listRefNames',
    summary: 'List the names of branches, the default one first, and of tags',
    access: codeReader,
    input: { search: Search },
    returns: one(RefNames),
    handle: async ({ project, input: { search }, ...services }) => {
      const repository = repositoryOf(services, project);
      const [branches, tags] = await Promise.all([listBranches(repository), listTags(repository, { order: 'desc' })]);
      const isDefault = ({ name }: { name: string }) => name === project.default_branch;
      branches.sort((one, other) => Number(isDefault(other)) - Number(isDefault(one)));
      return { branches: namesAmong(branches, search), tags: namesAmong(tags, search) };
    },
  }),
  get(`${path}/found_paths`, {
    operation: 'findPaths',
    summary: 'Find files by their paths',
    access: codeReader,
    input: { ref: Type.String(), search: Search },
    returns: one(FoundPaths),
    refusals: { 404: '404 Commit Not Found' },
    handle: async ({ project, input: { ref, search }, ...services }) => {
      const repository = repositoryOf(services, project);
      const commit = found('Commit', await resolveCommit(repository, ref));
      const { tree_id } = await readCommit(repository, commit);
      const listing = await listTree(repository, tree_id, { is_recursive: true });
      const matches = new PathMatches(search, maximumPaths);
      const end = Math.min(listing.length, maximumEntries);
      for (let start = 0; start < end; start += entriesInTurn) {
        for (const { type, path } of listing.entries(start, Math.min(end, start + entriesInTurn)))
          if (type === 'blob' || type === 'symlink') matches.add(path);
        await nextTurn();
      }
      return { paths: matches.best(), has_more: matches.count > maximumPaths || end < listing.length };
    },
  }),
];
