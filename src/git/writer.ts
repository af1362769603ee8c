/** Creates commit and tag objects without a work tree. `updateRefs` points branches and tags to them. */
import { nextTurn } from '../foundation/loop_turns.ts';
import { git } from './command.ts';
import { formatPerson, keepCommit, readCommit } from './commits.ts';
import { fullId } from './ids.ts';
import { ObjectWriter } from './loose_objects.ts';
import { pathProblem } from './paths.ts';
import { isValidTagName } from './ref_names.ts';
import { Tree } from './tree.ts';
import { ChangeRefused, TreeEditor } from './tree_editor.ts';
import { treeWith } from './trees.ts';
import type { Change, NewTag, ObjectFormat, Person, Repository } from './types.ts';
import { keepPaths } from './walking.ts';

export interface NewCommit {
  /** Id of the parent, null for the first commit of a history. */
  parent: string | null;
  /** Bytes are those of another commit (`originalTexts`). */
  message: string | Buffer;
  author: Person | Buffer;
  committer: Person;
  /** Applied in order, so that a later one may build on an earlier one. */
  changes: readonly Change[];
  /** The object format of the repository, if the caller knows it. Without it and a parent, git is queried. */
  object_format?: ObjectFormat;
}

export interface WrittenCommit {
  id: string;
  tree_id: string;
  /** False when the commit has the same files as its parent (or none, without a parent). */
  is_changed: boolean;
}

/** Hashing this many small files takes some milliseconds. */
const changes_per_turn = 100;

/**
 * Writes a commit with its trees and blobs; no ref points to it yet.
 * Throws `ChangeRefused` when a change conflicts with the files of the parent.
 */
export async function writeCommit(repository: Repository, commit: NewCommit): Promise<WrittenCommit> {
  const objects = new ObjectWriter(repository, commit.object_format ?? (await objectFormat(repository, commit.parent)));
  const parent_tree = commit.parent === null ? undefined : (await readCommit(repository, commit.parent)).tree_id;
  const editor = new TreeEditor(repository, parent_tree ? await treeWith(repository, parent_tree) : Tree.empty);
  try {
    for (const [index, change] of commit.changes.entries()) {
      // Cached objects are awaited without a turn of the event loop.
      if (index % changes_per_turn === changes_per_turn - 1) await nextTurn();
      await make(objects, editor, change);
    }
  } catch (error) {
    // Pending writes finish first, so that nothing is written after the caller has received the refusal.
    await objects.finish().catch(() => {});
    throw error;
  }
  const tree_id = await editor.write(objects);
  const content = formatCommit(commit, tree_id, commit.parent === null ? [] : [commit.parent]);
  const id = await objects.add('commit', content);
  await objects.finish();
  await editor.keep();
  keepCommit(repository, id, content);
  if (commit.parent !== null)
    keepPaths(repository, id, { parent: fullId(commit.parent), paths: commit.changes.flatMap(pathsOf) });
  const is_changed = parent_tree ? tree_id !== parent_tree : commit.changes.length > 0;
  return { id, tree_id, is_changed };
}

/** Writes a commit of an existing tree and returns its id; no ref points to it yet. */
export async function writeTreeCommit(
  repository: Repository,
  commit: Omit<NewCommit, 'parent' | 'changes'> & { tree_id: string; parent_ids: readonly string[] },
): Promise<string> {
  const objects = new ObjectWriter(repository, await objectFormat(repository, fullId(commit.tree_id)));
  const id = await objects.add('commit', formatCommit(commit, commit.tree_id, commit.parent_ids));
  await objects.finish();
  return id;
}

/** Writes a tag object for a commit and returns its id; no ref points to it yet. */
export async function writeTag(repository: Repository, { name, commit_id, message, tagger }: NewTag): Promise<string> {
  const objects = new ObjectWriter(repository, await objectFormat(repository, fullId(commit_id)));
  if (!isValidTagName(name)) throw new TypeError(`not a name of a tag: ${name}`);
  const lines = [
    `object ${commit_id}`,
    'type commit',
    `tag ${name}`,
    `tagger ${inUtc(tagger)}`,
    '',
    `${message.replaceAll('\0', '').trimEnd()}\n`,
  ];
  const id = await objects.add('tag', Buffer.from(lines.join('\n')));
  await objects.finish();
  return id;
}

async function objectFormat(repository: Repository, parent: string | null): Promise<ObjectFormat> {
  if (parent !== null) return parent.length === 64 ? 'sha256' : 'sha1';
  const format = (await git(repository, 'rev-parse', ['--show-object-format'])).toString('utf8').trim();
  return format === 'sha256' ? 'sha256' : 'sha1';
}

async function make(objects: ObjectWriter, editor: TreeEditor, change: Change): Promise<void> {
  if (pathProblem(change.path) !== undefined) throw new ChangeRefused(change.path, 'invalid_path');
  switch (change.op) {
    case 'put':
      return editor.put(change.path, { mode: change.mode, id: await objects.add('blob', change.content) }, true);
    case 'delete':
      return editor.remove(change.path);
    case 'mode': {
      const { id, mode } = await editor.file(change.path);
      if (!mode.startsWith('100')) throw new ChangeRefused(change.path, 'not_a_file');
      return editor.put(change.path, { mode: change.mode, id }, true);
    }
    case 'submodule':
      return editor.repoint(change.path, change.commit_id);
    case 'move': {
      const { id, mode } = await editor.file(change.from);
      await editor.remove(change.from);
      return editor.put(
        change.path,
        { mode, id: change.content ? await objects.add('blob', change.content) : id },
        false,
      );
    }
  }
}

const pathsOf = (change: Change): string[] => (change.op === 'move' ? [change.from, change.path] : [change.path]);

function formatCommit(
  { message, author, committer }: Pick<NewCommit, 'message' | 'author' | 'committer'>,
  tree_id: string,
  parent_ids: readonly string[],
): Buffer {
  const text = Buffer.from(message);
  return Buffer.concat([
    Buffer.from(`tree ${tree_id}\n${parent_ids.map((parent) => `parent ${fullId(parent)}\n`).join('')}author `),
    Buffer.isBuffer(author) ? author : Buffer.from(inUtc(author)),
    Buffer.from(`\ncommitter ${inUtc(committer)}\n\n`),
    text.includes(0) ? text.filter((byte) => byte !== 0) : text, // git's own tools would cut the message there
  ]);
}

/** The server has no time zone of its own. */
const inUtc = ({ date, ...person }: Person): string =>
  formatPerson(person, `${Math.floor(date.getTime() / 1000)} +0000`);
