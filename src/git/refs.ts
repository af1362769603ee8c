/** Branches and tags: listing them, and updating them by compare-and-swap. */
import { LRUCache } from 'lru-cache';
import { GitError, git } from './command.ts';
import { parseObject, parsePerson, readCommit } from './commits.ts';
import { fullId } from './ids.ts';
import { pastStaleLocks } from './locks.ts';
import { objectHeader, storedObject } from './readers.ts';
import { writeRefFile } from './ref_files.ts';
import { refsBelow } from './ref_store.ts';
import type { Branch, Option, RefUpdate, Repository, Tag, TagRef } from './types.ts';

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

/** The commits of this many refs fit into the cache; for more, git sorts. */
const maximumDated = 5_000;

/** Every branch with the id of its commit, sorted by name or by commit date. Sorting by date reads every commit. */
export async function listBranches(
  repository: Repository,
  { sort = 'name' }: { sort?: 'name' | 'updated_asc' | 'updated_desc' } = {},
): Promise<Branch[]> {
  const refs = await namesBelow(repository, 'refs/heads/');
  const order = sort === 'updated_desc' ? 'desc' : 'asc';
  const dateOf = async ({ id }: TagRef) => (await readCommit(repository, id)).committed_date;
  const sorted =
    sort === 'name'
      ? refs
      : refs.length > maximumDated
        ? await sortedBelow(repository, 'refs/heads/', { key: 'committerdate', order })
        : await byDate(refs, dateOf, order);
  return sorted.map(({ name, id }) => ({ name, commit_id: id }));
}

/** Every tag, sorted by name, by version, or by the date of the tag (of its commit if it is lightweight). `readTag` reads the message of an annotated tag. */
export async function listTags(
  repository: Repository,
  { sort = 'name', order = 'asc' }: { sort?: 'name' | 'updated' | 'version'; order?: 'asc' | 'desc' } = {},
): Promise<TagRef[]> {
  if (sort === 'version') return sortedBelow(repository, 'refs/tags/', { key: 'version:refname', order });
  const refs = await namesBelow(repository, 'refs/tags/');
  if (sort === 'name') return order === 'asc' ? refs : refs.toReversed();
  if (refs.length > maximumDated) return sortedBelow(repository, 'refs/tags/', { key: 'creatordate', order });
  return byDate(refs, (ref) => creationDate(repository, ref), order);
}

/** The refs below a folder by name. */
async function namesBelow(repository: Repository, prefix: string): Promise<TagRef[]> {
  return (await refsBelow(repository, prefix)).map(({ ref, id }) => ({ name: ref.slice(prefix.length), id }));
}

/** The refs below a folder by another key; names break ties. */
async function sortedBelow(
  repository: Repository,
  prefix: string,
  { key, order }: { key: string; order: 'asc' | 'desc' },
): Promise<TagRef[]> {
  const sorting: Option[] = ['--sort=refname', `--sort=${order === 'desc' ? '-' : ''}${key}`];
  const output = await git(repository, 'for-each-ref', ['--format=%(objectname) %(refname)', ...sorting], [prefix]);
  return linesOf(output).map((line) => {
    const space = line.indexOf(' ');
    return { id: line.slice(0, space), name: line.slice(space + 1 + prefix.length) };
  });
}

/** `refs` are sorted by name, which breaks ties. */
async function byDate(
  refs: readonly TagRef[],
  dateOf: (ref: TagRef) => Promise<string>,
  order: 'asc' | 'desc',
): Promise<TagRef[]> {
  const dated = await Promise.all(refs.map(async (ref) => ({ ref, seconds: Date.parse(await dateOf(ref)) })));
  return dated.sort((one, other) => (order === 'asc' ? 1 : -1) * (one.seconds - other.seconds)).map(({ ref }) => ref);
}

const no_date = new Date(0).toISOString();

/** Git's `creatordate`: when an annotated tag was created, or the date of the commit of a lightweight one. Other objects have none. */
async function creationDate(repository: Repository, ref: TagRef): Promise<string> {
  const { message, tagged_date, commit_id } = await readTag(repository, ref);
  if (message !== null) return tagged_date ?? no_date;
  return commit_id === null ? no_date : (await readCommit(repository, commit_id)).committed_date;
}

const linesOf = (output: Buffer): string[] => output.toString('utf8').split('\n').slice(0, -1);

const known_tags = new LRUCache<string, Omit<Tag, 'name'>>({
  maxSize: 16 * 1024 * 1024,
  sizeCalculation: ({ message }) => 500 + (message?.length ?? 0) * 2,
});

/** The message of a tag and the commit that it points to. Throws when the repository has no object with the tag's id. */
export async function readTag(repository: Repository, { name, id }: TagRef): Promise<Tag> {
  const key = `${repository.path}\0${fullId(id)}`;
  const known = known_tags.get(key);
  if (known) return { name, ...known };
  const tag = await tagWith(repository, id);
  // A commit that is missing now may still arrive.
  if (tag.commit_id !== null) known_tags.set(key, tag);
  return { name, ...tag };
}

async function tagWith(repository: Repository, id: string): Promise<Omit<Tag, 'name'>> {
  const [object, commit] = await Promise.all([tagObject(repository, id), objectHeader(repository, `${id}^{commit}`)]);
  const commit_id = commit?.id ?? null;
  if (!object) return { id, commit_id, message: null, tagger_name: null, tagger_email: null, tagged_date: null };
  const { headers, message } = parseObject(object.content);
  const line = headers.get('tagger')?.[0];
  const tagger = line === undefined ? undefined : parsePerson(line);
  return {
    id,
    commit_id,
    message: message.replace(/(?<!\n)\n+$/, ''),
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
  return (await refsBelow(repository, 'refs/heads/')).length === 0;
}

/** The full names of the refs of the given kinds that contain a commit; branches come first. Takes an id. */
export async function refsContaining(
  repository: Repository,
  commit: string,
  kinds: readonly ('heads' | 'tags')[] = ['heads', 'tags'],
): Promise<string[]> {
  const prefixes = kinds.map((kind) => `refs/${kind}/`);
  return linesOf(
    await git(repository, 'for-each-ref', ['--format=%(refname)', `--contains=${fullId(commit)}`], prefixes),
  );
}

/**
 * Updates refs, all or none. Each must have the value `old` (null: must not exist); `new: null` deletes it.
 * Throws `RefMoved` when one has another value, `RefConflict` when one conflicts with the name of another ref, `GitError` for anything else.
 */
export async function updateRefs(repository: Repository, updates: readonly RefUpdate[]): Promise<void> {
  const [first, ...others] = updates;
  const { ref, old, new: target } = first!;
  if (others.length === 0 && target !== null && (await writeRefFile(repository, { ref, old, target }))) return;
  const input = updates.map(instructionOf).join('');
  await pastStaleLocks(repository, async () => {
    try {
      await git(repository, 'update-ref', ['--stdin', '-z'], [], [], { input });
    } catch (error) {
      if (error instanceof GitError) await explainRefusal(repository, updates);
      // The ref neither moved nor conflicts: another writer holds the lock for a long time, or died holding it.
      throw error;
    }
  });
}

function instructionOf({ ref, old, new: target }: RefUpdate): string {
  if (!/^refs\/[^\0]+$/.test(ref)) throw new GitError('update-ref', 129, `not a ref: ${ref}`);
  if (target === null) return old === null ? `verify ${ref}\0\0` : `delete ${ref}\0${old}\0`;
  return old === null ? `create ${ref}\0${target}\0` : `update ${ref}\0${target}\0${old}\0`;
}

/** git explains a failure only in a message, so the refs are read again. Throws when one of the expected reasons applies. */
async function explainRefusal(repository: Repository, updates: readonly RefUpdate[]): Promise<void> {
  const now = new Map((await refsBelow(repository, 'refs/')).map(({ ref, id }) => [ref, id]));
  const moved = updates.filter(({ ref, old }) => (now.get(ref) ?? null) !== old).map(({ ref }) => ref);
  if (moved.length > 0) throw new RefMoved(moved);
  const wanted = updates.filter((update) => update.new !== null).map(({ ref }) => ref);
  for (const ref of wanted) {
    for (const existing of [...now.keys(), ...wanted]) {
      if (existing.startsWith(`${ref}/`) || ref.startsWith(`${existing}/`)) throw new RefConflict(ref, existing);
    }
  }
}
