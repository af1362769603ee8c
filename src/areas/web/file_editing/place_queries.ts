/** Where a change of files may go: to the branch that is shown, to a new one, or to a fork of the visitor. */
import type { Static } from 'typebox';
import { notFound } from '../../../http/index.ts';
import type { PageCall } from '../../../pages/index.ts';
import { Branch } from '../../code/repository/index.ts';
import { ProjectWithAccessForm } from '../../spaces/projects/index.ts';
import { type RefPath, refPathOf } from '../repository/ref_queries.ts';
import { freeBranch } from './rules.ts';

/** The first branch of an empty repository has no commit yet. */
export type WrittenPlace = Omit<RefPath, 'commit'> & { commit: RefPath['commit'] | undefined };

export interface Writing {
  place: WrittenPlace;
  /** Whether the ref is a branch, and thus can be written to. */
  is_branch: boolean;
  /** The project that the change goes to; undefined if there is none yet, since the visitor has no fork. */
  into: { id: number; path: string; is_fork: boolean } | undefined;
  /** Whether the fork of the visitor is not copied yet, and nothing can be changed in it. */
  is_copying: boolean;
  /** The branch that is offered: the one that is shown, if the visitor may push to it, or a new one. */
  offered_branch: string;
}

/** @throws ApiError 404 if the address names no ref, and is not the first branch of an empty repository */
async function placeOf(call: PageCall, { default_branch, empty_repo }: Static<typeof ProjectWithAccessForm>) {
  const place = await call.perhaps(refPathOf(call));
  if (place) return place;
  const [ref = '', ...rest] = (call.params.ref_path ?? '').split('/');
  if (!empty_repo || ref !== (default_branch ?? 'main')) throw notFound('Page');
  return { id: call.params.id!, ref, path: rest.join('/'), commit: undefined };
}

/** The fork of a project that the visitor owns. */
async function ownFork({ list, perhaps }: PageCall) {
  const forks = await perhaps(list(ProjectWithAccessForm, 'listProjectForks', { owned: true, per_page: 1 }));
  return forks?.items[0];
}

/** @throws ApiError 404 if there is nothing at the address */
export async function writingAt(call: PageCall): Promise<Writing> {
  const { one, list, may, perhaps } = call;
  const { username } = call.caller!;
  const project = await one(ProjectWithAccessForm, 'getProject');
  const place = await placeOf(call, project);
  const [branch, isWriter] = await Promise.all([
    place.commit ? perhaps(one(Branch, 'getBranch', { branch: place.ref })) : undefined,
    may('createCommit'),
  ]);
  const fork = isWriter ? undefined : await ownFork(call);
  const is_copying = fork !== undefined && !['none', 'finished'].includes(fork.import_status ?? 'finished');
  const into = isWriter ? project : is_copying ? undefined : fork;
  const isOpen = isWriter && (branch?.can_push || !place.commit);
  const search = `^${username}-patch-`;
  const own = isOpen || !into ? undefined : await list(Branch, 'listBranches', { id: into.id, search, per_page: 100 });
  return {
    place,
    is_branch: branch !== undefined || !place.commit,
    into: into && { id: into.id, path: into.path_with_namespace, is_fork: !isWriter },
    is_copying,
    offered_branch: isOpen ? place.ref : freeBranch(username, own?.items.map(({ name }) => name) ?? []),
  };
}
