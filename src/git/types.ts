/** The things git keeps, as the rest of the product sees them. */

/** A bare repository. Its path is absolute and never used again for another repository: it is half of every cache key. */
export interface Repository {
  path: string;
}

/** An argument that git may read as an option. User values never are one; they are glued to it (`--since=…`) or passed as operands. */
export type Option = `-${string}`;

/** Environment of a git process, as a push in quarantine needs it. */
export type Environment = Readonly<Record<string, string>>;

export type ObjectFormat = 'sha1' | 'sha256';

export interface Person {
  name: string;
  email: string;
  date: Date;
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

/** A tag as the reference store knows it: `id` is a commit for a lightweight tag and a tag object for an annotated one. */
export interface TagRef {
  name: string;
  id: string;
}

export interface Tag extends TagRef {
  /** Null when the tag names a tree or a blob. */
  commit_id: string | null;
  /** What an annotated tag says, without the line ends at its end; null for a lightweight tag. */
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
  | { op: 'mode'; path: string; mode: '100644' | '100755' };

/** One move of one ref. `old: null`: must not exist before; `new: null`: does not exist afterwards. */
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

/** What changed inside one file. */
export interface Patch {
  /** The hunks without a header; of a binary file a sentence, and nothing where nothing is kept. */
  hunks: string;
  /** `too_large` for a patch above its limit, `left_out` for one behind the limit of all. */
  state: 'whole' | 'binary' | 'too_large' | 'left_out';
}

/** A tag object to be written. */
export interface NewTag {
  name: string;
  commit_id: string;
  message: string;
  tagger: Person;
}

/** What a push asks for, before anything moves. */
export interface Push {
  updates: RefUpdate[];
  /** What the client gave with `git push -o`. */
  options: string[];
  /** Environment in which git sees the objects of the push, which are not yet in the repository. */
  quarantine: Environment;
}
