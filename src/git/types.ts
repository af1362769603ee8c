/** The objects of git in the form that the rest of the product uses. */

/** A bare repository. Its path is absolute and never reused for another repository, because it is part of every cache key. */
export interface Repository {
  path: string;
}

/** An argument that git may read as an option. User values are never options: they follow an equals sign (`--since=…`) or are operands. */
export type Option = `-${string}`;

/** Additional environment variables of a git process, such as those of a push in quarantine. */
export type Environment = Readonly<Record<string, string>>;

export type ObjectFormat = 'sha1' | 'sha256';

export interface Person {
  name: string;
  email: string;
  date: Date;
}

/** The texts that a derived commit inherits: bytes, which need not be UTF-8. */
export interface OriginalTexts {
  /** The name, the address, and the time with its zone, as they are in a commit; mended if they are malformed. */
  author: Buffer;
  message: Buffer;
}

export interface Commit {
  id: string;
  parent_ids: string[];
  tree_id: string;
  /** The first line of the message, cut at a word when it is longer than 80 characters. */
  title: string;
  message: string;
  author_name: string;
  author_email: string;
  /** ISO 8601 in UTC with milliseconds. */
  authored_date: string;
  committer_name: string;
  committer_email: string;
  committed_date: string;
  /** The last value of each trailer. */
  trailers: Record<string, string>;
  /** Every value of each trailer, in the order of the message. */
  extended_trailers: Record<string, string[]>;
}

export interface CommitStats {
  additions: number;
  deletions: number;
  total: number;
}

export interface Branch {
  name: string;
  commit_id: string;
}

/** A tag as stored in the refs: `id` is a commit for a lightweight tag and a tag object for an annotated one. */
export interface TagRef {
  name: string;
  id: string;
}

export interface Tag extends TagRef {
  /** Null when the tag points to a tree or a blob. */
  commit_id: string | null;
  /** The message of an annotated tag, without trailing line feeds; null for a lightweight tag. */
  message: string | null;
  tagger_name: string | null;
  tagger_email: string | null;
  tagged_date: string | null;
}

export type EntryType = 'blob' | 'symlink' | 'tree' | 'commit';

export interface TreeEntry {
  /** Name in its directory; bytes that are not UTF-8 are replaced. */
  name: string;
  id: string;
  /** Six digits, `040000` for a directory. */
  mode: string;
  /** `commit` is a submodule. */
  type: EntryType;
}

/** An entry with its path below the folder that was listed. */
export interface ListedEntry extends TreeEntry {
  path: string;
}

export type ArchiveFormat = 'tar' | 'tar.gz' | 'tar.bz2' | 'zip';

export interface Contributor {
  name: string;
  email: string;
  commits: number;
}

export type Change =
  | { op: 'put'; path: string; mode: '100644' | '100755'; content: Buffer }
  | { op: 'delete'; path: string }
  | { op: 'move'; from: string; path: string; content?: Buffer }
  | { op: 'mode'; path: string; mode: '100644' | '100755' }
  | { op: 'submodule'; path: string; commit_id: string };

/** An update of a ref. `old: null`: the ref must not exist; `new: null`: it is deleted. */
export interface RefUpdate {
  ref: string;
  old: string | null;
  new: string | null;
}

export interface BlameGroup {
  commit: Commit;
  lines: string[];
}

/** One file that differs between two trees. */
export interface ChangedFile {
  status: 'added' | 'deleted' | 'modified' | 'renamed' | 'type_changed';
  old_path: string;
  path: string;
  old_mode: string;
  mode: string;
  old_id: string;
  id: string;
}

/** The changes inside a file. */
export interface Patch {
  /** The hunks without a header; a sentence for a binary file; empty when the patch is not kept. */
  hunks: string;
  /** `too_large` for a patch above the limit of one patch, `left_out` beyond the limit of all patches. */
  state: 'whole' | 'binary' | 'too_large' | 'left_out';
}

/** The tag object to write. */
export interface NewTag {
  name: string;
  commit_id: string;
  message: string;
  tagger: Person;
}

/** The updates that a push requests, before any is made. */
export interface Push {
  updates: RefUpdate[];
  /** The values of `git push -o`. */
  options: string[];
  /** Environment that shows git the objects of the push, which are not in the repository yet. */
  quarantine: Environment;
}

/** The commits that `tips` reach and others do not. */
export interface CommitRange {
  /** Ids of commits, or of tags, trees or blobs, since a push may give any to a tag. */
  tips: readonly string[];
  /** Ids of commits. Left out, all that branches and tags reach. */
  excluded?: readonly string[];
  /** The quarantine of a push, left out for commits that the repository has. */
  env?: Environment | undefined;
  /** Stops git when it fires. */
  signal?: AbortSignal | undefined;
}

/** The parts of a commit that rules check. Its author and committer are as stored. */
export interface PushedCommit {
  id: string;
  message: string;
  /** Whether the message, or the commit, is longer than the part that was read. */
  is_cut: boolean;
  author_name: string;
  author_email: string;
  committer_email: string;
  /** Whether it carries a signature, valid or not. */
  is_signed: boolean;
}

/** A file that a commit adds. */
export interface NewFile {
  commit_id: string;
  path: string;
}

/** A blob with one of its paths, empty when a tag points to it. */
export interface NewBlob {
  path: string;
  size_bytes: number;
}
