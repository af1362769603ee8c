/** Resolves the name of a commit in a request. Only names and ids are accepted, no revision expressions. */
import { keptCommit } from './commits.ts';
import { objectHeader } from './readers.ts';
import { isValidRefName } from './ref_names.ts';
import { readRef } from './ref_store.ts';
import type { Repository, TagRef } from './types.ts';

const full_id = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i;
/** git itself takes no fewer than four digits. */
const abbreviated_id = /^[0-9a-f]{4,64}$/i;

/**
 * The id of the commit that `ref` refers to: a full id, a tag or a branch (`prefer` says which when both exist), `refs/heads/…`,
 * `refs/tags/…`, `HEAD`, or an abbreviated id that no other commit shares, in this order. Undefined when there is no such commit.
 */
export async function resolveCommit(
  repository: Repository,
  ref: string,
  { prefer = 'branch' }: { prefer?: 'tag' | 'branch' } = {},
): Promise<string | undefined> {
  if (full_id.test(ref)) {
    const named = ref.toLowerCase();
    const id = keptCommit(repository, named) ? named : await commitNamed(repository, named);
    if (id) return id;
  }
  if (ref === 'HEAD') return commitOf(repository, 'HEAD');
  if (!isValidRefName(ref)) return undefined;
  if (/^refs\/(?:heads|tags)\//.test(ref)) return commitOf(repository, ref);
  const kinds = prefer === 'tag' ? ['tags', 'heads'] : ['heads', 'tags'];
  for (const kind of kinds) {
    const id = await commitOf(repository, `refs/${kind}/${ref}`);
    if (id) return id;
  }
  return abbreviated_id.test(ref) ? abbreviated(repository, ref.toLowerCase()) : undefined;
}

/** The id of the commit at the tip of a branch, undefined when there is no such branch. */
export const resolveBranch = async (repository: Repository, name: string): Promise<string | undefined> =>
  isValidRefName(name) ? commitOf(repository, `refs/heads/${name}`) : undefined;

/** A tag by its name, undefined when there is none. */
export async function resolveTag(repository: Repository, name: string): Promise<TagRef | undefined> {
  if (!isValidRefName(name)) return undefined;
  const ref = `refs/tags/${name}`;
  if (described.test(ref) && (await readRef(repository, ref)) === undefined) return undefined;
  const header = await objectHeader(repository, ref);
  return header && { name, id: header.id };
}

/** The output of `git describe`. When no ref has this name, git reads its end as an abbreviated id. */
const described = /-g[0-9a-f]{4,}$/i;

/** Peels tags. A branch almost always points to a cached commit, so git is not called. */
async function commitOf(repository: Repository, ref: string): Promise<string | undefined> {
  const id = await readRef(repository, ref);
  if (id === undefined) return undefined;
  return keptCommit(repository, id) ? id : commitNamed(repository, id);
}

/** @param name an id, complete or not, that git peels to a commit */
async function commitNamed(repository: Repository, name: string): Promise<string | undefined> {
  const header = await objectHeader(repository, `${name}^{commit}`);
  return header?.type === 'commit' ? header.id : undefined;
}

/** git would also resolve this name as a ref, for example in `refs/remotes`, which is not what an id means. */
async function abbreviated(repository: Repository, digits: string): Promise<string | undefined> {
  const id = await commitNamed(repository, digits);
  return id && (id.startsWith(digits) || (await isTagObject(repository, digits))) ? id : undefined;
}

async function isTagObject(repository: Repository, digits: string): Promise<boolean> {
  const header = await objectHeader(repository, digits);
  return header?.type === 'tag' && header.id.startsWith(digits);
}
