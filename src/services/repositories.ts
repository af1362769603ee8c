/**
 * The owners of repositories, declared once for each kind (docs/decisions/0078-what-owns-a-repository-is-a-kind.md). What git over HTTP and SSH need besides is in
 * the `GitKind` of `areas/code/repository/definition.ts`.
 */
import type { Database } from '../db/index.ts';
import type { RefUpdate, Repository, RepositoryFolder } from '../git/index.ts';

/** The owner of a repository, as every kind has it; a kind may know more of its own. */
export interface Owner {
  /** Of its row in the table of the kind. */
  id: number;
  storage: string;
}

/** References of a repository that have moved. */
export interface Move<O extends Owner = Owner> {
  owner: O;
  /** Null for the operator, and for a deleted user. */
  user_id: number | null;
  /** The row of the journal: moves of a later one happened later. */
  update_id: number;
  /** Empty when only HEAD has followed another default branch. */
  moved: readonly RefUpdate[];
  /** What was announced to change together with the references. */
  changes: unknown;
  /** The options that the client sent, encrypted, since they can have secrets; a crash forgets them. */
  push_options?: Buffer;
}

/** Writes the effects of a move in the transaction that deletes its row from the journal. */
export type WriteEffects = (tx: Database) => Promise<void>;

/** The branches and tags of a repository as the database knows them. */
export interface RecordedRefs {
  refs: ReadonlyMap<string, string>;
  /** Whether a ref that is not among them was not pushed; older repositories may have some. */
  isComplete: boolean;
}

/** A kind of owners. */
export interface RepositoryKind<O extends Owner = Owner> {
  /** In texts, in backups, and among repositories to be deleted. */
  name: 'project' | 'snippet' | 'wiki';
  /** The table with a row for each owner, with `id` and `storage`. */
  table: 'projects' | 'snippets' | 'wikis';
  /** The column that names an owner in the journal of moves. */
  column: 'project_id' | 'snippet_id' | 'wiki_id';
  folder: RepositoryFolder;
  /** Selects of every owner its `id`, the `full_path` of its repository without `.git`, `storage`, `default_branch`, and whether it is known to be empty as `empty_repo`. */
  rows: string;
  /** What a row becomes whose repository is lost and that gets an empty one, as statements for a schema of any version; left out, the row is deleted. */
  emptied?(id: number): string[];
  /** Whether nothing can do without the default branch, once there is one. */
  needs_branch?: true;
  /** The owner with an id. */
  find(db: Database, id: number): Promise<O | undefined>;
  objectFormat(db: Database, id: number): Promise<'sha1' | 'sha256'>;
  recordedRefs(db: Database, id: number): Promise<RecordedRefs>;
  /**
   * Examines the moved refs with git, before the transaction.
   * @returns writes what follows
   */
  follow(services: RepositoryServices, move: Move<O>): Promise<WriteEffects>;
  /** Stores how large a repository is, after maintenance. */
  measure(services: RepositoryServices, owner: O): Promise<void>;
  /**
   * What is wrong between the row and the repository besides the refs that both have.
   * @returns sentences without the path
   */
  problems?(db: Database, owner: O, repository: Repository): Promise<string[]>;
}

/** What the announcement of a move of a project says besides its references. */
export interface ProjectMoveDetails {
  /** Whether it starts no pipelines. */
  without_pipelines: boolean;
}

/** A push to a project, or a change of its default branch. */
export type ProjectMove = Move<Owner & { default_branch: string }>;

/** A push to a project that has happened, and who made it. */
export interface PushAnswered {
  project_id: number;
  user_id: number;
  moved: readonly RefUpdate[];
  /** The options that the client sent. */
  push_options: readonly string[];
}

/** The effects of a push to a project. */
export interface PushFollower {
  /**
   * Examines the moved refs with git, before the transaction.
   * @returns writes what follows; the default branch may have become another, because the first branches decide on it
   */
  follow(
    services: RepositoryServices,
    move: ProjectMove,
  ): Promise<(tx: Database, default_branch: string) => Promise<void>>;
  /** Lines that git shows to the user who pushed. */
  answer?(services: RepositoryServices, push: PushAnswered): Promise<string[]>;
}

/** All kinds, and the effects of pushes: `areas/index.ts` provides both. */
export interface Repositories {
  kinds: readonly RepositoryKind[];
  followers: readonly PushFollower[];
}

/** The services that kinds and followers use. */
export interface RepositoryServices {
  db: Database;
  /** The external address without a trailing slash, e.g. `https://forge.example`. */
  url: string;
  /** Git storages by name: absolute folders. */
  storages: Readonly<Record<string, string>>;
  repositories: Repositories;
}
