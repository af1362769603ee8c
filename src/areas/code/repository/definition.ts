/** Types for moving references, and the interface between git over HTTP and SSH and kinds of owners (docs/decisions/0078-what-owns-a-repository-is-a-kind.md). */
import type { MaybeCaller } from '../../../access/index.ts';
import type { Push, Service } from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';
import type { Owner, PushAnswered, RepositoryKind } from '../../../services/index.ts';
import type { Merge } from './moving/merge_actions.ts';

/** The repository whose references move, and the user who moves them; null for the operator. */
export interface Mover<O extends Owner = Owner> {
  kind: RepositoryKind<O>;
  owner: O;
  user_id: number | null;
  /** Further changes to write if the references move; the kind writes them. */
  changes?: object | undefined;
  /** The options of the push that moves them, encrypted. */
  push_options?: Buffer;
  /** Set if the move merges a merge request, which is locked until the move is settled. */
  merge?: Merge;
}

/** A request of a git client. */
export interface GitRequest {
  caller: MaybeCaller;
  /** Without `.git`. */
  path: string;
  service: Service;
}

/** A repository that a caller may use. */
export interface GitAccess {
  kind: GitKind;
  owner: Owner;
  caller: MaybeCaller;
  /**
   * The reasons for refusing a push, empty if it is accepted. Uses the state of the owner when the push has arrived, which may take hours.
   * @param push by the caller, who is signed in
   */
  refusals(push: Push): Promise<string[]>;
}

/** A kind of owner whose repositories can be cloned and pushed to. */
export interface GitKind<O extends Owner = Owner> extends RepositoryKind<O> {
  /**
   * @returns undefined if the path does not belong to this kind
   * @throws ApiError with the status and text documented for the kind; MovedGit if the repository has another path now
   */
  grant(services: Services, request: GitRequest): Promise<GitAccess | undefined>;
  /** Lines that git shows to the user who pushed. */
  answer?(services: Services, owner: O, push: Omit<PushAnswered, 'project_id'>): Promise<string[]>;
}
