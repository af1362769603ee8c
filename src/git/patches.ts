/** Changes inside files, as hunks of a unified diff. */
import { LRUCache } from 'lru-cache';
import { emptyTree } from './changes.ts';
import { gitStream } from './command.ts';
import { fullId } from './ids.ts';
import type { ChangedFile, Environment, Option, Patch, Repository } from './types.ts';

export interface PatchLimits {
  /** The maximum length of one patch. */
  patch_bytes: number;
  /** The maximum length of all patches together; the rest is left out. */
  total_bytes: number;
}

/** Keeps the list of arguments within what the system allows for a process. */
const files_per_run = 100;
/** git is stopped at a patch that is longer than this and restarted after it, which limits memory. */
const run_bytes = 4 * 1024 * 1024;

const options: readonly Option[] = ['--no-color', '--no-ext-diff', '--no-textconv', '--unified=3'];
const left_out: Patch = { hunks: '', state: 'left_out' };
const too_large: Patch = { hunks: '', state: 'too_large' };

/**
 * The patches of files that differ between two commits or trees, in the order of `files`, which come from `changedFiles` for the same two.
 * Throws `GitError` when an id is neither commit nor tree.
 */
export async function patchesOf(
  repository: Repository,
  { from, to, env }: { from: string | null; to: string; env?: Environment | undefined },
  files: readonly ChangedFile[],
  limits: PatchLimits,
): Promise<Patch[]> {
  const names = files.map((file) => `${file.status} ${nameOf(file)}`);
  const key = [repository.path, from, to, limits.patch_bytes, limits.total_bytes, ...names].join('\0');
  const known = env ? undefined : known_patches.get(key);
  if (known) return known;
  const patches = await comparedBy(new PatchRun(repository, limits, env), { from, to }, files);
  const size = patches.reduce((sum, { hunks }) => sum + hunks.length, key.length);
  if (!env && size <= maximumKept) known_patches.set(key, patches, { size: 200 + size * 2 });
  return patches;
}

/** Cached by their inputs, including the ids of objects. Patches with the objects of another repository or of a push are not cached. */
const known_patches = new LRUCache<string, Patch[]>({ maxSize: 32 * 1024 * 1024 });
const maximumKept = 256 * 1024;

async function comparedBy(
  work: PatchRun,
  { from, to }: { from: string | null; to: string },
  files: readonly ChangedFile[],
) {
  const in_place = files.filter(({ status }) => status !== 'renamed');
  const patches = await work.ofPaths([from === null ? emptyTree(to) : fullId(from), fullId(to)], in_place);
  const found: Patch[] = [];
  for (const file of files)
    found.push(file.status === 'renamed' ? await work.ofPair(file) : (patches.get(nameOf(file)) ?? left_out));
  return found;
}

/** Files whose names differ only in bytes that are not UTF-8 have one path, so that their contents tell them apart. */
const nameOf = ({ old_id, id, path }: Pick<ChangedFile, 'old_id' | 'id' | 'path'>): string => `${old_id} ${id} ${path}`;

class PatchRun {
  readonly #repository: Repository;
  readonly #patch_bytes: number;
  readonly #env: Environment | undefined;
  #budget_bytes: number;

  constructor(repository: Repository, limits: PatchLimits, env: Environment | undefined) {
    this.#repository = repository;
    this.#env = env;
    this.#patch_bytes = limits.patch_bytes;
    this.#budget_bytes = limits.total_bytes;
  }

  /** The patches of files whose path is the same on both sides, by `nameOf`. */
  async ofPaths(sides: string[], files: readonly ChangedFile[]): Promise<Map<string, Patch>> {
    const patches = new Map<string, Patch>();
    let rest = [...files];
    while (rest.length > 0 && this.#budget_bytes > 0) {
      const batch = rest.slice(0, files_per_run);
      const found = await this.#batch(sides, batch);
      for (const [name, patch] of found) patches.set(name, patch);
      const missing = batch.filter((file) => !found.has(nameOf(file)));
      // Not even the first patch fitted, for instance because a file was replaced by a folder with a long list.
      if (missing.length === batch.length) patches.set(nameOf(missing.shift()!), too_large);
      rest = [...missing, ...rest.slice(batch.length)];
    }
    return patches;
  }

  /** The first patches of a batch, at least one. */
  async #batch(sides: string[], files: readonly ChangedFile[]): Promise<Map<string, Patch>> {
    const paths = files.map(({ path }) => pathspecOf(path));
    const formats = ['-r', '-z', '--raw', '--patch', '--no-abbrev', '--no-renames', ...options] as const;
    const { content, is_whole } = await this.#read('diff-tree', formats, sides, paths);
    const { types, patch_start } = readList(content);
    const sections = sectionsOf(content.subarray(patch_start));
    const found = new Map<string, Patch>();
    const wanted = new Map(files.map((file) => [nameOf(file), file]));
    for (const [name, is_split] of types) {
      const own = sections.splice(0, is_split ? 2 : 1);
      const is_cut = !is_whole && sections.length === 0;
      if (own.length === 0) break;
      const length = own.reduce((sum, section) => sum + section.length, 0);
      if (is_cut && length <= this.#patch_bytes) break;
      const file = wanted.get(name);
      if (file) found.set(name, is_cut ? too_large : this.#patchOf(own, file.path, file.path));
      if (is_cut) break;
    }
    if (is_whole)
      for (const name of wanted.keys()) if (!found.has(name)) found.set(name, { hunks: '', state: 'whole' });
    return found;
  }

  /** The patch of a renamed file. It compares the blobs, because git might detect another rename among fewer files. */
  async ofPair({ old_id, id, old_path, path }: ChangedFile): Promise<Patch> {
    if (old_id === id) return { hunks: '', state: 'whole' };
    if (this.#budget_bytes <= 0) return left_out;
    const { content, is_whole } = await this.#read('diff', options, [fullId(old_id), fullId(id)], []);
    return is_whole ? this.#patchOf([content], old_path, path) : too_large;
  }

  #patchOf(sections: readonly Buffer[], old_path: string, path: string): Patch {
    const hunks = sections.map(hunksOf);
    if (hunks.includes(undefined))
      return { hunks: `Binary files a/${old_path} and b/${path} differ\n`, state: 'binary' };
    const text = Buffer.concat(hunks.filter((bytes) => bytes !== undefined));
    return text.length > this.#patch_bytes ? too_large : { hunks: text.toString('utf8'), state: 'whole' };
  }

  /** The output of git, which is stopped at a limit. */
  async #read(command: string, formats: readonly Option[], operands: string[], paths: readonly string[]) {
    const limit = Math.min(run_bytes + this.#patch_bytes, this.#budget_bytes);
    const chunks: Buffer[] = [];
    let size = 0;
    const run = { env: { ...this.#env, ...byPathspecs } };
    for await (const chunk of gitStream(this.#repository, command, formats, operands, paths, {
      reader: 'server',
      ...run,
    })) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > limit) break; // Leaving the loop destroys the stream, which stops git.
    }
    this.#budget_bytes -= size;
    return { content: Buffer.concat(chunks, size), is_whole: size <= limit };
  }
}

/** The files of a `--raw -z` list in order, as `nameOf` names them, and the offset of the patches after it. A change of type has two patches. */
function readList(content: Buffer): { types: [name: string, is_split: boolean][]; patch_start: number } {
  const types: [string, boolean][] = [];
  let at = 0;
  while (content[at] === 0x3a) {
    const status_end = content.indexOf(0, at);
    const path_end = content.indexOf(0, status_end + 1);
    if (status_end < 0 || path_end < 0) return { types, patch_start: content.length };
    const [, , old_id = '', id = '', status] = content.toString('latin1', at, status_end).split(' ');
    types.push([nameOf({ old_id, id, path: content.toString('utf8', status_end + 1, path_end) }), status === 'T']);
    at = path_end + 1;
  }
  return { types, patch_start: at + 1 };
}

/** The patches of consecutive files. No line inside a patch begins like the first line of the next. */
function sectionsOf(content: Buffer): Buffer[] {
  const sections: Buffer[] = [];
  for (let at = 0; at < content.length; ) {
    const next = content.indexOf('\ndiff --git ', at);
    const end = next < 0 ? content.length : next + 1;
    sections.push(content.subarray(at, end));
    at = end;
  }
  return sections;
}

/** A patch without its header; empty if only the mode changed, undefined if the content is binary. */
function hunksOf(section: Buffer): Buffer | undefined {
  const start = section.indexOf('\n@@ ');
  if (start >= 0) return section.subarray(start + 1);
  return section.includes('\nBinary files ') ? undefined : Buffer.alloc(0);
}

/** The environment in which git accepts the output of `pathspecOf`. Without it, git takes paths literally. */
const byPathspecs: Environment = { GIT_LITERAL_PATHSPECS: '0' };

/**
 * The pathspec of a path.
 * @param path the text of its bytes, with U+FFFD in the place of those that are not UTF-8: then git may find others that differ only there
 */
function pathspecOf(path: string): string {
  if (!path.includes('\ufffd')) return `:(literal)${path}`;
  // Each replacement character stands for up to three bytes, none of which is ASCII.
  const pattern = path
    .replace(/[\\*?[]/g, '\\$&')
    .replace(/\ufffd+/g, (odd) => `${'[!\x01-\x7f]'.repeat(odd.length)}*`);
  return `:(glob)${pattern}`;
}
