/** Resolving an address in a repository: the ref is the longest prefix that exists, and the rest is a path. */
import type { Static } from 'typebox';
import { notFound } from '../../../http/index.ts';
import { type PageCall, textIn } from '../../../pages/index.ts';
import { CommitDetail, RefNames } from '../../code/repository/index.ts';

/** A location in a repository. */
export interface RefPath {
  /** The project, as given in the address. */
  id: string;
  /** The name of a branch or tag, or the id of a commit. */
  ref: string;
  /** Empty for the root. */
  path: string;
  /** The commit that the ref points to. */
  commit: Static<typeof CommitDetail>;
}

/** The maximum number of parts in the name of a ref. */
const mostParts = 10;

/**
 * The location in `*ref_path` of the address.
 * @throws ApiError 404 if no prefix of it is a ref
 */
export async function refPathOf(call: PageCall, ref_path = call.params.ref_path!): Promise<RefPath> {
  const parts = ref_path.split('/');
  const commits = await Promise.all(
    parts
      .slice(0, mostParts)
      .map((_, index) =>
        call.perhaps(call.one(CommitDetail, 'getCommit', { sha: parts.slice(0, index + 1).join('/'), stats: false })),
      ),
  );
  const last = commits.findLastIndex((commit) => commit !== undefined);
  const commit = commits[last];
  if (!commit) throw notFound('Page');
  return {
    id: call.params.id!,
    ref: parts.slice(0, last + 1).join('/'),
    path: parts.slice(last + 1).join('/'),
    commit,
  };
}

/** The branches and tags among which a page switches, those that were searched for. */
export const refNames = ({ one, query }: PageCall): Promise<Static<typeof RefNames>> =>
  one(RefNames, 'listRefNames', { search: textIn(query, 'refs') ?? '' });
