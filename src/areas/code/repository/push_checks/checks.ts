/** The checks of a push, and of every endpoint that moves a branch or a tag (docs/reference/repository.md). */
import { levels, type Project } from '../../../../access/index.ts';
import {
  type Environment,
  GitError,
  isAncestor,
  oddFileMode,
  type RefUpdate,
  type Repository,
  refsContaining,
  repositoryOf,
} from '../../../../git/index.ts';
import { type ApiError, badRequest, type Services } from '../../../../http/index.ts';
import { freezeStateOf } from '../../../deployments/freeze_periods/index.ts';
import { exceededStorage } from '../../../instance/plan_limits/index.ts';
import { lockedPaths } from '../../lfs/push_checks.ts';
import { protectionFor } from '../../protected_branches/queries.ts';
import type { BranchProtection } from '../../protected_branches/rules.ts';
import { tagProtectionFor } from '../../protected_tags/queries.ts';
import { pushRuleRefusals } from '../../push_rules/checks.ts';
import { reachedNow } from '../../security_policies/queries.ts';
import { policyRefusal } from '../../security_policies/rules.ts';
import { branchRefusals, oddModeRefusal, readOnlyRefusal, tagRefusals } from '../rules.ts';
import { areCollaborations, mayCollaborate } from './collaboration_queries.ts';
import { fullText } from './refusal_rules.ts';

/** A request to move references. */
export interface Push {
  /** With the caller's level. */
  project: Project;
  caller: { id: number; admin: boolean };
  /** Whether it merges a merge request; this requires only the right to merge into a protected branch. */
  merges?: boolean;
  /** Set for a push by a git client: the environment in which git sees the pushed objects. */
  quarantine?: Environment;
}

type Protections = (branch: string) => BranchProtection;

/** An object that is missing or not a commit is not a fast-forward. */
async function followsOn(
  repository: Repository,
  { old, new: target }: RefUpdate,
  env: Environment | undefined,
): Promise<boolean> {
  if (old === null || target === null) return true;
  try {
    return await isAncestor(repository, old, target, env);
  } catch (error) {
    if (error instanceof GitError) return false;
    throw error;
  }
}

/** Whether a commit is in a protected branch already. */
async function isInProtected(repository: Repository, commit: string, protection: Protections): Promise<boolean> {
  const refs = await refsContaining(repository, commit, ['heads']);
  return refs.some((ref) => protection(ref.slice('refs/heads/'.length)).is_protected);
}

async function creationRefusal(
  repository: Repository,
  { quarantine }: Push,
  protection: Protections,
  name: string,
  commit: string,
) {
  const { may_push, may_merge } = protection(name);
  if (may_push) return [];
  if (!may_merge) return ['You are not allowed to create protected branches on this project.'];
  if (quarantine) return ['You can only create protected branches using the web interface and API.'];
  return (await isInProtected(repository, commit, protection))
    ? []
    : ['You can only use an existing protected branch ref as the basis of a new protected branch.'];
}

function deletionRefusal({ project, quarantine }: Push): string[] {
  if (project.access_level < levels.maintainer)
    return [
      'You are not allowed to delete protected branches from this project. Only a project maintainer or owner can delete a protected branch.',
    ];
  return quarantine ? ['You can only delete protected branches using the web interface.'] : [];
}

async function protectionRefusals(
  repository: Repository,
  push: Push,
  protection: Protections,
  update: RefUpdate,
): Promise<string[]> {
  const name = update.ref.slice('refs/heads/'.length);
  const { is_protected, allows_force_push, may_push, may_merge } = protection(name);
  if (!is_protected) return [];
  if (update.new === null) return deletionRefusal(push);
  if (!allows_force_push && !(await followsOn(repository, update, push.quarantine)))
    return ['You are not allowed to force push code to a protected branch on this project.'];
  if (update.old === null && !push.project.empty_repo)
    return creationRefusal(repository, push, protection, name, update.new);
  return may_push || (push.merges && may_merge)
    ? []
    : ['You are not allowed to push code to protected branches on this project.'];
}

/** The refusal of changes to protected branches during a freeze period, if the project is configured to refuse them. */
async function freezeRefusals({ db }: Pick<Services, 'db'>, project: Project): Promise<string[]> {
  if (!project.freeze_blocks_pushes) return [];
  const { frozen, changes_at } = await freezeStateOf(db, project.id);
  if (!frozen) return [];
  const end = changes_at ? `until ${changes_at.toISOString()}` : 'without an end';
  return [`This project is frozen ${end}. You cannot change its protected branches during a freeze.`];
}

/** The refusals of policies that let protected branches change by merge requests only. */
async function policyRefusals(
  services: Pick<Services, 'db'>,
  repository: Repository,
  push: Push,
  protection: Protections,
  updates: readonly RefUpdate[],
): Promise<string[]> {
  const { project, merges, quarantine } = push;
  const branches = updates.filter(({ ref }) => ref.startsWith('refs/heads/'));
  const judged = branches.flatMap(({ ref, ...update }) => {
    const name = ref.slice('refs/heads/'.length);
    return protection(name).is_protected ? { name, ...update } : [];
  });
  if (merges || project.empty_repo || judged.length === 0) return [];
  const reached = await reachedNow(services.db, project.id);
  if (reached === null) return [];
  const refusals: string[] = [];
  for (const { name, old, new: commit } of judged) {
    // What is in a protected branch already brings nothing new.
    const isKnown =
      old === null && commit !== null && !quarantine && (await isInProtected(repository, commit, protection));
    if (!isKnown) refusals.push(...policyRefusal(reached, name, commit === null));
  }
  return refusals;
}

/**
 * The reasons for refusing reference updates, each once, or the violations of the push rule; empty if they are accepted.
 * @param updates their objects are in the repository, or in the quarantine of the push
 */
export async function pushRefusals(
  services: Pick<Services, 'db' | 'storages' | 'url'>,
  push: Push,
  updates: readonly RefUpdate[],
): Promise<string[]> {
  const { project, caller } = push;
  if (project.read_only) return [readOnlyRefusal(project)];
  if (project.access_level < levels.developer && !(await areCollaborations(services.db, project, caller, updates)))
    return ['You are not allowed to push code to this project.'];
  const repository = repositoryOf(services, project);
  const [exceeded, protection, tagProtection, frozen] = await Promise.all([
    updates.some((update) => update.new !== null) ? exceededStorage(services.db, project.id) : undefined,
    protectionFor(services.db, project, caller),
    updates.some(({ ref }) => ref.startsWith('refs/tags/')) ? tagProtectionFor(services.db, project) : undefined,
    freezeRefusals(services, project),
  ]);
  if (exceeded !== undefined) return [fullText(exceeded)];
  const refusals: string[] = [];
  for (const update of updates) {
    if (update.ref.startsWith('refs/tags/')) {
      const name = update.ref.slice('refs/tags/'.length);
      const isPush = push.quarantine !== undefined;
      refusals.push(...tagRefusals(project, update, { protection: tagProtection!(name), isPush }));
    }
    if (!update.ref.startsWith('refs/heads/')) continue;
    if (protection(update.ref.slice('refs/heads/'.length)).is_protected) refusals.push(...frozen);
    const own = branchRefusals(project, update);
    refusals.push(...(own.length > 0 ? own : await protectionRefusals(repository, push, protection, update)));
  }
  if (refusals.length === 0) refusals.push(...(await policyRefusals(services, repository, push, protection, updates)));
  if (refusals.length === 0)
    refusals.push(...(await lockedPaths(services, push, repository, { updates, quarantine: push.quarantine })));
  if (refusals.length > 0) return [...new Set(refusals)];
  // Messages of notes are written by git.
  const judged = updates.filter(({ ref }) => !ref.startsWith('refs/notes/'));
  return pushRuleRefusals(services, push, repository, judged);
}

/** @throws ApiError 400 with the first reason for refusing a reference update */
export async function refusePush(
  services: Pick<Services, 'db' | 'storages' | 'url'>,
  push: Push,
  update: RefUpdate,
): Promise<void> {
  const [refusal] = await pushRefusals(services, push, [update]);
  if (refusal !== undefined) throw badRequest(refusal);
}

/** The refusal of a commit to a branch. */
export const branchRefusal = 'You are not allowed to push into this branch';

/** Whether the caller may commit to a branch, existing or not. */
export async function mayCommitTo(
  services: Pick<Services, 'db'>,
  { project, caller }: Push,
  branch: string,
): Promise<boolean> {
  const { may_push, is_protected } = (await protectionFor(services.db, project, caller))(branch);
  return may_push || (!is_protected && (await mayCollaborate(services.db, project, caller, branch)));
}

/** @param ref the full name of a branch that moved during the commit */
export const branchMoved = (ref: string): ApiError =>
  badRequest(`Could not update ${ref}. Please refresh and try again.`);

/** The refusal of a push with a tree entry whose file mode is invalid in git. */
export async function oddTreeRefusals(repository: Repository, quarantine: Environment): Promise<string[]> {
  const odd = await oddFileMode(repository, quarantine);
  return odd ? [oddModeRefusal(odd)] : [];
}
