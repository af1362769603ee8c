/** What moves references, and what git over HTTP and SSH asks the kinds of owners (docs/decisions/0078-what-owns-a-repository-is-a-kind.md). */
import type { MaybeCaller } from '../../../access/index.ts';
import type { Push, Service } from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';
import type { Owner, PushAnswered, RepositoryKind } from '../../../services/index.ts';
import type { Merge } from './moving/merge_actions.ts';

/** Whose references move: a repository, and the user who moves them, or null for the operator. */
export interface Mover<O extends Owner = Owner> {
  kind: RepositoryKind<O>;
  owner: O;
  user_id: number | null;
  /** What else changes if they move, which the kind writes. */
  changes?: object | undefined;
  /** Set when the move merges a merge request, which is locked until the move is settled. */
  merge?: Merge;
}

/** What a git client asks for. */
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
   * Why a push may not happen, empty when it may. It looks at the owner as it is when the push has arrived, which may take hours.
   * @param push of the caller, who is signed in
   */
  refusals(push: Push): Promise<string[]>;
}

/** A kind of owners whose repositories are cloned and pushed to. */
export interface GitKind<O extends Owner = Owner> extends RepositoryKind<O> {
  /**
   * @returns undefined when the path is not one of the kind
   * @throws ApiError with the status and text that the reference of the kind lists; MovedGit when the repository has another path now
   */
  grant(services: Services, request: GitRequest): Promise<GitAccess | undefined>;
  /** Lines that git shows to those who pushed. */
  answer?(services: Services, owner: O, push: Omit<PushAnswered, 'project_id'>): Promise<string[]>;
}
