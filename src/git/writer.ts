/** Making commits without a work tree: objects only. Whoever wants a branch to have the commit moves it with `updateRefs`. */
import { git } from './command.ts';
import { readCommit } from './commits.ts';
import { ObjectWriter } from './loose_objects.ts';
import { pathProblem } from './paths.ts';
import { ChangeRefused, TreeEditor } from './tree_editor.ts';
import { rawTree } from './trees.ts';
import type { Change, ObjectFormat, Person, Repository } from './types.ts';

export interface NewCommit {
  /** Id of the parent, null for the first commit of a history. */
  parent: string | null;
  message: string;
  author: Person;
  committer: Person;
  /** Made one after the other, so that a later one may build on an earlier one. */
  changes: readonly Change[];
}

export interface WrittenCommit {
  id: string;
  tree_id: string;
  /** False when the commit has the same files as its parent (or none, without a parent). */
  is_changed: boolean;
}

/**
 * Writes a commit with its trees and blobs, which nothing refers to yet.
 * Throws `ChangeRefused` when a change does not fit the parent's files; nothing harmful is left behind then.
 */
export async function writeCommit(repository: Repository, commit: NewCommit): Promise<WrittenCommit> {
  const objects = new ObjectWriter(repository, await objectFormat(repository, commit.parent));
  const parent_tree = commit.parent === null ? undefined : (await readCommit(repository, commit.parent)).tree_id;
  const editor = new TreeEditor(repository, parent_tree ? await rawTree(repository, parent_tree) : new Map());
  for (const change of commit.changes) await make(objects, editor, change);
  const tree_id = await editor.write(objects);
  const id = await objects.add('commit', formatCommit(commit, tree_id));
  await objects.finish();
  const is_changed = parent_tree ? tree_id !== parent_tree : commit.changes.length > 0;
  return { id, tree_id, is_changed };
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
    case 'move': {
      const { id, mode } = await editor.file(change.from);
      await editor.remove(change.from);
      return editor.put(change.path, { mode, id: change.content ? await objects.add('blob', change.content) : id }, false);
    }
  }
}

function formatCommit({ parent, message, author, committer }: NewCommit, tree_id: string): Buffer {
  const lines = [
    `tree ${tree_id}`,
    ...(parent === null ? [] : [`parent ${parent}`]),
    `author ${formatPerson(author)}`,
    `committer ${formatPerson(committer)}`,
    '',
    message.replaceAll('\0', ''), // git's own tools would show the message only up to there.
  ];
  return Buffer.from(lines.join('\n'));
}

/** Angle brackets and line ends would end the name or the header; git drops them as well. */
function formatPerson({ name, email, date }: Person): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be in a header.
  const clean = (text: string) => text.replace(/\s*[\x00-\x1f<>]+\s*/g, ' ').trim();
  const address = clean(email);
  return `${clean(name) || address || 'unknown'} <${address}> ${Math.floor(date.getTime() / 1000)} +0000`;
}
