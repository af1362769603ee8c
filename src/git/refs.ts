/** Branches and tags: listing them, and updating them by compare-and-swap. */
import { LRUCache } from 'lru-cache';
import { GitError, git } from './command.ts';
import { parseObject, parsePerson, readCommit } from './commits.ts';
import { fullId } from './ids.ts';
import { removeStaleLocks } from './locks.ts';
import { objectHeader, storedObject } from './readers.ts';
import { moveRefFile } from './ref_files.ts';
import { rememberedGit } from './remembered.ts';
import type { Branch, Environment, Option, RefUpdate, Repository, Tag, TagRef } from './types.ts';

/** A ref no longer has the value that the caller read; no ref was updated. */
export class RefMoved extends Error {
  override name = 'RefMoved';
  readonly refs: string[];

  constructor(refs: string[]) {
    super(`moved in the meantime: ${refs.join(', ')}`);
    this.refs = refs;
  }
}

/** A ref conflicts with another: `a` and `a/b` would be a file and a folder of the same name. No ref was updated. */
export class RefConflict extends Error {
  override name = 'RefConflict';
  readonly ref: string;
  readonly existing: string;

  constructor(ref: string, existing: string) {
    super(`${ref} cannot exist beside ${existing}`);
    this.ref = ref;
    this.existing = existing;
  }
}

/** Every branch with the id of its commit, sorted by name or by commit date. Sorting by date reads every commit. */
export async function listBranches(
  repository: Repository,
  { sort = 'name' }: { sort?: 'name' | 'updated_asc' | 'updated_desc' } = {},
): Promise<Branch[]> {
  const order: Option =
    sort === 'name' ? '--sort=refname' : sort === 'updated_asc' ? '--sort=committerdate' : '--sort=-committerdate';
  // git sorts by the last key first, so names only break ties.
  const refs = await refsBelow(repository, 'refs/heads/', ['--sort=refname', order]);
  return refs.map(({ name, id }) => ({ name, commit_id: id }));
}

/** Every tag, sorted by name, by version, or by the date of the tag (of its commit if it is lightweight). `readTag` reads the message of an annotated tag. */
export function listTags(
  repository: Repository,
  { sort = 'name', order = 'asc' }: { sort?: 'name' | 'updated' | 'version'; order?: 'asc' | 'desc' } = {},
): Promise<TagRef[]> {
  const key = { name: 'refname', updated: 'creatordate', version: 'version:refname' }[sort];
  return refsBelow(repository, 'refs/tags/', ['--sort=refname', `--sort=${order === 'desc' ? '-' : ''}${key}`]);
}

async function refsBelow(repository: Repository, prefix: string, options: readonly Option[]): Promise<TagRef[]> {
  const output = await git(repository, 'for-each-ref', ['--format=%(objectname) %(refname)', ...options], [prefix]);
  return linesOf(output).map((line) => {
    const space = line.indexOf(' ');
    return { id: line.slice(0, space), name: line.slice(space + 1 + prefix.length) };
  });
}

const linesOf = (output: Buffer): string[] => output.toString('utf8').split('\n').slice(0, -1);

/** The message of a tag and the commit that it points to. Throws when the repository has no object with the tag's id. */
export async function readTag(repository: Repository, { name, id }: TagRef): Promise<Tag> {
  const [object, commit] = await Promise.all([tagObject(repository, id), objectHeader(repository, `${id}^{commit}`)]);
  const commit_id = commit?.id ?? null;
  if (!object) return { name, id, commit_id, message: null, tagger_name: null, tagger_email: null, tagged_date: null };
  const { headers, message } = parseObject(object.content);
  const line = headers.get('tagger')?.[0];
  const tagger = line === undefined ? undefined : parsePerson(line);
  return {
    name,
    id,
    commit_id,
    message: message.replace(/\n+$/, ''),
    tagger_name: tagger?.name ?? null,
    tagger_email: tagger?.email ?? null,
    tagged_date: tagger?.date ?? null,
  };
}

/** A lightweight tag may point to a huge blob; its size shows that it is not a tag object, without reading it. */
async function tagObject(repository: Repository, id: string) {
  const header = await objectHeader(repository, id);
  if (!header) throw new Error(`${id} is not an object of ${repository.path}`);
  return header.type === 'tag' ? storedObject(repository, id) : undefined;
}

/** Whether the repository has no branch, as is the case before the first commit. */
export async function isEmpty(repository: Repository): Promise<boolean> {
  return (await git(repository, 'for-each-ref', ['--count=1', '--format=x'], ['refs/heads/'])).length === 0;
}

const ancestors = new LRUCache<string, boolean>({ max: 50_000 });

/** Whether one commit is reachable from another. Every commit is reachable from itself. Takes ids. */
export async function isAncestor(
  repository: Repository,
  ancestor: string,
  descendant: string,
  env?: Environment,
): Promise<boolean> {
  if (env) return askAncestor(repository, ancestor, descendant, env);
  const key = `${repository.path}\0${fullId(ancestor)}\0${fullId(descendant)}`;
  const known = ancestors.get(key);
  if (known !== undefined) return known;
  // A commit is most often compared with its parent. One that cannot be read is left to git, which says why.
  const commit = await readCommit(repository, descendant).catch(() => undefined);
  const is_ancestor = commit?.parent_ids.includes(ancestor) || (await askAncestor(repository, ancestor, descendant));
  ancestors.set(key, is_ancestor);
  return is_ancestor;
}

async function askAncestor(repository: Repository, ancestor: string, descendant: string, env?: Environment): Promise<boolean> {
  try {
    await git(repository, 'merge-base', ['--is-ancestor'], [ancestor, descendant], [], { env });
    return true;
  } catch (error) {
    if (error instanceof GitError && error.exit_code === 1) return false;
    throw error;
  }
}

/**
 * The merge base of two commits, undefined when they have none. For more than two, the merge base of the first one and a hypothetical merge of the others. Takes
 * ids.
 */
export async function mergeBase(
  repository: Repository,
  commits: readonly string[],
  env?: Environment,
): Promise<string | undefined> {
  try {
    return (await rememberedGit(repository, 'merge-base', [], commits.map(fullId), [], { env })).toString('utf8').trim();
  } catch (error) {
    if (error instanceof GitError && error.exit_code === 1) return undefined;
    throw error;
  }
}

/** The names of the branches that are merged into the commit `into`. */
export async function mergedBranches(repository: Repository, into: string): Promise<string[]> {
  const output = await git(repository, 'for-each-ref', ['--format=%(refname:lstrip=2)', `--merged=${into}`], ['refs/heads/']);
  return linesOf(output);
}

/** The full names of the refs of the given kinds that contain a commit; branches come first. Takes an id. */
export async function refsContaining(
  repository: Repository,
  commit: string,
  kinds: readonly ('heads' | 'tags')[] = ['heads', 'tags'],
): Promise<string[]> {
  const prefixes = kinds.map((kind) => `refs/${kind}/`);
  return linesOf(await git(repository, 'for-each-ref', ['--format=%(refname)', `--contains=${fullId(commit)}`], prefixes));
}

/**
 * Updates refs, all or none. Each must have the value `old` (null: must not exist); `new: null` deletes it.
 * Throws `RefMoved` when one has another value, `RefConflict` when one conflicts with the name of another ref, `GitError` for anything else.
 */
export async function updateRefs(repository: Repository, updates: readonly RefUpdate[]): Promise<void> {
  const [first, ...others] = updates;
  const { ref, old, new: target } = first!;
  if (others.length === 0 && old !== null && target !== null && (await moveRefFile(repository, ref, old, target))) return;
  const input = updates.map(instructionOf).join('');
  const update = () => git(repository, 'update-ref', ['--stdin', '-z'], [], [], { input });
  try {
    await update();
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    await explainRefusal(repository, updates);
    // Neither moved nor in conflict: another writer holds the lock for a long time, or died holding it.
    if ((await removeStaleLocks(repository)) === 0) throw error;
    await update();
  }
}

function instructionOf({ ref, old, new: target }: RefUpdate): string {
  if (!/^refs\/[^\0]+$/.test(ref)) throw new GitError('update-ref', 129, `not a ref: ${ref}`);
  if (target === null) return old === null ? `verify ${ref}\0\0` : `delete ${ref}\0${old}\0`;
  return old === null ? `create ${ref}\0${target}\0` : `update ${ref}\0${target}\0${old}\0`;
}

/** git explains a failure in words only, so the refs are read again. Throws when one of the expected reasons applies. */
async function explainRefusal(repository: Repository, updates: readonly RefUpdate[]): Promise<void> {
  const output = await git(repository, 'for-each-ref', ['--format=%(objectname) %(refname)']);
  const now = new Map(linesOf(output).map((line) => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))]));
  const moved = updates.filter(({ ref, old }) => (now.get(ref) ?? null) !== old).map(({ ref }) => ref);
  if (moved.length > 0) throw new RefMoved(moved);
  const wanted = updates.filter((update) => update.new !== null).map(({ ref }) => ref);
  for (const ref of wanted) {
    for (const existing of [...now.keys(), ...wanted]) {
      if (existing.startsWith(`${ref}/`) || ref.startsWith(`${existing}/`)) throw new RefConflict(ref, existing);
    }
  }
}
